//! How a step ended, as data.

use retrial_document::ErrorText;
use retrial_plan::failure::{FailureCause, FailureKind};
use serde::{Deserialize, Serialize};

use super::reason::SkipReason;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum StepEnd {
    /// It succeeded: its command ended with exit code 0, or it has none.
    Done {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    /// It was not executed.
    Skipped {
        /// Why it was not executed.
        reason: SkipReason,
    },
    /// It failed, and the run may continue without it.
    Failed {
        /// The class of the failure, which decides the exit code of the run.
        fault: StepFault,
        /// The error, as a fragment.
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// The last lines of its output.
        last_lines: Vec<String>,
        /// The fix, in one line; empty if the error contains it.
        advice: String,
        /// The cause that its output states, if it states a known one; quoted in the reason, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Box<FailureCause>>,
    },
    /// The step was terminated because the run was stopped.
    Stopped,
}

/// The fault of a failed step. The most severe one of a run, last here, decides its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepFault {
    /// A measurement left no results that can be collected: the verdict evaluates it.
    NoResult,
    /// The step ran out of time.
    Timeout,
    /// The benchmark's own command.
    Command,
    /// The host or its services: engine, registry, hub, disk, GPUs.
    Host,
    /// The recipe or the command line requests something that does not exist.
    Request,
}

impl StepEnd {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }

    /// Returns a failure without output.
    pub fn failure(fault: StepFault, reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Failed {
            fault,
            reason: reason.into(),
            exit_code: None,
            last_lines: Vec::new(),
            advice: advice.into(),
            cause: None,
        }
    }

    /// A failure without output, by an error that states its remedy.
    pub fn error(fault: StepFault, error: impl Into<ErrorText>) -> Self {
        let ErrorText { message, help } = error.into();
        Self::failure(fault, message, help.join("; "))
    }

    /// A failure of the host or its services.
    pub fn host_failure(error: impl Into<ErrorText>) -> Self {
        Self::error(StepFault::Host, error)
    }

    /// Returns the failure with the exit code of its command.
    #[must_use]
    pub fn with_exit_code(mut self, code: Option<i64>) -> Self {
        if let Self::Failed { exit_code, .. } = &mut self {
            *exit_code = code;
        }
        self
    }

    /// Returns the failure with lines of output, unless it has some.
    #[must_use]
    pub fn with_last_lines(mut self, lines: impl FnOnce() -> Vec<String>) -> Self {
        if let Self::Failed { last_lines, .. } = &mut self
            && last_lines.is_empty()
        {
            *last_lines = lines();
        }
        self
    }

    /// Returns whether it is a failure of a command, without anything of its output so far.
    pub fn lacks_output(&self) -> bool {
        matches!(self, Self::Failed { fault: StepFault::Command | StepFault::Timeout, last_lines, .. } if last_lines.is_empty())
    }

    /// Returns the failure with the cause that the output states, in its reason, too, unless it has one.
    #[must_use]
    pub fn with_cause(self, stated: Option<FailureCause>) -> Self {
        match stated.filter(|_| self.cause().is_none()) {
            Some(stated) => self
                .map_reason(|reason| format!("{reason}: {stated}"))
                .with_quoted_cause(Some(stated)),
            None => self,
        }
    }

    /// Returns the failure with the cause that its reason quotes, whose remedy precedes the general one.
    #[must_use]
    pub fn with_quoted_cause(mut self, stated: Option<FailureCause>) -> Self {
        if let (Self::Failed { advice, cause, .. }, Some(stated)) = (&mut self, stated) {
            let separator = if advice.is_empty() { "" } else { "; " };
            *advice = format!("{}{separator}{advice}", stated.kind.advice());
            *cause = Some(Box::new(stated));
        }
        self
    }

    /// Returns the failure with the kind of its error, which states the remedy.
    #[must_use]
    pub fn with_kind(mut self, kind: FailureKind) -> Self {
        if let Self::Failed { reason, cause, .. } = &mut self {
            let line = reason.clone();
            *cause =
                Some(Box::new(FailureCause { kind, gpu: None, rank: None, signal: None, line }));
        }
        self
    }

    /// Returns the cause that the output of a failed command states, if any.
    pub fn cause(&self) -> Option<&FailureCause> {
        match self {
            Self::Failed { cause, .. } => cause.as_deref(),
            _ => None,
        }
    }

    /// Returns the failure with a different reason.
    #[must_use]
    pub fn map_reason(mut self, words: impl FnOnce(&str) -> String) -> Self {
        if let Self::Failed { reason, .. } = &mut self {
            *reason = words(reason);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_stores_its_remedy_apart_from_its_error() {
        let error = ErrorText::new("the engine is away").with_help("start it");
        let stored = serde_json::to_value(StepEnd::host_failure(error)).unwrap();
        assert_eq!(stored["reason"], "the engine is away");
        assert_eq!(stored["advice"], "start it");
    }
}
