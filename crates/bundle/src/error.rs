//! Errors of bundles.

use std::io;

use miette::Diagnostic;
use retrial_store::OverLimit;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
pub enum BundleError {
    /// The archive cannot be read.
    #[error("failed to read it: {0}")]
    Read(#[source] io::Error),
    /// A file that is unpacked, or the archive itself, cannot be written.
    #[error("failed to write {path}: {source}")]
    Write {
        /// The path of the file, or `the archive`.
        path: String,
        #[source]
        source: io::Error,
    },
    /// The file does not begin like a bundle.
    #[error("it is not a bundle of `retrial runs pack`: {0}")]
    NotABundle(&'static str),
    /// The archive is not as `runs pack` writes it.
    #[error("{0}")]
    Malformed(String),
    /// It unpacks to more than is allowed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    TooLarge(#[from] OverLimit),
    /// A part of the bundle cannot be serialized.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A file of the archive differs from its manifest.
    #[error("{path}: {reason}")]
    File {
        /// The path of the file below the run's directory.
        path: String,
        /// How the file differs: `it is truncated`.
        reason: &'static str,
    },
    /// A file changed while it was packed.
    #[error("{path} changed while it was packed")]
    Changed {
        /// The path of the file below the run's directory.
        path: String,
    },
}

impl BundleError {
    /// A bundle that is not as `runs pack` writes it.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    /// Returns whether the machine failed, and not the bundle.
    pub fn is_host_fault(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Write { .. })
    }
}
