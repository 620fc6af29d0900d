//! The failure of a command: its exit code, and its errors.

use itertools::join;
use retrial_document::ErrorText;
use retrial_recipe::Diagnostics;

use crate::app::catalog::CatalogError;
use crate::app::terminal;
use retrial_cluster::error::ClusterError;
use retrial_cluster::nodes::allocation::AllocationError;
use retrial_engine::error::EngineError;
use retrial_plan::PlanError;
use retrial_results::verdict::ExitCode;
use retrial_run::RunError;
use retrial_store::StoreError;

/// A failed command: the exit code of the process, and what to tell the user.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: ExitCode,
    /// Empty if they were printed already.
    errors: Vec<ErrorText>,
}

impl Failure {
    /// The command line or a recipe is wrong: exit code 2.
    pub fn usage(error: impl Into<ErrorText>) -> Self {
        Self::new(ExitCode::Usage, error)
    }

    /// The host or one of its services failed: exit code 3.
    pub fn host(error: impl Into<ErrorText>) -> Self {
        Self::new(ExitCode::Host, error)
    }

    /// A failure with any exit code.
    pub fn new(exit: ExitCode, error: impl Into<ErrorText>) -> Self {
        Self::with_errors(exit, vec![error.into()])
    }

    /// A failure by several errors, each with its own remedies.
    pub fn with_errors(exit: ExitCode, errors: Vec<ErrorText>) -> Self {
        Self { exit, errors }
    }

    /// Adds a remedy of the last error.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        let last = self.errors.pop().unwrap_or_default();
        self.errors.push(last.with_help(help));
        self
    }

    /// Prints the problems of a recipe or a batch; the failure itself has no message.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub fn report_problems(problems: Diagnostics) -> Self {
        terminal::print_problems(&problems);
        Self::reported(ExitCode::Usage)
    }

    /// A failure whose message was printed already.
    pub fn reported(exit: ExitCode) -> Self {
        Self::with_errors(exit, Vec::new())
    }

    /// What failed, each with what to do about it.
    pub fn into_errors(self) -> Vec<ErrorText> {
        self.errors
    }

    /// All errors as one, for a journal.
    pub fn to_error(&self) -> ErrorText {
        ErrorText {
            message: join(self.errors.iter().map(|error| &error.message), "; "),
            help: self
                .errors
                .iter()
                .flat_map(|error| error.help.clone())
                .collect(),
        }
    }

    /// Prints each error to standard error, unless they were printed already.
    pub fn report(&self) {
        for error in &self.errors {
            let label = if error.message.is_empty() {
                ""
            } else {
                "error: "
            };
            terminal::note_error(&error.clone().in_context(label));
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuch { .. }
            | StoreError::NotARecord { .. }
            | StoreError::NoPath { .. } => Self::usage(ErrorText::of(&error)),
            _ => Self::host(ErrorText::of(&error)),
        }
    }
}

impl From<AllocationError> for Failure {
    fn from(error: AllocationError) -> Self {
        match error {
            AllocationError::Store(error) => error.into(),
            _ => Self::usage(ErrorText::of(&error)),
        }
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Store(error) => error.into(),
            ClusterError::Script(_) | ClusterError::NotUtf8 { .. } => {
                Self::usage(error.to_error_text())
            }
            _ => Self::host(error.to_error_text()),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::host(ErrorText::of(&error))
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
        let text = ErrorText::of(&error);
        match error {
            CatalogError::Write { .. } => Self::host(text),
            _ => Self::usage(text),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::usage(ErrorText::of(&error))
    }
}
