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
        /// The Slurm program: `sbatch`, `squeue`, …
        program: &'static str,
        /// Why the operating system did not start it.
        #[source]
        source: std::io::Error,
    },
    /// The program failed: the request was rejected, or Slurm does not respond.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// The Slurm program: `sbatch`, `squeue`, …
        program: &'static str,
        /// Its standard error, or its exit status if that is empty.
        message: String,
    },
    /// It did not answer within its timeout and was killed.
    #[error("`{program}` did not answer within {seconds} s")]
    NoResponse {
        /// The Slurm program: `sbatch`, `squeue`, …
        program: &'static str,
        /// How long its answer was waited for, seconds.
        seconds: u64,
    },
    /// The cluster has no arrays, or does not report their maximum size.
    #[error("`scontrol show config` printed no MaxArraySize")]
    NoArrays,
    /// The program succeeded, and printed no job id.
    #[error("`{program}` printed no job id: {printed:?}")]
    NoId {
        /// The Slurm program: `sbatch`.
        program: &'static str,
        /// What it printed in place of the expected answer.
        printed: String,
    },
}
