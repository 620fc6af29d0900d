//! The failure of a cell by itself: its image or its program does not do here, and the other cells go on.

use itertools::join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a cell has no result, if the reason is its own.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CellFailure {
    /// The registry answered that it does not have the image.
    #[error("no such tag")]
    NoSuchTag {
        /// The image as the plan names it.
        image: String,
    },
    /// The image could not be built.
    #[error("build failed")]
    BuildFailed,
    /// The image has no code for the GPUs.
    #[error("does not support {}", join(targets, ", "))]
    UnsupportedGpu {
        /// The targets of the GPUs: `gfx942`.
        targets: Vec<String>,
    },
    /// A command failed before anything was measured.
    #[error("does not run")]
    DoesNotRun,
}

impl CellFailure {
    /// Returns whether every other trial of the cell would fail in the same way.
    pub fn repeats(&self) -> bool {
        !matches!(self, Self::DoesNotRun)
    }
}
