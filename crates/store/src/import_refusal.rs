//! The reasons why a run is not imported.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use super::error::StoreError;

/// An error of whoever judges a run that is imported; this crate does not know how runs are judged.
pub type RejudgeError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a run is not imported.
#[derive(Debug, Error, Diagnostic)]
pub enum ImportRefusal {
    /// The name of its directory is no id.
    #[error("that is not the name of a run")]
    Name,
    /// No plan that this version reads.
    #[error("plan.json: {}", .0.reason_without_path())]
    Plan(#[source] StoreError),
    /// No journal that this version reads.
    #[error("its journal: {}", .0.reason_without_path())]
    Journal(#[source] StoreError),
    /// A directory that was renamed, or holds another run's journal.
    #[error("it is not a run of this name: its journal belongs to {owner}")]
    OtherJournal {
        /// The id in the journal, or `no run`.
        owner: String,
    },
    /// The id is taken.
    #[error("a different run of this name is in {}, or a longer copy of this one", runs.display())]
    #[diagnostic(help("move it away first"))]
    Taken {
        /// The directory of all runs.
        runs: PathBuf,
    },
    /// It cannot be judged by its files.
    #[error(transparent)]
    Rejudge(RejudgeError),
    /// It cannot be moved among the runs.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}
