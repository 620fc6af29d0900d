//! Errors that end a run or one of its steps.

use miette::Diagnostic;
use retrial_document::ErrorText;
use thiserror::Error;

use retrial_engine::error::EngineError;
use retrial_hub::FetchError;
use retrial_plan::failure::FailureKind;
use retrial_store::StoreError;
use retrial_store::journal::{StepEnd, StepFault};

/// A fault of the run as a whole.
#[derive(Debug, Error, Diagnostic)]
pub enum RunError {
    /// The run's files cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
    /// The engine refused a request, or is unavailable.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Engine(#[from] EngineError),
}

/// The early end of a step: `?` ends the step, or the whole run.
#[derive(Debug)]
pub enum Halt {
    /// The step ended: it failed, or the run is to stop.
    Ended(StepEnd),
    /// The run's own files cannot be read or written, so no further step may start.
    Run(RunError),
}

impl Halt {
    /// Returns the failure of a step, with its fix.
    pub fn failure(fault: StepFault, reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Ended(StepEnd::failure(fault, reason, advice))
    }

    /// The host or its services failed.
    pub fn host_failure(error: impl Into<ErrorText>) -> Self {
        Self::Ended(StepEnd::host_failure(error))
    }

    /// The end of a step that returned this, if the run can continue.
    ///
    /// # Errors
    /// If it cannot.
    pub fn to_step_end(result: Result<Option<i64>, Self>) -> Result<StepEnd, RunError> {
        match result {
            Ok(exit_code) => Ok(StepEnd::Done { exit_code }),
            Err(Self::Ended(end)) => Ok(end),
            Err(Self::Run(error)) => Err(error),
        }
    }
}

impl From<StepEnd> for Halt {
    fn from(end: StepEnd) -> Self {
        Self::Ended(end)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl From<EngineError> for Halt {
    fn from(error: EngineError) -> Self {
        let end = StepEnd::host_failure(ErrorText::of(&error));
        Self::Ended(if error.is_missing_image() {
            end.with_kind(FailureKind::NoSuchTag)
        } else {
            end
        })
    }
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Engine(error) => error.into(),
            error @ RunError::Store(_) => Self::Run(error),
        }
    }
}

impl From<FetchError> for Halt {
    fn from(error: FetchError) -> Self {
        let fault = match &error {
            FetchError::Stopped => return Self::Ended(StepEnd::Stopped),
            error if error.is_invalid_request() => StepFault::Request,
            _ => StepFault::Host,
        };
        Self::Ended(StepEnd::error(fault, ErrorText::of(&error)))
    }
}
