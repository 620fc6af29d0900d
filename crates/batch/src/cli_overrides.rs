//! A batch from the words of a command line: `retrial batch RECIPE --vary rocm=6.4.1,7.1.1`.

use clap::Args;
use itertools::join;

use super::model::{
    Batch, BatchRecipe, Combination, OnFailure, PullAhead, RunOrder, Spanned, WrittenAxis,
    WrittenClaim,
};
use super::names::assign_short_names;
use super::read::check_duplicates;
use super::values::NamedValues;
use retrial_plan::PlanOptions;
use retrial_recipe::model::Trials;
use retrial_recipe::{Diagnostic, Diagnostics, ParamSetting, Source};

/// The cells of a batch and how to run them. These options override the batch's file.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct CliOverrides {
    /// Vary an axis of the recipe's variants, a param or `image` over these values, or over all that the recipe lists
    #[arg(long, value_name = "NAME[=VALUE,…]")]
    pub vary: Vec<String>,
    /// Skip a combination of values: rocm=7.1.1,backend=rocm
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub exclude: Vec<String>,
    /// Compare with the cells that have this value (default: the first value of each axis)
    #[arg(long, value_name = "NAME=VALUE")]
    pub baseline: Vec<String>,
    /// Judge a claim: 'rocm 7.1.1 is faster than 6.4.1'
    #[arg(long = "claim", value_name = "TEXT")]
    pub claims: Vec<String>,
    /// Run trials in this order (default: interleaved)
    #[arg(long, value_enum)]
    pub order: Option<RunOrder>,
    /// Continue or stop after a failed run (default: keep-going)
    #[arg(long, value_enum)]
    pub on_failure: Option<OnFailure>,
    /// Retry a run up to COUNT times after failures of the host or its services (default: 1)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub retries: Option<u32>,
    /// Execute COUNT runs at a time, each on its own GPUs (default: 1)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub parallel: Option<u32>,
    /// Pull images of later runs ahead (default: between)
    #[arg(long, value_enum)]
    pub pull_ahead: Option<PullAhead>,
    /// Remove each image that the batch pulled, after its last trial
    #[arg(long)]
    pub remove_images: bool,
    /// Options of `plan` and `run` that are the batch's: scenarios, modes, trials and GPUs.
    #[arg(skip)]
    pub options: PlanOptions,
    /// Settings of all cells, from `--set NAME=VALUE`.
    #[arg(skip)]
    pub set: Vec<ParamSetting>,
}

impl CliOverrides {
    /// Builds the batch of one recipe.
    ///
    /// # Errors
    /// If a word cannot be understood: every problem.
    pub fn to_batch(&self, recipe: &str) -> Result<Batch, Diagnostics> {
        let mut problems = Diagnostics::default();
        let recipes = assign_short_names(&[spanned_option("RECIPE", recipe)], &mut problems);
        let mut batch = Batch { recipes, ..Batch::default() };
        problems.extend(self.apply_to(&mut batch));
        batch.title = matrix_title(&batch.recipes, &batch.vary);
        if problems.has_errors() { Err(problems) } else { Ok(batch) }
    }

    /// Replaces what a file states by the options; returns the problems of the options.
    pub fn apply_to(&self, batch: &mut Batch) -> Diagnostics {
        let mut problems = Diagnostics::default();
        for axis in parse_axes(&self.vary, &mut problems) {
            let mut existing = batch.vary.iter_mut();
            match existing.find(|existing| existing.name.value == axis.name.value) {
                Some(existing) => *existing = axis,
                None => batch.vary.push(axis),
            }
        }
        for text in &self.exclude {
            let exclude = Combination::parse(&spanned_option("--exclude", text), &mut problems);
            batch.exclude.extend(exclude);
        }
        for ParamSetting { name, value } in &self.set {
            batch.set.retain(|(existing, _)| existing != name);
            let span = spanned_option("--set", &format!("{name}={value}")).span;
            let value = value.clone();
            batch.set.push((name.clone(), Spanned { value, span }));
        }
        let options = &self.options;
        if !options.scenarios.is_empty() {
            let scenarios = options.scenarios.iter();
            batch.scenarios =
                scenarios.map(|scenario| spanned_option("--scenario", scenario)).collect();
        }
        if !options.modes.is_empty() {
            batch.modes.clone_from(&options.modes);
        }
        if !self.baseline.is_empty() {
            let text = self.baseline.join(",");
            batch.baseline =
                Combination::parse(&spanned_option("--baseline", &text), &mut problems);
        }
        let claims = self.claims.iter().map(|text| spanned_option("--claim", text));
        batch.claims.extend(claims.map(|text| WrittenClaim { text, source: None }));
        let execution = &mut batch.execution;
        if let Some(Trials { min, max }) = options.trials {
            execution.trials = Some(max);
            if min < max {
                let span = spanned_option("--trials", &format!("{min}..{max}")).span;
                let message = "a batch has a fixed number of trials";
                let problem = Diagnostic::error("invalid-value", message, span);
                problems
                    .push(problem.with_help("every cell has the same number: write one number"));
            }
        }
        execution.order = self.order.unwrap_or(execution.order);
        execution.on_failure = self.on_failure.unwrap_or(execution.on_failure);
        execution.retries = self.retries.unwrap_or(execution.retries);
        execution.parallel = self.parallel.unwrap_or(execution.parallel);
        execution.pull_ahead = self.pull_ahead.unwrap_or(execution.pull_ahead);
        execution.remove_images |= self.remove_images;
        if !options.gpus.is_empty() {
            execution.gpus.clone_from(&options.gpus);
        }
        problems
    }
}

fn spanned_option(option: &str, text: &str) -> Spanned<String> {
    let source = Source::new(option, text);
    Spanned { value: text.to_owned(), span: source.span(0..text.len()) }
}

/// `rocm=6.4.1,7.1.1`; an axis that is typed twice has the values of both.
fn parse_axes(vary: &[String], problems: &mut Diagnostics) -> Vec<WrittenAxis> {
    let mut axes: Vec<WrittenAxis> = Vec::new();
    for text in vary {
        let all = spanned_option("--vary", text).span;
        let (name, values) = match text.split_once('=') {
            Some((name, values)) => (name, Some(values)),
            None => (text.as_str(), None),
        };
        if name.trim().is_empty() {
            let message = format!("`{text}` is not axis=value,value");
            let help = "write for example: --vary rocm=6.4.1,7.1.1";
            problems.error("bad-value", message, &all, help);
            continue;
        }
        let mut start = name.len() + 1;
        let mut parts = Vec::new();
        for value in values.into_iter().flat_map(|values| values.split(',')) {
            let span = all.sub_span(start..start + value.len());
            start += value.len() + 1;
            if value.trim().is_empty() {
                let help = "remove the comma, or write the value";
                problems.error("empty", "a value is missing", &span, help);
            } else {
                let trimmed = value.trim().to_owned();
                parts.push(Spanned { value: trimmed, span });
            }
        }
        match axes.iter_mut().find(|axis| axis.name.value == name.trim()) {
            Some(existing) => existing.values.extend(parts),
            None => axes.push(WrittenAxis {
                name: Spanned { value: name.trim().to_owned(), span: all.sub_span(0..name.len()) },
                values: parts,
                named: NamedValues::default(),
            }),
        }
    }
    for axis in &axes {
        check_duplicates(axis, problems);
    }
    axes
}

/// `bert-large-radeon along rocm`: the title of a search along an axis.
pub fn search_title(recipes: &[BatchRecipe], axis: &str) -> String {
    format!("{} along {axis}", join_recipe_names(recipes))
}

/// `bert-large-radeon over rocm and backend`
fn matrix_title(recipes: &[BatchRecipe], vary: &[WrittenAxis]) -> String {
    let axes: Vec<&str> = vary.iter().map(|axis| axis.name.value.as_str()).collect();
    let recipes = join_recipe_names(recipes);
    match axes.split_last() {
        None => recipes,
        Some((last, [])) => format!("{recipes} over {last}"),
        Some((last, others)) => format!("{recipes} over {} and {last}", others.join(", ")),
    }
}

fn join_recipe_names(recipes: &[BatchRecipe]) -> String {
    match recipes.len() {
        0..=3 => join(recipes.iter().map(|recipe| &recipe.name), ", "),
        count => format!("{count} recipes"),
    }
}
