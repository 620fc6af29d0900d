//! Built-in recipes, and filters that select them.

use std::collections::BTreeSet;

use clap::Args;
use itertools::join;
use serde::Serialize;

use crate::app::catalog;
use crate::app::failure::Failure;
use retrial_host::checks::{HostCheckKind, Requirements, unmet_requirements};
use retrial_host::model::HostView;
use retrial_recipe::model::HostRequirements;
use retrial_recipe::{RecipeSummary, VariantSummary, summarize};

/// Filters of recipes. Each may be given several times, in any case; an unknown value is an error
/// that lists the known ones.
#[derive(Debug, Clone, Default, Args)]
pub struct RecipeFilter {
    /// List only recipes with this text in their name or title, results with it in their path
    #[arg(value_name = "PART")]
    pub part: Option<String>,
    /// List recipes of this suite
    #[arg(long, value_name = "SUITE")]
    pub suite: Vec<String>,
    /// List recipes of this round
    #[arg(long, value_name = "ROUND")]
    pub round: Vec<String>,
    /// List recipes for this GPU, with their variants for it
    #[arg(long, value_name = "MODEL")]
    pub gpu: Vec<String>,
    /// List recipes of this submitter
    #[arg(long, value_name = "NAME")]
    pub submitter: Vec<String>,
    /// List recipes of this benchmark
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
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
    /// Each filter's name, and the values that it accepts.
    fn facets(&self) -> [(&'static str, &[String]); 5] {
        [
            ("suite", &self.suite),
            ("round", &self.round),
            ("gpu", &self.gpu),
            ("submitter", &self.submitter),
            ("benchmark", &self.benchmark),
        ]
    }

    /// Returns whether something with these values, for each facet its own, matches.
    pub(super) fn matches(&self, values: &FacetValues) -> bool {
        self.facets().iter().zip(values).all(|((_, accepted), own)| {
            let has_value =
                |requested: &String| own.iter().any(|value| value_matches(requested, value));
            accepted.is_empty() || accepted.iter().any(has_value)
        })
    }

    /// Refuses a value that no recipe or result has, whatever the other filters are.
    pub(super) fn refuse_unknown(&self, kind: &str, all: &[FacetValues]) -> Result<(), Failure> {
        for (at, (facet, accepted)) in self.facets().into_iter().enumerate() {
            let known: BTreeSet<&String> = all.iter().flat_map(|values| &values[at]).collect();
            let is_unknown =
                |requested: &&String| !known.iter().any(|value| value_matches(requested, value));
            if let Some(requested) = accepted.iter().find(is_unknown) {
                let known = join(&known, ", ");
                return Err(Failure::usage(format!(
                    "no {kind} has the {facet} `{requested}`; known: {known}"
                )));
            }
        }
        Ok(())
    }
}

/// The values of a recipe or a result for each filter: suite, round, GPUs, submitter, benchmark.
pub(super) type FacetValues = [Vec<String>; 5];

fn facet_values(summary: &RecipeSummary) -> FacetValues {
    let word = |word: &Option<String>| word.clone().into_iter().collect();
    [
        word(&summary.suite),
        word(&summary.round),
        summary.gpu_models.clone(),
        word(&summary.submitter),
        word(&summary.benchmark),
    ]
}

/// The built-in recipes that match.
pub fn find_recipes(filter: &RecipeFilter, host: &HostView) -> Result<Vec<ListedRecipe>, Failure> {
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
    let summaries = recipes.iter().flat_map(|recipe| {
        let variants = recipe.variants.iter().map(|variant| &variant.summary);
        std::iter::once(&recipe.summary).chain(variants)
    });
    let every: Vec<FacetValues> = summaries.map(facet_values).collect();
    filter.refuse_unknown("recipe", &every)?;
    let matches = |summary: &RecipeSummary| filter.matches(&facet_values(summary));
    for recipe in &mut recipes {
        recipe.matches = matches(&recipe.summary);
        recipe.variants.retain(|variant| matches(&variant.summary));
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

/// `6.0` means `v6.0`, `llama2-70b` also `llama2-70b-99.9`, `dell` also `Dell_AMD`.
fn value_matches(requested: &str, value: &str) -> bool {
    let plain = |text: &str| {
        let normalized = text.trim().to_lowercase().replace([' ', '_'], "-");
        match normalized.strip_prefix('v') {
            Some(version) if version.starts_with(|first: char| first.is_ascii_digit()) => {
                version.to_owned()
            }
            _ => normalized,
        }
    };
    let (requested, value) = (plain(requested), plain(value));
    let rest = value.strip_prefix(&requested);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::value_matches;

    #[rstest]
    #[case("6.0", "v6.0", true)]
    #[case("V6.0", "v6.0", true)]
    #[case("6", "v6.0", false)]
    #[case("mi355x", "MI355X", true)]
    #[case("mi35", "MI355X", false)]
    #[case("llama2-70b", "llama2-70b-99.9", true)]
    #[case("llama2", "llama2-70b-99.9", true)]
    #[case("llama", "llama2-70b-99.9", false)]
    #[case("dell", "Dell_AMD", true)]
    #[case("mlperf inference", "mlperf-inference", true)]
    #[case("vision", "ision", false)]
    fn misspelled_names_match_similar_recipes(
        #[case] requested: &str,
        #[case] value: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(value_matches(requested, value), expected);
    }
}
