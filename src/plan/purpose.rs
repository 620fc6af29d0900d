//! What a command of a plan is for.

use serde::{Deserialize, Serialize};

/// What a command is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A model, a dataset or a setup step: without it nothing can be measured.
    #[default]
    Prepare,
    /// A measurement.
    Measure {
        /// Which measurements it serves.
        measurements: Vec<usize>,
        /// Which trial.
        trial: u32,
    },
    /// The check of a measurement's results.
    Check {
        /// Which measurement.
        measurement: usize,
        /// Which trial.
        trial: u32,
        /// The step that made the results.
        of: u32,
    },
}
