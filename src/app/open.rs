//! Opens what the command line names: home, recipe with choices, engine.

use std::path::{Path, PathBuf};

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::missing_requirements::{self, stand_in_path};
use crate::app::options::{GlobalOptions, PlanFiles, PlanRequest, RecipeRequest};
use crate::app::{gpu_support, lock_file, terminal};
use retrial_engine::docker::DockerEngine;
use retrial_host as host;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_plan::build::RecipeOrigin;
use retrial_readings::sanitize;
use retrial_recipe::expression::render_template;
use retrial_recipe::model::{Image, MountRequest};
use retrial_recipe::{Diagnostics, ParamSetting, ResolvedRecipe, resolve_recipe};
use retrial_run::record_links;
use retrial_store::RecordDirectory;
use retrial_store::import::ImportOrigin;
use retrial_store::{Home, RunDirectory, StoreError};

/// A run or a batch, by the directory that it is recorded in.
pub enum RunOrBatch {
    Run(RunDirectory),
    Batch(RecordDirectory),
}

/// Finds a run or a batch by its id, a part of it, a path, or `last` (a run).
pub fn find_run_or_batch(home: &Home, name: &str) -> Result<RunOrBatch, Failure> {
    let path = Path::new(name);
    let is_batch = name.contains('/') && path.join("batch.json").exists();
    if is_batch
        || home
            .batches_directory()
            .join(name)
            .join("batch.json")
            .exists()
    {
        return Ok(RunOrBatch::Batch(home.find_batch(name)?));
    }
    match home.find_run(name) {
        Err(StoreError::NoSuch { matches: 0, .. }) if !name.is_empty() && name != "last" => {
            match home.find_batch(name) {
                Ok(batch) => Ok(RunOrBatch::Batch(batch)),
                Err(error @ StoreError::NoSuch { matches: 2.., .. }) => Err(error.into()),
                // Most names refer to runs.
                Err(_) => Ok(RunOrBatch::Run(home.find_run(name)?)),
            }
        }
        run => Ok(RunOrBatch::Run(run?)),
    }
}

/// Returns the run or batch that a path or a name refers to; none if it is a folder that is neither.
pub fn find_results(home: &Home, name: &str) -> Result<Option<RunOrBatch>, Failure> {
    let path = Path::new(name);
    let is_run = path.join("plan.json").exists();
    if is_run || path.join("batch.json").exists() {
        let canonical_path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("failed to open {name}: {error}")))?;
        return Ok(Some(if is_run {
            RunOrBatch::Run(RunDirectory::from_path(canonical_path))
        } else {
            RunOrBatch::Batch(RecordDirectory::from_path(canonical_path))
        }));
    }
    if path.is_file() {
        return Err(Failure::usage(format!(
            "{name} is a file: name the directory that it is in"
        )));
    }
    if path.is_dir() {
        return Ok(None);
    }
    find_run_or_batch(home, name).map(Some)
}

/// Reads GPUs, drivers and kernel of this machine, or of the one described below `--root`.
pub fn probe_host(global: &GlobalOptions) -> HostView {
    host::probe_host(&global.root, global.home.root())
}

/// Refuses imported runs: their plans were not approved on this machine.
pub fn refuse_imported(run: &RunDirectory) -> Result<(), Failure> {
    ImportOrigin::read(run).map_or(Ok(()), |mark| {
        Err(Failure::usage(format!(
            "{} was imported from {}: imported runs cannot be resumed",
            run.id(),
            sanitize(&mark.host)
        )))
    })
}

/// Connects to the engine that `--engine`, the environment or Docker's context selects.
pub async fn connect_engine(global: &GlobalOptions) -> Result<DockerEngine, Failure> {
    Ok(DockerEngine::connect(global.engine.as_deref()).await?)
}

/// A recipe before and after its settings are applied.
pub struct OpenedRecipe {
    /// The recipe's text and where it was found.
    pub entry: catalog::FoundRecipe,
    /// The recipe merged with its templates, variants and `--set`.
    pub resolved: ResolvedRecipe,
}

/// Finds and resolves a recipe, and prints its problems.
pub fn open_recipe(request: &RecipeRequest) -> Result<OpenedRecipe, Failure> {
    let entry = catalog::open_recipe(&request.recipe)?;
    resolve_entry(entry, request).map_err(Failure::report_problems)
}

/// Resolves a recipe with the settings of the command line.
pub fn resolve_entry(
    entry: catalog::FoundRecipe,
    request: &RecipeRequest,
) -> Result<OpenedRecipe, Diagnostics> {
    let resolved = resolve_recipe(&entry.name, &entry.source, &entry, &request.settings)?;
    Ok(OpenedRecipe { entry, resolved })
}

/// As [`open_recipe`], without running it: params that must be set and are not get a stand-in. Returns
/// their names, too.
pub fn open_with_stand_ins(
    request: &RecipeRequest,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    let entry = catalog::open_recipe(&request.recipe)?;
    resolve_with_stand_ins(entry, request.settings.clone())
}

/// Resolves a recipe with a stand-in for each param that must be set and is not, and names these.
pub fn resolve_with_stand_ins(
    entry: catalog::FoundRecipe,
    mut settings: Vec<ParamSetting>,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    let problems = match resolve_recipe(&entry.name, &entry.source, &entry, &settings) {
        Ok(resolved) => return Ok((OpenedRecipe { entry, resolved }, Vec::new())),
        Err(problems) => problems,
    };
    let unset_problems = problems.iter().filter(|problem| problem.code == "unset");
    let unset: Vec<String> = unset_problems
        .map(|problem| problem.span.slice().to_owned())
        .collect();
    let stand_ins = unset.iter().map(|name| (name.clone(), stand_in_path(name)));
    settings.extend(stand_ins.map(|(name, value)| ParamSetting::new(name, value)));
    let resolve_result = resolve_recipe(&entry.name, &entry.source, &entry, &settings);
    let resolved = resolve_result.map_err(Failure::report_problems)?;
    Ok((OpenedRecipe { entry, resolved }, unset))
}

/// Replaces stand-ins in a text by the names of their params.
pub fn name_stand_ins(text: String, unset: &[String]) -> String {
    unset.iter().fold(text, |text, name| {
        text.replace(&stand_in_path(name), &format!("${{{{ params.{name} }}}}"))
    })
}

/// The recipe's directory on this machine. A built-in recipe with companion files is extracted below
/// the home, once for each resolved recipe.
pub fn recipe_directory(
    global: &GlobalOptions,
    opened: &OpenedRecipe,
    extract: bool,
) -> Result<Option<String>, Failure> {
    if let Some(directory) = opened.entry.directory() {
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        return Ok(Some(directory.display().to_string()));
    }
    let recipe = &opened.resolved.recipe;
    let scope = recipe.expression_scope();
    let is_relative = |mount: &MountRequest| {
        render_template(&mount.source, &scope).is_ok_and(|source| !source.starts_with('/'))
    };
    let needed = !recipe.files.is_empty()
        || matches!(recipe.image, Image::Build(_))
        || recipe.container.mounts.iter().any(is_relative);
    if !needed {
        return Ok(None);
    }
    let short = opened.resolved.hash.get(..16).unwrap_or("recipe");
    let path: PathBuf = global.home.root().join("recipes").join(short);
    if extract && !path.exists() {
        global.home.create()?;
        opened.entry.extract_to(&path)?;
    }
    Ok(Some(path.display().to_string()))
}

/// Probes the host, and asks its engine if the recipe's plan depends on that.
pub fn probe_host_and_engine(global: &GlobalOptions, opened: &OpenedRecipe) -> HostView {
    let recipe = &opened.resolved.recipe;
    let mut host = probe_host(global);
    gpu_support::query_if_needed(global, recipe, &mut host);
    host
}

/// The plan of a recipe on a host.
pub fn plan_recipe(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    opened: &OpenedRecipe,
    extract: bool,
    host: &HostView,
) -> Result<Plan, Failure> {
    let origin = RecipeOrigin {
        directory: recipe_directory(global, opened, extract)?,
        hash: opened.resolved.hash.clone(),
        built_in: opened.entry.is_builtin(),
    };
    let mut recipe = opened.resolved.recipe.clone();
    let lock = lock_file::apply_lock(global, arguments, &opened.entry, &mut recipe)?;
    let mut plan = retrial_plan::build_plan(&recipe, &origin, &arguments.options, host)?;
    record_links(&mut plan);
    // `FollowedLock::differs` says whether a lock is of another recipe.
    let PlanFiles { lock: _, rules } = &arguments.files;
    plan.add_round_rules(&catalog::load_rounds(rules)?);
    if !rules.is_empty() {
        record_rule_changes(&mut plan);
    }
    plan.lock = lock;
    plan.cache = global.cache.display().to_string();
    missing_requirements::add_missing_files(&mut plan, &opened.resolved.recipe);
    Ok(plan)
}

/// Adds to a plan's changes that `--rules` replaced the built-in rules of its round.
fn record_rule_changes(plan: &mut Plan) {
    let mut builtin = plan.clone();
    builtin.add_round_rules(catalog::built_in_rounds());
    let given = plan.measurements.iter().zip(&builtin.measurements);
    let mut replaced =
        given.filter(|(given, builtin)| builtin.rules.is_some() && given.rules != builtin.rules);
    let file = replaced.find_map(|(given, _)| Some(given.rules.as_ref()?.file.clone()));
    let change = file.map(|file| format!("--rules {file} in place of the built-in rules"));
    plan.changes.extend(change);
}

/// Prints the warnings of a recipe and of its lock.
pub fn print_recipe_warnings(global: &GlobalOptions, opened: &OpenedRecipe, plan: &Plan) {
    if global.quiet {
        return;
    }
    let warnings = opened.resolved.warnings.clone();
    let warnings = lock_file::drop_pinned_warnings(warnings, plan.lock.as_ref());
    terminal::print_problems(&warnings);
    if let Some(lock) = &plan.lock {
        for difference in &lock.differs {
            let recipe = &opened.entry.name;
            terminal::advise(
                format!("warning: {}: {difference}", lock.path),
                format!("lock it again: retrial lock {recipe}"),
            );
        }
    }
}
