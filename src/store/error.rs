//! What can go wrong with run directories.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

words! {
    /// What is looked for.
    pub enum RecordKind {
        /// A run.
        Run = "run",
        /// A batch.
        Batch = "batch",
    }
}

impl RecordKind {
    /// Several of them.
    pub fn several(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Batch => "batches",
        }
    }
}

/// A fault with a run's files.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Reading or writing failed.
    #[error("failed to {doing} {path}: {source}{advice}", path = path.display(), advice = advice(source))]
    Io {
        /// `read`, `write`, …
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file that is not what it should be.
    #[error("{path} cannot be used: {reason}", path = path.display())]
    Unusable {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// An archive that holds more than it may.
    #[error("{path} holds more than {limit}: {reason}", path = path.display())]
    TooLarge {
        /// The archive, or the directory that it is made of.
        path: PathBuf,
        /// What it may hold.
        limit: String,
        /// Which part of it is too much.
        reason: String,
    },
    /// No run or batch of that name.
    #[error("there is no {kind} {requested:?} in {among}{hint}", among = among.display())]
    NoSuch {
        /// What was looked for.
        kind: RecordKind,
        /// What was typed.
        requested: String,
        /// Where they lie.
        among: PathBuf,
        /// How many it could be.
        matches: usize,
        /// Those that there are.
        hint: String,
    },
    /// Somebody else has the run.
    #[error(
        "run {run} is being followed by process {pid}\n  see it: retrial logs -f {run}    end it: retrial stop {run}"
    )]
    Busy {
        /// The run.
        run: String,
        /// Whose.
        pid: String,
    },
}

impl StoreError {
    /// Wraps an I/O error, for `map_err`.
    pub fn io<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |error| Self::Io {
            doing,
            path,
            source: error.into(),
        }
    }

    /// A file that is not what it should be.
    pub fn unusable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unusable {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    /// Wraps an error of reading or writing JSON, for `map_err`.
    pub fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        move |error| Self::unusable(path, error.to_string())
    }

    /// The same as a fragment without the path, for a reader who knows which file: `it is missing`.
    pub fn reason(&self) -> String {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "it is missing".to_owned()
            }
            Self::Io { source, .. } => format!("it cannot be read: {source}"),
            Self::Unusable { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_disk_full(source))
    }
}

/// Whether an error says that the disk, or a quota, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

fn advice(error: &io::Error) -> &'static str {
    if is_disk_full(error) {
        "\n  free some space, or keep runs elsewhere: --home DIR"
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        "\n  it belongs to another user; store runs elsewhere: --home DIR"
    } else {
        ""
    }
}
