//! The failure of a command: its exit code, and its errors.

use std::io;
use std::path::Path;

use itertools::join;
use retrial_document::ErrorText;
use retrial_recipe::Diagnostics;
use serde::Serialize;

use crate::app::catalog::CatalogError;
use crate::app::options::OutputFormat;
use crate::app::terminal;
use retrial_cluster::error::ClusterError;
use retrial_cluster::nodes::allocation::AllocationError;
use retrial_engine::error::EngineError;
use retrial_plan::PlanError;
use retrial_results::verdict::ExitCode;
use retrial_run::{RejudgeError, RunError};
use retrial_store::StoreError;

/// A failed command: the exit code of the process, and what to tell the user.
#[derive(Debug)]
pub struct Failure {
    pub exit: ExitCode,
    /// Empty if they were printed already.
    errors: Vec<ErrorText>,
    /// The problems of a recipe, a batch or another document.
    problems: Diagnostics,
    /// The privileges that a person has to approve first.
    approval: Vec<String>,
}

/// A failure as programs read it, with `--output json`.
#[derive(Debug, Serialize)]
struct FailureReport<'a> {
    exit_code: u8,
    errors: &'a [ErrorText],
    problems: &'a Diagnostics,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    approval: &'a [String],
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

    /// A file that the command line names cannot be read; `option` names it too, if it is not an argument.
    pub fn unreadable(option: Option<&str>, path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self::usage(match option {
            Some(option) => format!("{option} {path}: {reason}"),
            None => format!("failed to read {path}: {reason}"),
        })
    }

    pub fn new(exit: ExitCode, error: impl Into<ErrorText>) -> Self {
        Self::with_errors(exit, vec![error.into()])
    }

    /// A failure by several errors, each with its own remedies.
    pub fn with_errors(exit: ExitCode, errors: Vec<ErrorText>) -> Self {
        Self { exit, errors, problems: Diagnostics::default(), approval: Vec::new() }
    }

    /// Adds a remedy of the last error.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        let last = self.errors.pop().unwrap_or_default();
        self.errors.push(last.with_help(help));
        self
    }

    /// The problems of a recipe, a batch or another document: exit code 2.
    pub fn of_problems(problems: Diagnostics) -> Self {
        Self::reported(ExitCode::Usage).with_problems(problems)
    }

    /// States the privileges whose approval is missing, for programs.
    #[must_use]
    pub fn with_missing_approval(mut self, privileges: Vec<String>) -> Self {
        self.approval = privileges;
        self
    }

    /// Adds the problems of documents.
    #[must_use]
    pub fn with_problems(mut self, problems: Diagnostics) -> Self {
        self.problems.extend(problems);
        self
    }

    /// A failure whose message was printed already.
    pub fn reported(exit: ExitCode) -> Self {
        Self::with_errors(exit, Vec::new())
    }

    /// What failed, each with what to do about it, and the problems of documents.
    pub fn into_parts(self) -> (Vec<ErrorText>, Diagnostics) {
        (self.errors, self.problems)
    }

    /// All errors as one, for a journal.
    pub fn to_error(&self) -> ErrorText {
        ErrorText {
            message: join(self.messages(), "; "),
            help: self.errors.iter().flat_map(|error| error.help.clone()).collect(),
        }
    }

    fn messages(&self) -> impl Iterator<Item = &str> {
        let problems = self.problems.iter().map(|problem| problem.message.as_str());
        self.errors.iter().map(|error| error.message.as_str()).chain(problems)
    }

    /// Reports the failure on standard error, as JSON in one line if that is the format of the command's result.
    /// Standard output has a result or nothing.
    pub fn report_as(&self, output: OutputFormat) {
        let is_reported = self.errors.is_empty() && self.problems.iter().next().is_none();
        match output {
            OutputFormat::Json if !is_reported => terminal::note_json(&FailureReport {
                exit_code: self.exit.into(),
                errors: &self.errors,
                problems: &self.problems,
                approval: &self.approval,
            }),
            _ => self.report(),
        }
    }

    /// Prints problems and errors to standard error, unless they were printed already.
    pub fn report(&self) {
        for error in &self.errors {
            let label = if error.message.is_empty() { "" } else { "error: " };
            terminal::note_error(&error.clone().in_context(label));
        }
        terminal::print_problems(&self.problems);
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuch { .. }
            | StoreError::Ambiguous { .. }
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

impl From<RejudgeError> for Failure {
    fn from(error: RejudgeError) -> Self {
        match error {
            RejudgeError::Run(error) => error.into(),
            RejudgeError::Recipe(error) => Self::usage(ErrorText::of(&error)),
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        let text = ErrorText::of(&error);
        match error {
            CatalogError::Text(problems) => Self::of_problems(problems),
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
