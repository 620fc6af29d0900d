//! What stands beside an outcome, so that nobody reads more into it than it says.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The qualifiers there are.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum QualifierKind {
    /// GPUs that the recipe asks for did nothing: the figure may be the CPU's.
    #[serde(rename = "idle GPUs")]
    IdleGpus,
    /// Performance without accuracy.
    #[serde(rename = "performance only")]
    PerformanceOnly,
    /// What was measured is not what was published: `--set`, or another target rate.
    #[serde(rename = "modified")]
    Modified,
    /// Not the hardware that the figure was published on.
    #[serde(rename = "other hardware")]
    OtherHardware,
    /// The script is ours: the workload's own was never published.
    #[serde(rename = "reimplemented")]
    Reimplemented,
    /// The image is named by a tag that may move.
    #[serde(rename = "unpinned image")]
    UnpinnedImage,
    /// Better than published by more than the margin: check this result.
    #[serde(rename = "exceeds published")]
    ExceedsPublished,
}

impl QualifierKind {
    /// The word, as design and JSON spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::IdleGpus => "idle GPUs",
            Self::PerformanceOnly => "performance only",
            Self::Modified => "modified",
            Self::OtherHardware => "other hardware",
            Self::Reimplemented => "reimplemented",
            Self::UnpinnedImage => "unpinned image",
            Self::ExceedsPublished => "exceeds published",
        }
    }
}

impl fmt::Display for QualifierKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
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
