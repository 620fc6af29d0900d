//! Why a step was skipped or a run ended early, as data: text is generated for display.

use retrial_document::ErrorText;
use retrial_plan::failure::FailureKind;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a step was not executed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkipReason {
    /// An option of the command line excludes it.
    #[error("{option}")]
    Option {
        /// The option as it was written: `--skip pull`.
        option: String,
    },
    /// The run was aborted before it.
    #[error("{}", .reason.short_cause())]
    Aborted {
        /// Why the run was aborted.
        reason: AbortReason,
    },
    /// In a resumed run, all steps that need it are complete.
    #[error("all steps that need it are complete")]
    NotNeeded,
    /// The step whose results it uses did not finish.
    #[error("step {step:02} did not finish")]
    InputMissing {
        /// The number of the step that did not finish.
        step: u32,
    },
    /// The trials so far decide.
    #[error("{decision}")]
    Decided {
        /// The decision, and the number of trials.
        decision: String,
    },
    /// An earlier trial failed by a cause that another trial would repeat.
    #[error("{}", describe_repeats(trials, *cause))]
    CauseRepeats {
        /// The latest trials, which failed by this cause: the first, or two in a row.
        trials: Vec<u32>,
        cause: FailureKind,
    },
    /// `--keep` keeps the container.
    #[error("kept: `retrial shell {run}` opens a shell in it, `retrial clean {run}` removes it")]
    ContainerKept {
        /// The id of the run that has or had it.
        run: String,
    },
    /// The container was stopped and not removed: it has results that were not collected.
    #[error(
        "stopped, not removed: it has results that were not collected; `retrial resume {run}` collects them"
    )]
    ContainerStopped {
        /// The id of the run that has or had it.
        run: String,
    },
}

/// `trial 1 failed (out of GPU memory), which another trial would repeat`
fn describe_repeats(trials: &[u32], cause: FailureKind) -> String {
    let numbers: Vec<String> = trials.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [only] => format!("trial {only} failed ({cause}), which another trial would repeat"),
        all => {
            let trials = all.join(" and ");
            format!("trials {trials} failed by the same cause ({cause})")
        }
    }
}

/// Why a run ended before its last step.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AbortReason {
    /// A step that the following ones need failed.
    #[error("{name} failed: {error}")]
    StepFailed {
        /// The name of the failed step.
        name: String,
        /// Its error, without the remedy, which its own line has.
        error: String,
    },
    /// The run was stopped by a signal, or by `retrial stop`.
    #[error("the run was stopped")]
    Stopped,
    /// The run's own files could not be written, or its engine does not respond.
    #[error("{error}")]
    Error {
        /// The message of the error that ended the run.
        #[serde(flatten)]
        error: ErrorText,
    },
}

impl AbortReason {
    /// The reason as an error, with its remedy apart.
    pub fn into_error_text(self) -> ErrorText {
        match self {
            Self::Error { error } => error,
            other => ErrorText::new(other.to_string()),
        }
    }

    /// The skip reason of later steps: without the error of the failed step, which has its own line.
    fn short_cause(&self) -> String {
        match self {
            Self::StepFailed { name, .. } => format!("{name} failed"),
            other => other.to_string(),
        }
    }
}
