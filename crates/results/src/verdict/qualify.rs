//! The qualifiers that a result has by its evidence and its judgements.

use super::{Evidence, Judgement, Qualifier, QualifierKind, RunContext, number, telemetry};
use retrial_plan::deviation::REIMPLEMENTED_REASON;
use retrial_recipe::model::Claim;

/// Rates that differ by less are one: `LoadGen` prints six digits.
pub(crate) const RATE_TOLERANCE: f64 = 1e-5;

/// A figure that is better than published by more than this factor is not called reproduced, unless
/// a qualifier says what else was measured.
pub(crate) const MAX_PLAUSIBLE_RATIO: f64 = 1.5;

/// Returns the qualifiers that a result's evidence adds to those of the run.
pub(crate) fn qualifiers_of_result(evidence: &Evidence, context: &RunContext) -> Vec<Qualifier> {
    let reimplemented = context.rules.reimplemented;
    let reimplemented =
        reimplemented.then(|| Qualifier::new(QualifierKind::Reimplemented, REIMPLEMENTED_REASON));
    let all = [
        reimplemented,
        qualifier_of_other_target(evidence),
        telemetry::qualifier_of_idle_gpus(evidence),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the figures of a valid result that are better than published by more than the margin.
pub(crate) fn qualifiers_of_exceeding(judgements: &[Judgement]) -> impl Iterator<Item = Qualifier> {
    let exceeding = judgements.iter().filter(|judgement| {
        let most = 1.0 + judgement.margin.abs();
        judgement.claim != Claim::Better && judgement.ratio.is_some_and(|ratio| ratio > most)
    });
    exceeding.map(|judgement| {
        let reason = format!(
            "{} is better than published by more than the margin: check this result",
            judgement.figure
        );
        Qualifier::new(QualifierKind::ExceedsPublished, reason)
    })
}

/// Server and Interactive compare at the published target rate only.
fn qualifier_of_other_target(evidence: &Evidence) -> Option<Qualifier> {
    let published = evidence.plan.target_qps.filter(|rate| rate.is_finite() && *rate > 0.0)?;
    if evidence.plan.scenario != "Server" && evidence.plan.scenario != "Interactive" {
        return None;
    }
    let other = evidence
        .trials
        .iter()
        .filter_map(|trial| trial.run_settings.as_ref()?.settings.target_qps)
        .find(|value| value.is_nan() || (value - published).abs() > RATE_TOLERANCE * published)?;
    let reason = format!(
        "{}'s target rate was {} queries/s, published at {}",
        evidence.plan.scenario,
        number::format_grouped(other),
        number::format_grouped(published)
    );
    Some(Qualifier::new(QualifierKind::Modified, reason))
}
