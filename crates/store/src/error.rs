//! Errors of run directories.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use retrial_document::list_choices;
use thiserror::Error;

use super::journal::UnreadableLine;
use super::lock_holder::LockHolder;

retrial_document::words! {
    /// The kind of record.
    pub enum RecordKind {
        /// A directory below `runs`, with one plan and its journal.
        Run = "run",
        /// A directory below `batches`, which names its runs.
        Batch = "batch",
    }
}

impl RecordKind {
    /// Returns the word's plural, for messages.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Batch => "batches",
        }
    }
}

/// A fault with a run's files.
#[derive(Debug, Error, Diagnostic)]
pub enum StoreError {
    /// Reading or writing failed.
    #[error("failed to {doing} {path}: {source}", path = path.display())]
    Io {
        /// What failed, as a verb before the path: `read`, `write`, …
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
        /// The remedy, if the cause has one.
        #[help]
        help: Option<&'static str>,
    },
    /// A file or directory that has the wrong type, content or owner.
    #[error("{path} cannot be used: {reason}", path = path.display())]
    Unusable {
        path: PathBuf,
        /// What is wrong with it, as a fragment: `it is a link`.
        reason: String,
    },
    /// A journal with a line that cannot be read.
    #[error("{path} is damaged: {line}", path = path.display())]
    #[diagnostic(help(
        "what its run did is unknown: judge what is left (retrial judge DIR), or start a new run"
    ))]
    Damaged {
        /// The journal.
        path: PathBuf,
        line: UnreadableLine,
    },
    /// An archive that exceeds its limits.
    #[error("{path} holds more than {limit}: {reason}", path = path.display())]
    TooLarge {
        /// The archive, or the directory that it is made from.
        path: PathBuf,
        /// The limit, with its unit: `64 GiB`, `100000 files and directories`.
        limit: String,
        /// The part that exceeds it.
        reason: String,
        /// How to allow it, if that is possible.
        #[help]
        help: Option<String>,
    },
    /// No run or batch of that name.
    #[error("there is no {kind} {requested:?} in {among}", among = among.display())]
    NoSuch {
        kind: RecordKind,
        /// The name as the user wrote it: an id, a part of one, or `last`.
        requested: String,
        /// The directory that was searched.
        among: PathBuf,
        /// The name that is probably meant, or the latest ones.
        #[help]
        help: Option<String>,
    },
    /// Several runs or batches whose ids have a part like this.
    #[error("{requested:?} is part of the names of {} {}", choices.len(), kind.plural())]
    #[diagnostic(help("{}", list_choices(choices)))]
    Ambiguous {
        kind: RecordKind,
        /// The name as the user wrote it.
        requested: String,
        /// The ids, newest first.
        choices: Vec<String>,
    },
    /// A path that leads to something else than a run or a batch.
    #[error("{path} is not the directory of a {kind}: it has no journal", path = path.display())]
    NotARecord {
        /// The kind of record that was looked for.
        kind: RecordKind,
        /// The path, as the user wrote it.
        path: PathBuf,
    },
    /// A path at which nothing exists.
    #[error("no such file or directory: {path}", path = path.display())]
    NoPath {
        /// The path, as the user wrote it.
        path: PathBuf,
    },
    /// A directory of a run disappeared while a process executed it.
    #[error("{path} was removed while the run was executed: its evidence is lost, and its benchmark was ended", path = path.display())]
    Removed {
        /// The directory of the run that disappeared.
        path: PathBuf,
    },
    /// Another process has the run.
    #[error("run {run} is being followed by {holder}")]
    #[diagnostic(help("see it: retrial attach {run}    end it: retrial stop {run}"))]
    Busy {
        /// The id of the run that the other process has.
        run: String,
        /// The process that executes the run, as its lock file names it.
        holder: Box<LockHolder>,
    },
}

impl StoreError {
    /// Wraps an I/O error, for `map_err`.
    pub fn io<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let owned_path = path.to_owned();
        move |error| {
            let source = error.into();
            Self::Io { doing, path: owned_path, help: remedy(&source), source }
        }
    }

    /// Returns the error of a file or directory that cannot be used, with the reason as a fragment.
    pub fn unusable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unusable { path: path.to_owned(), reason: reason.into() }
    }

    /// An archive that exceeds a limit.
    pub fn too_large(path: &Path, limit: String, reason: String) -> Self {
        Self::TooLarge { path: path.to_owned(), limit, reason, help: None }
    }

    /// Wraps an error of reading or writing JSON, for `map_err`.
    pub fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        move |error| Self::unusable(path, error.to_string())
    }

    /// The same as a fragment without the path, for a context that names the file: `it is missing`.
    pub fn reason_without_path(&self) -> String {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "it is missing".to_owned()
            }
            Self::Io { source, .. } => format!("it cannot be read: {source}"),
            Self::Unusable { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }

    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_disk_full(source))
    }
}

/// Returns whether an error means that the disk, or a quota, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn remedy(error: &io::Error) -> Option<&'static str> {
    if is_disk_full(error) {
        Some("free some space, or keep runs elsewhere: --home DIR")
    } else if error.kind() == io::ErrorKind::FileTooLarge {
        Some("raise the limit on the size of files: ulimit -f unlimited")
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        Some("it belongs to another user; store runs elsewhere: --home DIR")
    } else {
        None
    }
}
