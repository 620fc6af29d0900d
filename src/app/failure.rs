//! What ends a command early: the exit code, and what a person reads.

use crate::batch::run::BatchError;
use crate::plan::PlanError;
use crate::results::verdict::ExitCode;
use crate::run::RunError;
use crate::store::StoreError;
use retrial_engine::error::EngineError;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    /// What the process exits with.
    pub exit: ExitCode,
    text: String,
}

impl Failure {
    /// The command line or a recipe is wrong.
    pub fn usage(text: impl Into<String>) -> Self {
        Self {
            exit: ExitCode::Usage,
            text: text.into(),
        }
    }

    /// The host or its services failed.
    pub fn host(text: impl Into<String>) -> Self {
        Self {
            exit: ExitCode::Host,
            text: text.into(),
        }
    }

    /// A failure with any exit code.
    pub fn new(exit: ExitCode, text: impl Into<String>) -> Self {
        Self {
            exit,
            text: text.into(),
        }
    }

    /// What a person reads.
    pub fn into_text(self) -> String {
        self.text
    }

    /// What was printed already needs no second telling.
    pub fn told(exit: ExitCode) -> Self {
        Self {
            exit,
            text: String::new(),
        }
    }

    /// What a person reads.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// Prints it to standard error.
    pub fn report(&self) {
        use std::io::Write as _;
        if !self.text.is_empty() {
            let _ = writeln!(std::io::stderr(), "retrial: {}", self.text.trim_end());
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuch { .. } => Self::usage(error.to_string()),
            _ => Self::host(error.to_string()),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::host(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Over { .. } => Self::usage(error.to_string()),
            RunError::Store(error) => error.into(),
            RunError::Engine(error) => error.into(),
        }
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Store(error) => error.into(),
            error @ BatchError::Busy { .. } => Self::host(error.to_string()),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::usage(error.to_string())
    }
}
