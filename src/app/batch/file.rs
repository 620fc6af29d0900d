//! A batch over recipes of the catalog: from its file, or from a command line.

use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;

use crate::app::catalog::{self, CatalogError};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_batch::{self as batch, AxisDomain, Batch, BatchPlan, CliOverrides, Spanned};
use retrial_document::ErrorText;
use retrial_recipe::{Diagnostic, Diagnostics, LoadedRecipe, ResolvedRecipe, Source};
use retrial_store::Home;

/// A batch, and the recipes that it is over.
pub struct OpenedBatch {
    /// The batch as its file states it, with absolute paths.
    pub batch: Batch,
    /// Its cells, its schedule, and how it is executed.
    pub plan: BatchPlan,
    /// Problems that do not prevent its execution.
    pub warnings: Diagnostics,
    /// Its file, as it was read.
    pub file: Option<catalog::FoundRecipe>,
    recipes: Vec<LoadedBatchRecipe>,
}

/// A recipe of a batch, read once.
struct LoadedBatchRecipe {
    name: String,
    entry: catalog::FoundRecipe,
    loaded: LoadedRecipe,
}

/// Opens a batch's file, or makes a batch of one recipe, and prints the problems.
pub fn open_batch(
    global: &GlobalOptions,
    recipe: &str,
    overrides: &CliOverrides,
) -> Result<OpenedBatch, Failure> {
    if overrides.options.smoke_test {
        let help =
            format!("try one of its cells: retrial run {recipe} --set NAME=VALUE --smoke-test");
        return Err(Failure::usage("--smoke-test: a batch has no smoke tests").with_help(help));
    }
    let home = &global.home;
    let plan_result = match find_batch_file(recipe) {
        Some(found) => {
            let source = &found.source;
            let (mut batch, mut problems) = batch::read_batch(source);
            if let Some(batch) = &mut batch {
                problems.extend(overrides.apply_to(batch));
            }
            plan_batch(batch, problems, source, home).map(|opened| {
                let file = std::path::absolute(&*source.path).ok();
                let plan = BatchPlan { file, ..opened.plan };
                OpenedBatch { plan, file: Some(found.clone()), ..opened }
            })
        }
        None => overrides.to_batch(recipe).and_then(|batch| {
            let source = Source::new("RECIPE", recipe);
            plan_batch(Some(batch), Diagnostics::default(), &source, home)
        }),
    };
    let opened = plan_result.map_err(Failure::of_problems)?;
    if !global.quiet {
        terminal::print_problems(&opened.warnings);
    }
    Ok(opened)
}

/// Returns the axes of a recipe; its problems are a failure.
pub fn recipe_axes(recipe: &str) -> Result<AxisDomain, Failure> {
    let source = Source::new("RECIPE", recipe);
    let mut recipe = Spanned { value: recipe.to_owned(), span: source.span(0..recipe.len()) };
    absolutize_path(&mut recipe);
    let read = read_recipe("recipe", &recipe).map_err(Failure::of_problems)?;
    Ok(AxisDomain::new(&read.entry.name, &recipe.value, &read.loaded))
}

pub fn is_batch_file(recipe: &str) -> bool {
    find_batch_file(recipe).is_some()
}

/// A batch's file; none if it is a recipe, or does not exist.
fn find_batch_file(recipe: &str) -> Option<catalog::FoundRecipe> {
    let opened = catalog::open_recipe(recipe).ok()?;
    batch::is_batch(&opened.source).then_some(opened)
}

/// Every problem of a batch's file, and of its cells.
pub fn check_batch_file(global: &GlobalOptions, source: &Source) -> Diagnostics {
    let (batch, problems) = batch::read_batch(source);
    let result = plan_batch(batch, problems, source, &global.home);
    let mut problems = match result {
        Ok(opened) => match opened.resolve_cells() {
            Ok(cells) => {
                let mut problems = opened.warn_of_claims(&cells);
                problems.extend(opened.warnings);
                problems
            }
            // The file need not set a param without a default.
            Err(mut problems) => {
                problems.retain(|problem| problem.code != "unset");
                problems
            }
        },
        Err(problems) => problems,
    };
    problems.sort_by_place(&source.path);
    problems
}

/// Reads the recipes and decides all of the batch.
fn plan_batch(
    batch: Option<Batch>,
    mut problems: Diagnostics,
    source: &Source,
    home: &Home,
) -> Result<OpenedBatch, Diagnostics> {
    let Some(mut batch) = batch else {
        problems.sort_by_place(&source.path);
        return Err(problems);
    };
    let mut recipes = Vec::new();
    for recipe in &mut batch.recipes {
        absolutize_path(&mut recipe.recipe);
        match read_recipe(&recipe.name, &recipe.recipe) {
            Ok(read) => recipes.push(read),
            Err(errors) => problems.extend(errors),
        }
    }
    for run in batch.external_results.iter_mut().flat_map(|(_, other)| &mut other.runs) {
        absolutize_path(run);
        if let Some(problem) = missing_run_problem(run, home) {
            problems.push(problem);
        }
    }
    let domains: Vec<AxisDomain> = recipes
        .iter()
        .zip(&batch.recipes)
        .map(|(read, recipe)| AxisDomain::new(&read.name, &recipe.recipe.value, &read.loaded))
        .collect();
    let planned = if domains.len() == batch.recipes.len() && !domains.is_empty() {
        problems.extend(batch::fill_axes(&mut batch, &domains));
        batch::plan_batch(&batch, &domains).map_err(|errors| problems.extend(errors))
    } else {
        Err(())
    };
    match planned {
        Ok(plan) if !problems.has_errors() => {
            Ok(OpenedBatch { batch, plan, warnings: problems, file: None, recipes })
        }
        _ => {
            problems.sort_by_place(&source.path);
            Err(problems)
        }
    }
}

/// Makes a path independent of the working directory.
fn absolutize_path(written: &mut Spanned<String>) {
    if catalog::is_path(&written.value)
        && let Ok(path) = std::path::absolute(&written.value)
    {
        written.value = simplify_path(&path).display().to_string();
    }
}

/// Removes `x/..` from a path, unless `x` is a link, behind which `..` is another directory.
fn simplify_path(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                short.pop();
            }
            Component::CurDir => {}
            other => short.push(other),
        }
    }
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    if real(&short) == real(path) { short } else { path.to_owned() }
}

fn read_recipe(name: &str, recipe: &Spanned<String>) -> Result<LoadedBatchRecipe, Diagnostics> {
    let entry = catalog::open_recipe(&recipe.value).map_err(|error| match error {
        CatalogError::Text(problems) => problems,
        error => {
            let ErrorText { message, help } = ErrorText::of(&error);
            let problem = Diagnostic::error("missing-recipe", message, recipe.span.clone());
            problem.with_optional_help(help.into_iter().next()).into()
        }
    })?;
    if batch::is_batch(&entry.source) {
        let message = format!("`{}` is a batch, not a recipe", recipe.value);
        let problem = Diagnostic::error("missing-recipe", message, recipe.span.clone());
        return Err(problem.with_help("name its recipes instead").into());
    }
    let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, &entry)?;
    Ok(LoadedBatchRecipe { name: name.to_owned(), entry, loaded })
}

/// Returns a problem if runs of another host do not exist.
fn missing_run_problem(run: &Spanned<String>, home: &Home) -> Option<Diagnostic> {
    if run.value.starts_with('/') {
        return (!Path::new(&run.value).exists()).then(|| {
            let message = format!("no such file or directory: `{}`", run.value);
            Diagnostic::warning("missing-run", message, run.span.clone())
                .with_help("name a run's directory, a folder of them, or a folder of results")
        });
    }
    let error = home.find_run(&run.value).err()?;
    let message = format!("no run is called `{}` here", run.value);
    Some(
        Diagnostic::warning("missing-run", message, run.span.clone())
            .with_help(format!("{error}; `retrial runs import` imports one")),
    )
}

impl OpenedBatch {
    /// Returns a warning for each claim that nothing can decide.
    pub fn warn_of_claims(&self, cells: &[ResolvedRecipe]) -> Diagnostics {
        let recipes = cells.iter().map(|cell| &cell.recipe);
        batch::warn_of_unmeasured_accuracy(&self.batch, &self.plan, recipes)
    }

    /// The recipe of each cell, as the cell chooses it.
    ///
    /// # Errors
    /// Every problem of a recipe under a cell's values, once.
    pub fn resolve_cells(&self) -> Result<Vec<ResolvedRecipe>, Diagnostics> {
        let resolutions = self.plan.cells.par_iter().filter_map(|cell| {
            let read = self.recipes.iter().find(|read| read.name == cell.recipe)?;
            Some(read.loaded.resolve(&read.entry, &cell.recipe_settings()))
        });
        let resolved: Vec<_> = resolutions.collect();
        let mut problems = Diagnostics::default();
        let mut all = Vec::with_capacity(resolved.len());
        for result in resolved {
            match result {
                Ok(resolved) => all.push(resolved),
                Err(errors) => problems.extend(errors),
            }
        }
        if problems.has_errors() { Err(problems) } else { Ok(all) }
    }
}
