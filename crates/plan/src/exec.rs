//! A command of the recipe, and its purpose.

use serde::{Deserialize, Serialize};

use super::failure::FailureSigns;

/// The purpose of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A model, a dataset or a setup step: without it nothing can be measured.
    #[default]
    Prepare,
    /// A measurement.
    Measure {
        /// The measurements that it serves.
        measurements: Vec<usize>,
        /// The trial.
        trial: u32,
    },
    /// The check of a measurement's results.
    Check {
        /// The measurement.
        measurement: usize,
        /// The trial.
        trial: u32,
        /// The step that created the results.
        of: u32,
    },
}

/// A command of the recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecStep {
    /// Its purpose.
    pub purpose: Purpose,
    /// The command, rendered.
    pub run: String,
    /// The shell; none: bash with pipefail where the image has it, else sh.
    pub shell: Option<Vec<String>>,
    /// Environment, in addition to the container's.
    pub env: Vec<(String, String)>,
    /// Secrets that it names: passed in the environment, redacted in its output.
    pub secrets: Vec<String>,
    /// Working directory; none: the container's.
    pub workdir: Option<String>,
    /// User; none: the container's.
    pub user: Option<String>,
    /// Time limit, seconds.
    pub timeout_s: u64,
    /// Limit on the time without output, seconds.
    pub silence_s: Option<u64>,
    /// Limit on its output, bytes, if the recipe has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_log: Option<u64>,
    /// The signs of its failure while it is running.
    #[serde(default, skip_serializing_if = "FailureSigns::is_empty")]
    pub failure: FailureSigns,
    /// Result directories (paths or globs): existing ones are moved aside.
    pub results: Vec<String>,
    /// The start steps of the services that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<u32>,
}
