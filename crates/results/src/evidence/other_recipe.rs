//! A run judged by another recipe than its own: one with a corrected pattern or unit, which would execute the same.

use miette::Diagnostic;
use thiserror::Error;

use super::plan_source::PlanDerivationError;
use retrial_plan::difference::PlanDifference;
use retrial_plan::{Derivation, Plan};
use retrial_recipe::ResolvedRecipe;
use retrial_store::RunDirectory;

/// The keys of a plan that say how its files are read and judged, or that describe it.
const JUDGING_KEYS: [&str; 11] = [
    "claims",
    "deviations",
    "expected_duration",
    "judge",
    "notes",
    "packages",
    "recipe",
    "recipe_hash",
    "requires",
    "title",
    "unmet",
];

/// Those of a measurement.
const JUDGING_KEYS_OF_MEASUREMENT: [&str; 7] =
    ["client", "expect", "figures", "limits", "references", "required_values", "target_qps"];

/// The most differences that an error names.
const MAX_SHOWN_DIFFERENCES: usize = 5;

/// Why a run cannot be judged by another recipe.
#[derive(Debug, Error, Diagnostic)]
pub enum OtherRecipeError {
    #[error(
        "the run is of the recipe {run_recipe}, and {recipe} would not execute what the run did: {}",
        .differences.join("; ")
    )]
    #[diagnostic(help(
        "change only figures, published figures, limits and claims; for anything else run it again"
    ))]
    ExecutesOther {
        /// The name of the run's recipe.
        run_recipe: String,
        /// The other recipe's name.
        recipe: String,
        /// The first of them.
        differences: Vec<String>,
    },
    #[error("{recipe} gives no plan for the run: {source}")]
    NoPlan {
        /// The other recipe's name.
        recipe: String,
        source: PlanDerivationError,
    },
}

/// Returns the plan of a run with the figures, published figures, limits and claims of another recipe, which was
/// resolved with the run's settings.
///
/// # Errors
/// If the recipe would execute anything else, or has no plan.
pub fn plan_by_other_recipe(
    run: &RunDirectory,
    plan: &Plan,
    other: &ResolvedRecipe,
) -> Result<Plan, OtherRecipeError> {
    let recipe = || other.recipe.name.clone();
    let no_plan = |source| OtherRecipeError::NoPlan { recipe: recipe(), source };
    let host = super::plan_source::read_host(run, "").map_err(no_plan)?;
    let derivation =
        Derivation { recorded: plan, recipe: &other.recipe, recipe_hash: &other.hash, host: &host };
    let derived = derivation.derive_closest_plan();
    let (derived, differences) = derived.map_err(|error| no_plan(error.into()))?;
    let executed = differences.iter().filter(|one| !is_of_judging(one));
    let executed: Vec<String> =
        executed.take(MAX_SHOWN_DIFFERENCES).map(ToString::to_string).collect();
    if !executed.is_empty() {
        return Err(OtherRecipeError::ExecutesOther {
            run_recipe: plan.recipe.clone(),
            recipe: recipe(),
            differences: executed,
        });
    }
    let mut judged = plan.clone();
    judged.claims = derived.claims;
    judged.judge = derived.judge;
    judged.packages = derived.packages;
    for (own, other) in judged.measurements.iter_mut().zip(derived.measurements) {
        own.client = other.client;
        own.figures = other.figures;
        own.expect = other.expect;
        own.limits = other.limits;
        own.references = other.references;
        own.required_values = other.required_values;
        own.target_qps = other.target_qps;
    }
    Ok(judged)
}

fn is_of_judging(difference: &PlanDifference) -> bool {
    let mut parts = difference.path.split('.');
    match parts.next() {
        // The next part names the measurement.
        Some("measurements") => {
            parts.nth(1).is_some_and(|key| JUDGING_KEYS_OF_MEASUREMENT.contains(&key))
        }
        Some(key) => JUDGING_KEYS.contains(&key),
        None => false,
    }
}
