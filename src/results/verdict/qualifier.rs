//! What stands beside an outcome, so that nobody reads more into it than it says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Context, Evidence, Judgement, number, telemetry};
use crate::plan::deviation::REIMPLEMENTED;
use retrial_recipe::model::Claim;

/// Rates that differ by less are one: `LoadGen` prints six digits.
pub(crate) const PRINTED_RATE: f64 = 1e-5;

/// A figure that is better than published by more than this factor is not called reproduced, unless
/// a qualifier says what else was measured.
pub(crate) const IMPLAUSIBLE: f64 = 1.5;

/// A qualifier and why it applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Qualifier {
    /// Which.
    pub kind: QualifierKind,
    /// Why, as a lower-case fragment: `--set batch=4`.
    pub because: String,
}

impl Qualifier {
    /// A qualifier with its reason.
    #[must_use]
    pub fn new(kind: QualifierKind, because: impl Into<String>) -> Self {
        Self {
            kind,
            because: because.into(),
        }
    }
}

words! {
    /// The qualifiers.
    #[derive(JsonSchema)]
    pub enum QualifierKind {
        /// GPUs that the recipe asks for did nothing: the figure may be the CPU's.
        IdleGpus = "idle GPUs",
        /// Performance without accuracy.
        PerformanceOnly = "performance only",
        /// What was measured is not what was published: `--set`, or another target rate.
        Modified = "modified",
        /// Not the hardware that the figure was published on.
        OtherHardware = "other hardware",
        /// The script is ours: the workload's own was never published.
        Reimplemented = "reimplemented",
        /// The image is named by a tag that may move.
        UnpinnedImage = "unpinned image",
        /// Better than published by more than the margin: check this result.
        ExceedsPublished = "exceeds published",
    }
}

/// Adds qualifiers that are not there yet, and keeps the order of their kinds.
pub(crate) fn merge(into: &mut Vec<Qualifier>, more: impl IntoIterator<Item = Qualifier>) {
    for qualifier in more {
        if !into.contains(&qualifier) {
            into.push(qualifier);
        }
    }
    into.sort_by_key(|qualifier| qualifier.kind);
}

/// Whether qualifiers explain a figure far better than the published one.
pub(crate) fn explained(qualifiers: &[Qualifier]) -> bool {
    let other = [
        QualifierKind::Modified,
        QualifierKind::OtherHardware,
        QualifierKind::Reimplemented,
    ];
    qualifiers.iter().any(|one| other.contains(&one.kind))
}

/// What a result's evidence adds to those of the run.
pub(crate) fn of_result(evidence: &Evidence, context: &Context) -> Vec<Qualifier> {
    let reimplemented = context.rules.reimplemented;
    let reimplemented =
        reimplemented.then(|| Qualifier::new(QualifierKind::Reimplemented, REIMPLEMENTED));
    let all = [
        reimplemented,
        other_target(evidence),
        telemetry::idle_gpus(evidence),
    ];
    all.into_iter().flatten().collect()
}

/// The figures of a valid result that are better than published by more than the margin.
pub(crate) fn exceeding(judgements: &[Judgement]) -> impl Iterator<Item = Qualifier> {
    let exceeding = judgements.iter().filter(|judgement| {
        let most = 1.0 + judgement.margin.abs();
        judgement.claim != Claim::Better && judgement.ratio.is_some_and(|ratio| ratio > most)
    });
    exceeding.map(|judgement| {
        let because = format!(
            "{} is better than published by more than the margin: check this result",
            judgement.figure
        );
        Qualifier::new(QualifierKind::ExceedsPublished, because)
    })
}

/// Server and Interactive compare at the published target rate only.
fn other_target(evidence: &Evidence) -> Option<Qualifier> {
    let published = evidence
        .target_qps
        .filter(|rate| rate.is_finite() && *rate > 0.0)?;
    let scenario = evidence.scenario.to_ascii_lowercase();
    if scenario != "server" && scenario != "interactive" {
        return None;
    }
    let other = evidence
        .trials
        .iter()
        .filter_map(|trial| trial.run_settings.as_ref()?.settings.target_qps)
        .find(|found| found.is_nan() || (found - published).abs() > PRINTED_RATE * published)?;
    let because = format!(
        "{}'s target rate was {} queries/s, published at {}",
        evidence.scenario,
        number::grouped(other),
        number::grouped(published)
    );
    Some(Qualifier::new(QualifierKind::Modified, because))
}
