//! A command of the recipe, and what it is for.

use serde::{Deserialize, Serialize};

use super::failure::FailureSigns;

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

/// A command of the recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecStep {
    /// What it is for.
    pub purpose: Purpose,
    /// The command, rendered.
    pub run: String,
    /// The shell; none: bash with pipefail where the image has it, else sh.
    pub shell: Option<Vec<String>>,
    /// Environment, besides the container's.
    pub env: Vec<(String, String)>,
    /// Secrets that it names: given in the environment, redacted in its output.
    pub secrets: Vec<String>,
    /// Working directory; none: the container's.
    pub workdir: Option<String>,
    /// User; none: the container's.
    pub user: Option<String>,
    /// Longest time, seconds.
    pub timeout_s: u64,
    /// Longest time without output, seconds.
    pub silence_s: Option<u64>,
    /// The most that it may print, bytes, if the recipe says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_log: Option<u64>,
    /// What shows that it has failed while it is running.
    #[serde(default, skip_serializing_if = "FailureSigns::is_empty")]
    pub failure: FailureSigns,
    /// Result directories (paths or globs): what lies there before is moved aside.
    pub results: Vec<String>,
    /// The steps that start the services which it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<u32>,
}
