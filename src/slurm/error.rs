//! What can go wrong with Slurm's programs.

use thiserror::Error;

/// A call of one of Slurm's programs that failed.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The program cannot be started.
    #[error(
        "failed to start `{program}`: {source}\n  run this on a login host of the site, with Slurm's programs in PATH"
    )]
    Start {
        /// Its name.
        program: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// It ended with an error: what it asks for was refused, or Slurm does not answer.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// Its name.
        program: &'static str,
        /// What it said.
        message: String,
    },
    /// It took too long.
    #[error("`{program}` did not answer within {seconds} s")]
    Silent {
        /// Its name.
        program: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The cluster has no arrays, or does not say how long they may be.
    #[error("`scontrol show config` printed no MaxArraySize")]
    NoArrays,
    /// It printed something else than it should.
    #[error("`{program}` printed no job id: {printed:?}")]
    NoId {
        /// Its name.
        program: &'static str,
        /// What it printed.
        printed: String,
    },
}
