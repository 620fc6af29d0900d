//! Why a step was skipped or a run ended early, as data: sentences are made where one is shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a step was not executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkipReason {
    /// An option of the command line excludes it.
    Option {
        /// `--skip pull`
        option: String,
    },
    /// The run was aborted before it.
    Aborted {
        /// Why.
        reason: AbortReason,
    },
    /// A run that was resumed has everything that needs it.
    NotNeeded,
    /// The step whose results it uses did not finish.
    InputMissing {
        /// That step's number.
        step: u32,
    },
    /// The trials so far decide.
    Decided {
        /// What was decided, after how many trials.
        decision: String,
    },
    /// `--keep` keeps the container.
    ContainerKept {
        /// The run's id.
        run: String,
    },
    /// The container was stopped and not removed: it has results that were not collected.
    ContainerStopped {
        /// The run's id.
        run: String,
    },
}

/// Why a run ended before its last step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AbortReason {
    /// A step failed that the following ones need.
    StepFailed {
        /// The step's name.
        name: String,
        /// The first line of its error.
        error: String,
    },
    /// The run was stopped by a signal, or by `retrial stop`.
    Stopped,
    /// The run's own files could not be written, or its engine does not answer.
    Error {
        /// The error.
        message: String,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { option } => formatter.write_str(option),
            Self::Aborted {
                reason: AbortReason::StepFailed { name, .. },
            } => write!(formatter, "{name} failed"),
            Self::Aborted { reason } => reason.fmt(formatter),
            Self::NotNeeded => formatter.write_str("all steps that need it are complete"),
            Self::InputMissing { step } => write!(formatter, "step {step:02} did not finish"),
            Self::Decided { decision } => formatter.write_str(decision),
            Self::ContainerKept { run } => write!(
                formatter,
                "kept: look around with `retrial shell {run}`, remove it with `retrial clean {run}`"
            ),
            Self::ContainerStopped { run } => write!(
                formatter,
                "stopped, not removed: it has results that were not collected; `retrial resume {run}` collects them"
            ),
        }
    }
}

impl fmt::Display for AbortReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepFailed { name, error } => write!(formatter, "{name} failed: {error}"),
            Self::Stopped => formatter.write_str("the run was stopped"),
            Self::Error { message } => formatter.write_str(message),
        }
    }
}
