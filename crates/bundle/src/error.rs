//! Errors of bundles.

use std::io;

use miette::Diagnostic;
use retrial_store::OverLimit;
use thiserror::Error;

/// An error of a bundle.
#[derive(Debug, Error, Diagnostic)]
pub enum BundleError {
    /// It cannot be read.
    #[error("failed to read it: {0}")]
    Read(#[source] io::Error),
    /// A file of it cannot be written.
    #[error("failed to write {path}: {source}")]
    Write {
        /// The file.
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
    /// It unpacks to more than is allowed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    TooLarge(#[from] OverLimit),
    /// A part of it cannot be serialized.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A file of it is not the one of the manifest.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// How it differs.
        reason: &'static str,
    },
    /// A file changed while it was packed.
    #[error("{path} changed while it was packed")]
    Changed {
        /// The file.
        path: String,
    },
}

impl BundleError {
    /// A bundle that is not as `runs pack` writes it.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    /// Returns whether the machine is at fault, not the bundle.
    pub fn is_of_host(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Write { .. })
    }
}
