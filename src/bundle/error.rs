//! What is wrong with a bundle.

use std::io;

use thiserror::Error;

/// What is wrong with a bundle.
#[derive(Debug, Error)]
pub enum BundleError {
    /// It cannot be read.
    #[error("failed to read it: {0}")]
    Read(#[source] io::Error),
    /// A file of it cannot be written.
    #[error("failed to write {path}: {source}")]
    Write {
        /// Which file.
        path: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It begins like something else.
    #[error("it is not a bundle of `retrial runs pack`: {0}")]
    NotABundle(&'static str),
    /// It is not as `runs pack` writes it.
    #[error("{0}")]
    Malformed(String),
    /// A part of it cannot be written as JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A file of it is not the one of the manifest.
    #[error("{path}: {reason}")]
    File {
        /// Which file.
        path: String,
        /// How it differs.
        reason: &'static str,
    },
    /// A file changed while it was packed.
    #[error("{path} changed while it was packed")]
    Changed {
        /// Which file.
        path: String,
    },
}

impl BundleError {
    /// A bundle that is not as `runs pack` writes it.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    /// Whether the fault is the machine's, not the bundle's.
    pub fn is_of_host(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Write { .. })
    }
}
