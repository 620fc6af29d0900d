//! Warns before the first run of claims that nothing can decide, since no recipe measures their figures.

use super::model::Assertion;
use crate::model::Batch;
use crate::plan::BatchPlan;
use retrial_recipe::model::{Mode, Recipe};
use retrial_recipe::{Diagnostic, Diagnostics};

/// Returns a warning for each claim on accuracy if no recipe measures any. Runs of other hosts may have measured it.
pub fn warn_of_unmeasured_accuracy<'a>(
    batch: &Batch,
    plan: &BatchPlan,
    recipes: impl IntoIterator<Item = &'a Recipe>,
) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let mut scenarios = recipes.into_iter().flat_map(|recipe| &recipe.scenarios);
    let measures_accuracy =
        |modes: &[(Mode, _)]| modes.iter().any(|(mode, _)| *mode == Mode::Accuracy);
    if !batch.external_results.is_empty()
        || scenarios.any(|(_, scenario)| measures_accuracy(&scenario.modes))
    {
        return problems;
    }
    for (written, claim) in batch.claims.iter().zip(&plan.claims) {
        if matches!(claim.assertion, Assertion::Accurate | Assertion::Accuracy { .. }) {
            let message = "nothing can decide this claim: no recipe of the batch measures accuracy";
            let problem =
                Diagnostic::warning("unmeasured-claim", message, written.text.span.clone());
            problems
                .push(problem.with_help(
                    "give a scenario of its recipes an `accuracy`, or remove the claim",
                ));
        }
    }
    problems
}
