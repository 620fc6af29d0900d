//! Built-in recipes, and filters that select them.

use std::collections::{BTreeSet, HashMap};

use clap::Args;
use itertools::join;
use serde::Serialize;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{catalog, runs};
use retrial_document::suggest_nearest;
use retrial_history::{FacetFilter, Facets, RunFilter, names_value};
use retrial_host::checks::{HostCheckKind, Requirements, unmet_requirements};
use retrial_host::model::HostView;
use retrial_recipe::model::HostRequirements;
use retrial_recipe::{ImageSummary, RecipeSummary, VariantSummary, summarize};
use retrial_rocm::{ReleaseTable, RocmRelease, release_in_name};

/// Filters of recipes. Each may be given several times, in any case; an unknown value is an error
/// that lists the known ones.
#[derive(Debug, Clone, Default, Args)]
pub struct RecipeFilter {
    /// List only recipes with this text in their name or title, results with it in their path, published figures with it in
    /// benchmark, system, submitter or source
    #[arg(value_name = "PART")]
    pub part: Option<String>,
    /// List recipes of this round
    #[arg(long, value_name = "ROUND")]
    pub round: Vec<String>,
    /// Filters that recipes share with runs.
    #[command(flatten)]
    pub facets: FacetFilter,
}

/// A built-in recipe: its summary with default variants, and the variants that are other
/// submissions.
#[derive(Serialize)]
pub struct ListedRecipe {
    /// The name that commands take: `mlperf-inference/v6.0/amd/llama2-70b-mi355x`.
    pub name: String,
    /// The summary with default variants.
    #[serde(flatten)]
    pub summary: RecipeSummary,
    /// Whether it matches with its default variants; else only with some of the others.
    #[serde(skip)]
    pub matches: bool,
    /// Other submissions that match.
    #[serde(skip)]
    pub variants: Vec<VariantSummary>,
    /// Whether this host has the GPUs for it, with default variants.
    pub fits: bool,
}

impl RecipeFilter {
    /// Returns whether it selects nothing.
    pub fn is_empty(&self) -> bool {
        self.part.is_none() && self.round.is_empty() && self.facets == FacetFilter::default()
    }

    /// Returns whether something of this round with these values matches.
    pub(super) fn matches(&self, round: Option<&str>, facets: &Facets) -> bool {
        let is_own = |requested: &String| round.is_some_and(|round| names_value(requested, round));
        (self.round.is_empty() || self.round.iter().any(is_own)) && self.facets.matches(facets)
    }

    /// Refuses a value that no recipe or result has, whatever the other filters are.
    pub(super) fn refuse_unknown(
        &self,
        kind: &str,
        rounds: &BTreeSet<&str>,
        all: &[Facets],
    ) -> Result<(), Failure> {
        let is_unknown =
            |requested: &&String| !rounds.iter().any(|round| names_value(requested, round));
        let round = self.round.iter().find(is_unknown).map(|requested| {
            let rounds = rounds.iter().map(|round| (*round).to_owned()).collect();
            ("round", requested.clone(), rounds)
        });
        let unknown: Option<(_, _, Vec<String>)> = round.or_else(|| self.facets.find_unknown(all));
        let Some((facet, requested, known)) = unknown else {
            return Ok(());
        };
        let failure = Failure::usage(format!(
            "no {kind} has the {facet} `{requested}`; known: {}",
            join(&known, ", ")
        ));
        let near = suggest_nearest(&requested, known.iter().map(String::as_str));
        Err(near.into_iter().fold(failure, Failure::with_help))
    }
}

/// The values of a recipe for each filter; its newest run has the outcome.
fn facets_of(
    summary: &RecipeSummary,
    images: &[ImageSummary],
    outcome: Option<&String>,
    releases: &ReleaseTable,
) -> Facets {
    let word = |word: &Option<String>| word.clone().into_iter().collect();
    Facets {
        outcome: outcome.cloned(),
        suites: word(&summary.suite),
        submitters: word(&summary.submitter),
        benchmarks: word(&summary.benchmark),
        gpus: summary.gpu_models.clone(),
        releases: images.iter().filter_map(|image| release_of_image(image, releases)).collect(),
    }
}

/// The release that a recipe states of an image, or that the image's name does.
fn release_of_image(image: &ImageSummary, releases: &ReleaseTable) -> Option<RocmRelease> {
    let stated = image.rocm.as_ref().and_then(|release| release.parse().ok());
    stated.or_else(|| release_in_name(image.name.as_ref()?, releases))
}

/// The outcome of the newest run of each recipe in the home, by the recipe's name.
fn newest_outcomes(global: &GlobalOptions) -> HashMap<String, String> {
    let rows = runs::open_index(global).runs(&RunFilter::default()).into_iter();
    rows.map(|row| (row.recipe.clone(), row.state_word().to_owned())).collect()
}

/// The built-in recipes that match.
pub fn find_recipes(
    global: &GlobalOptions,
    filter: &RecipeFilter,
    host: &HostView,
) -> Result<Vec<ListedRecipe>, Failure> {
    let mut recipes = Vec::new();
    for opened in catalog::builtin_recipes() {
        let (summary, variants) = summarize(&opened.source, &opened)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        recipes.push(ListedRecipe {
            name: opened.name,
            fits: fits_host(&summary, host),
            summary,
            matches: true,
            variants,
        });
    }
    if let Some(part) = filter.part.as_ref().map(|part| part.to_lowercase()) {
        let has = |text: &str| text.to_lowercase().contains(&part);
        recipes.retain(|recipe| has(&recipe.name) || has(&recipe.summary.title));
    }
    let outcomes =
        if filter.facets.outcome.is_empty() { HashMap::new() } else { newest_outcomes(global) };
    let facets_of_all = |recipe: &ListedRecipe| {
        let variants = recipe.variants.iter().map(|variant| &variant.summary);
        let facets = std::iter::once(&recipe.summary).chain(variants).map(|summary| {
            let outcome = outcomes.get(&recipe.name);
            let images =
                if filter.facets.rocm.is_empty() { &[] } else { &recipe.summary.images[..] };
            facets_of(summary, images, outcome, global.rocm_releases())
        });
        facets.collect::<Vec<_>>()
    };
    let facets: Vec<Vec<Facets>> = recipes.iter().map(facets_of_all).collect();
    let rounds = recipes.iter().flat_map(|recipe| {
        let variants = recipe.variants.iter().map(|variant| &variant.summary);
        std::iter::once(&recipe.summary).chain(variants).filter_map(|one| one.round.as_deref())
    });
    filter.refuse_unknown("recipe", &rounds.collect(), &facets.concat())?;
    for (recipe, facets) in recipes.iter_mut().zip(facets) {
        let matches = |summary: &RecipeSummary, facets: &Facets| {
            filter.matches(summary.round.as_deref(), facets)
        };
        let mut facets = facets.iter();
        recipe.matches = facets.next().is_some_and(|own| matches(&recipe.summary, own));
        recipe
            .variants
            .retain(|variant| facets.next().is_some_and(|own| matches(&variant.summary, own)));
    }
    recipes.retain(|recipe| recipe.matches || !recipe.variants.is_empty());
    Ok(recipes)
}

/// Returns whether a host alone has the GPUs that a recipe needs.
pub fn fits_host(summary: &RecipeSummary, host: &HostView) -> bool {
    let required =
        HostRequirements { gpus: summary.gpu_request.clone(), ..HostRequirements::default() };
    let requirements = Requirements { host: &required, scenario_memory: Vec::new() };
    let mut unmet = unmet_requirements(requirements, host, None, false).into_iter();
    summary.machines.is_none() && !unmet.any(|check| check.kind == HostCheckKind::Gpus)
}
