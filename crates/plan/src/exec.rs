//! A command of the recipe, and its purpose.

use serde::{Deserialize, Serialize};

use super::failure::FailureSigns;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandPurpose {
    /// It fetches or prepares a model, a dataset or a setup step, without which nothing can be measured.
    #[default]
    Prepare,
    /// It measures one trial of one or more measurements.
    Measure {
        /// Indices into the plan's measurements that share the command.
        measurements: Vec<usize>,
        /// The number of the trial, from 1; warm-ups come first.
        trial: u32,
    },
    /// It checks the results of a measurement, for example by the accuracy script.
    Check {
        /// The index of the measurement in the plan.
        measurement: usize,
        /// The number of the trial, from 1; warm-ups come first.
        trial: u32,
        /// The number of the step whose results it checks.
        of: u32,
    },
}

impl CommandPurpose {
    /// Returns whether it measures this measurement, by itself or with others.
    pub fn measures(&self, measurement: usize) -> bool {
        matches!(self, Self::Measure { measurements, .. } if measurements.contains(&measurement))
    }
}

/// A command of the recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecStep {
    /// The purpose of the command, and the measurements that it serves.
    pub purpose: CommandPurpose,
    /// The text for the shell, expressions evaluated as far as the plan can.
    pub run: String,
    /// The words of the shell; none: bash with pipefail if the image has it, else sh.
    pub shell: Option<Vec<String>>,
    /// Environment variables in addition to the container's.
    pub env: Vec<(String, String)>,
    /// Names of secrets in the command: passed in the environment, redacted in its output.
    pub secrets: Vec<String>,
    /// The working directory in the container; none: the container's.
    pub workdir: Option<String>,
    /// The user, a name or a number; none: the container's.
    pub user: Option<String>,
    /// The longest that the command may take, seconds.
    pub timeout_s: u64,
    /// The longest that the command may go without output, seconds.
    pub silence_s: Option<u64>,
    /// The most that the command may print, bytes; none: the runner's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_log: Option<u64>,
    /// The signs by which the running command counts as failed.
    #[serde(default, skip_serializing_if = "FailureSigns::is_empty")]
    pub failure: FailureSigns,
    /// The result directories (paths or globs); existing ones are moved aside.
    pub results: Vec<String>,
    /// The numbers of the steps that start the services that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<u32>,
}
