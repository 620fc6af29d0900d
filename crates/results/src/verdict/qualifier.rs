//! Qualifiers of an outcome: the limits of what it shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A qualifier and why it applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Qualifier {
    /// Its kind.
    pub kind: QualifierKind,
    /// Why, as a lower-case fragment: `--set batch=4`.
    pub reason: String,
}

impl Qualifier {
    /// A qualifier with its reason.
    pub fn new(kind: QualifierKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }
}

retrial_format::words! {
    /// The qualifiers.
    #[derive(JsonSchema)]
    pub enum QualifierKind {
        /// GPUs that the recipe requires were idle: the figure may be the CPU's.
        IdleGpus = "idle GPUs",
        /// Performance without accuracy.
        PerformanceOnly = "performance only",
        /// The measured configuration is not the published one: `--set`, or another target rate.
        Modified = "modified",
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

/// Adds qualifiers that are not there yet, and keeps the order of their kinds.
pub fn merge(into: &mut Vec<Qualifier>, more: impl IntoIterator<Item = Qualifier>) {
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
    qualifiers
        .iter()
        .any(|qualifier| other.contains(&qualifier.kind))
}
