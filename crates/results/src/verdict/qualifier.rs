//! Qualifiers of an outcome: the limits of what it shows.

use std::fmt;

use itertools::join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;
use retrial_plan::SMOKE_TEST_CHANGE;

/// Why a smoke test decides nothing.
pub(crate) const SMOKE_TEST_REASON: &str = "not comparable with the published figure";

/// A qualifier and why it applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Qualifier {
    /// The limit of the outcome, for example `unpinned image`.
    pub kind: QualifierKind,
    /// Why, as a lower-case fragment: `--set batch=4`.
    pub reason: String,
}

impl Qualifier {
    pub fn new(kind: QualifierKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    /// Returns the qualifier of an option that changed a plan, as `Plan::changing_options` lists it.
    pub(crate) fn from_change(change: String) -> Self {
        if change == SMOKE_TEST_CHANGE {
            return Self::new(QualifierKind::SmokeTest, SMOKE_TEST_REASON);
        }
        Self::new(QualifierKind::Modified, change)
    }
}

retrial_document::words! {
    /// The kinds of limits of an outcome.
    #[derive(JsonSchema)]
    pub enum QualifierKind {
        /// A run of minutes, which shows that everything starts: nothing is compared with published figures.
        SmokeTest = "smoke test",
        /// GPUs that the recipe requires were idle: the figure may be the CPU's.
        IdleGpus = "idle GPUs",
        /// Only some of the recipe's measurements were made, or of a submission's scenarios judged: `--scenario`, `--mode`, `--point`.
        InPart = "in part",
        /// Performance without accuracy.
        PerformanceOnly = "performance only",
        /// What was measured is not what the recipe measures: `--set`, `--skip`, another target rate.
        Modified = "modified",
        /// The figures are read, and judged, as another recipe says than the one that was run.
        ChangedRecipe = "changed recipe",
        /// The run was interrupted or had failed, and parts of it were done again, or in another container.
        Resumed = "resumed",
        /// The host's GPUs and settings were read from a directory: `--root`.
        SimulatedHost = "simulated host",
        /// The hardware is not the one that the figure was published on.
        OtherHardware = "other hardware",
        /// The script is Retrial's: the workload's own was never published.
        Reimplemented = "reimplemented",
        /// The image is named by a tag that may move.
        UnpinnedImage = "unpinned image",
        /// Better than published by more than the margin: check this result.
        ExceedsPublished = "exceeds published",
    }
}

/// An outcome with the kinds of its qualifiers: reports print it in this form only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QualifiedOutcome {
    /// The outcome that the qualifiers limit.
    pub outcome: Outcome,
    /// The kinds of its qualifiers, each once.
    pub kinds: Vec<QualifierKind>,
}

impl QualifiedOutcome {
    pub fn new(outcome: Outcome, qualifiers: &[Qualifier]) -> Self {
        Self::from_kinds(outcome, qualifiers.iter().map(|qualifier| qualifier.kind))
    }

    pub fn from_kinds(outcome: Outcome, kinds: impl IntoIterator<Item = QualifierKind>) -> Self {
        let mut unique_kinds: Vec<QualifierKind> = kinds.into_iter().collect();
        unique_kinds.sort();
        unique_kinds.dedup();
        Self { outcome, kinds: unique_kinds }
    }
}

/// `reproduced (modified, unpinned image)`
impl fmt::Display for QualifiedOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.outcome)?;
        if self.kinds.is_empty() {
            return Ok(());
        }
        write!(formatter, " ({})", join(&self.kinds, ", "))
    }
}

/// Adds qualifiers that are not there yet, and keeps the order of their kinds.
pub fn merge_qualifiers(into: &mut Vec<Qualifier>, more: impl IntoIterator<Item = Qualifier>) {
    for qualifier in more {
        if !into.contains(&qualifier) {
            into.push(qualifier);
        }
    }
    into.sort_by_key(|qualifier| qualifier.kind);
}

/// Returns whether qualifiers explain a figure far better than the published one.
pub(crate) fn explains_better_figure(qualifiers: &[Qualifier]) -> bool {
    let other =
        [QualifierKind::Modified, QualifierKind::OtherHardware, QualifierKind::Reimplemented];
    qualifiers.iter().any(|qualifier| other.contains(&qualifier.kind))
}
