//! A search along an axis of a recipe, from the words of a command line.

use clap::Args;
use clap::builder::ArgPredicate;

use super::file::{self, OpenedBatch};
use super::tags::search_images;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanRequest};
use retrial_batch::search::{
    Criterion, MAX_SEARCH_VALUES, MIN_SEARCH_VALUES, SearchPlan, TagPattern,
};
use retrial_batch::{AxisDomain, CliOverrides, PullAhead, RunOrder};
use retrial_document::measures::parse_fraction;
use retrial_plan::PlanOptions;
use retrial_recipe::Source;
use retrial_recipe::model::{Mode, Trials};

/// Trials of each value that are allowed by default, and at least so many in all.
const DEFAULT_TRIALS_PER_VALUE: usize = 4;
const MIN_DEFAULT_TRIALS: usize = 64;

/// The axis, its values, and the criterion of a search.
#[derive(Debug, Clone, Args)]
pub struct SearchRequest {
    /// Search along this axis of the recipe's variants, this param, or `image`
    #[arg(
        long,
        value_name = "AXIS",
        required = false,
        required_unless_present = "tags",
        default_value_if("tags", ArgPredicate::IsPresent, "image")
    )]
    pub along: String,
    /// Search these values, in this order (default: all of the recipe, in its order)
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',')]
    pub values: Vec<String>,
    /// Search the images whose tags match in their registry, by release and date: 'rocm/pytorch:*nightly*'
    #[arg(long, value_name = "NAME:PATTERN", conflicts_with = "values")]
    pub tags: Option<TagPattern>,
    /// Search for the change in this figure (default: the one published for the scenario)
    #[arg(long, value_name = "NAME")]
    pub figure: Option<String>,
    /// How the last value differs from the first: slower, slower:5%, faster, faster:5%, accuracy or
    /// validity
    #[arg(long, value_name = "CRITERION", default_value = "slower")]
    pub criterion: Criterion,
    /// The confidence of the result
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = parse_confidence)]
    pub confidence: f64,
    /// Use at most COUNT trials (default: 4 of each value, and at least 64)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(8..=10_000))]
    pub max_trials: Option<u32>,
    /// Remove the images that the search pulled, at its end
    #[arg(long)]
    pub remove_images: bool,
}

/// Plans a search: a batch of a cell for each value.
pub fn open_search(
    global: &GlobalOptions,
    plan: &PlanRequest,
    search: &SearchRequest,
) -> Result<OpenedBatch, Failure> {
    let recipe = &plan.recipe.recipe;
    if file::is_batch_file(recipe) {
        return Err(Failure::usage(format!("{recipe} is a batch, and a search needs a recipe"))
            .with_help("name its recipe, and the axis with --along"));
    }
    if plan.options.trials.is_some() {
        return Err(Failure::usage("--trials: each run of a search is one trial")
            .with_help("limit the trials of all values: --max-trials COUNT"));
    }
    let domain = file::recipe_axes(recipe)?;
    check_figure(&domain, search)?;
    let axis = &search.along;
    // The images of `--image` are the values of a search along them.
    let settings = plan.recipe.settings.to_vec().into_iter();
    let (along, set): (Vec<_>, Vec<_>) = settings.partition(|setting| setting.name == *axis);
    let along = along.into_iter().map(|setting| setting.value).collect();
    let values = match &search.tags {
        Some(pattern) => search_images(pattern)?,
        None => searched_values(&domain, search, along)?,
    };
    let overrides = CliOverrides {
        vary: vec![format!("{axis}={}", values.join(","))],
        order: Some(RunOrder::Grouped),
        // Few of the images are needed, and which is not known before.
        pull_ahead: Some(PullAhead::Never),
        remove_images: search.remove_images,
        options: PlanOptions {
            modes: modes_for_criterion(&plan.options, search.criterion),
            trials: Some(Trials::default()),
            ..plan.options.clone()
        },
        set,
        ..CliOverrides::default()
    };
    let mut opened = file::open_batch(global, recipe, &overrides)?;
    let count = opened.plan.cells.len();
    if count < MIN_SEARCH_VALUES {
        return Err(Failure::usage(format!(
            "{axis} has {count} values that can be measured, and a search needs {MIN_SEARCH_VALUES}"
        ))
        .with_help(format!("compare two: retrial batch {recipe} --vary {axis}=…")));
    }
    let title = retrial_batch::search_title(&opened.batch.recipes, axis);
    opened.batch.title.clone_from(&title);
    opened.plan.title = title;
    opened.batch.execution.confidence = search.confidence;
    opened.plan.execution.confidence = search.confidence;
    let default_max_trials =
        u32::try_from((DEFAULT_TRIALS_PER_VALUE * count).max(MIN_DEFAULT_TRIALS))
            .unwrap_or(u32::MAX);
    opened.plan.search = Some(SearchPlan {
        axis: axis.clone(),
        figure: search.figure.clone(),
        criterion: search.criterion,
        most: search.max_trials.unwrap_or(default_max_trials),
    });
    Ok(opened)
}

/// The values in the order of the search.
fn searched_values(
    domain: &AxisDomain,
    search: &SearchRequest,
    along: Vec<String>,
) -> Result<Vec<String>, Failure> {
    let axis = &search.along;
    let span = Source::new("--along", axis.as_str()).span(0..axis.len());
    let listing_result = domain.list_values(axis, &span);
    let listed = listing_result.map_err(|problem| Failure::of_problems((*problem).into()))?;
    let given = if search.values.is_empty() { along } else { search.values.clone() };
    let values = if given.is_empty() { listed } else { given };
    let count = values.len();
    if count == 0 {
        return Err(Failure::usage(format!("the recipe lists no values of {axis}"))
            .with_help("name them in their order: --values A,B,C"));
    }
    if !(MIN_SEARCH_VALUES..=MAX_SEARCH_VALUES).contains(&count) {
        return Err(Failure::usage(format!(
            "{axis} has {count} values, and a search needs {MIN_SEARCH_VALUES} to {MAX_SEARCH_VALUES}"
        ))
        .with_help("choose among them: --values A,B,C"));
    }
    Ok(values)
}

/// Refuses a figure that the recipe does not declare; a suite has figures of its own.
fn check_figure(domain: &AxisDomain, search: &SearchRequest) -> Result<(), Failure> {
    let declared = &domain.figures;
    match &search.figure {
        Some(figure) if !declared.is_empty() && !declared.contains(figure) => {
            let figures = declared.join(", ");
            Err(Failure::usage(format!("no scenario has a figure `{figure}`"))
                .with_help(format!("figures are: {figures}")))
        }
        Some(_) if matches!(search.criterion, Criterion::Accuracy | Criterion::Validity) => {
            Err(Failure::usage("--figure: accuracy and validity are yes-or-no criteria")
                .with_help("remove --figure, or search slower or faster"))
        }
        _ => Ok(()),
    }
}

/// Only what the criterion needs.
fn modes_for_criterion(options: &PlanOptions, criterion: Criterion) -> Vec<Mode> {
    match criterion {
        _ if !options.modes.is_empty() => options.modes.clone(),
        Criterion::Slower { .. } | Criterion::Faster { .. } => vec![Mode::Performance],
        Criterion::Accuracy => vec![Mode::Accuracy],
        Criterion::Validity => Vec::new(),
    }
}

/// An argument of `--confidence` that is not a percentage in its range.
#[derive(Debug, thiserror::Error)]
#[error("expected a percentage between 50 and 100: 95%")]
struct InvalidConfidence;

fn parse_confidence(text: &str) -> Result<f64, InvalidConfidence> {
    let share = parse_fraction(text).filter(|share| *share > 0.5 && *share < 1.0);
    share.filter(|_| text.ends_with('%')).ok_or(InvalidConfidence)
}
