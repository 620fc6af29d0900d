//! The failure of a command: its exit code, and its message.

use retrial_recipe::Diagnostics;

use crate::app::catalog::CatalogError;
use crate::app::terminal;
use retrial_engine::error::EngineError;
use retrial_plan::PlanError;
use retrial_results::verdict::ExitCode;
use retrial_run::RunError;
use retrial_store::StoreError;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: ExitCode,
    text: String,
}

impl Failure {
    /// The command line or a recipe is wrong.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, text)
    }

    /// The host or its services failed.
    pub fn host(text: impl Into<String>) -> Self {
        Self::new(ExitCode::Host, text)
    }

    /// A failure with any exit code.
    pub fn new(exit: ExitCode, text: impl Into<String>) -> Self {
        Self {
            exit,
            text: text.into(),
        }
    }

    /// Prints the problems of a recipe or a batch; the failure itself has no message.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub fn problems(problems: Diagnostics) -> Self {
        terminal::note_problems(&problems);
        Self::reported(ExitCode::Usage)
    }

    /// The message, owned.
    pub fn into_text(self) -> String {
        self.text
    }

    /// A failure whose message was printed already.
    pub fn reported(exit: ExitCode) -> Self {
        Self::new(exit, "")
    }

    /// The message.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// Prints it to standard error.
    pub fn report(&self) {
        if !self.text.is_empty() {
            terminal::note(&format!("error: {}", self.text()));
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
            RunError::Store(error) => error.into(),
            RunError::Engine(error) => error.into(),
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        let text = format!("{error}\n  {}", error.help());
        match error {
            CatalogError::Write { .. } => Self::host(text),
            _ => Self::usage(text),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::usage(error.to_string())
    }
}
