//! What `retrial stop` did.

use std::fmt;

/// The result of stopping a run or a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopResult {
    /// It was running.
    Stopped,
    AlreadyEnded,
    /// It had ended, and left its container.
    ContainerLeft,
    /// None of a batch's runs was running.
    NothingRunning,
    /// It has no job on its site.
    NoJob,
    /// This process was interrupted before the job had ended.
    Detached,
}

impl StopResult {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::AlreadyEnded => "already-ended",
            Self::ContainerLeft => "container-left",
            Self::NothingRunning => "nothing-running",
            Self::NoJob => "no-job",
            Self::Detached => "detached",
        }
    }
}

impl fmt::Display for StopResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stopped => "stopped",
            Self::AlreadyEnded => "already ended",
            Self::ContainerLeft => "already ended; its container still exists",
            Self::NothingRunning => "none of its runs is running",
            Self::NoJob => "it has no job to stop",
            Self::Detached => "detached; its job is being stopped",
        })
    }
}
