//! Errors of Slurm's programs.

use miette::Diagnostic;
use thiserror::Error;

/// A call of one of Slurm's programs that failed.
#[derive(Debug, Error, Diagnostic)]
pub enum SlurmError {
    /// The program cannot be started.
    #[error("failed to start `{program}`: {source}")]
    #[diagnostic(help("run this on a login host of the site, with Slurm's programs in PATH"))]
    Start {
        /// Its name.
        program: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// It ended with an error: the request was rejected, or Slurm does not respond.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// Its name.
        program: &'static str,
        /// Its error output.
        message: String,
    },
    /// It timed out.
    #[error("`{program}` did not answer within {seconds} s")]
    Silent {
        /// Its name.
        program: &'static str,
        /// The timeout.
        seconds: u64,
    },
    /// The cluster has no arrays, or does not report their maximum size.
    #[error("`scontrol show config` printed no MaxArraySize")]
    NoArrays,
    /// It printed unexpected output.
    #[error("`{program}` printed no job id: {printed:?}")]
    NoId {
        /// Its name.
        program: &'static str,
        /// Its output.
        printed: String,
    },
}
