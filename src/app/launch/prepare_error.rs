//! Why a run cannot start on its host.

use crate::app::failure::Failure;

/// A run that cannot start on its host.
#[derive(Debug)]
pub struct PrepareError {
    pub failure: Failure,
    /// The targets of its GPUs, if the only reason is that the image has no code for them.
    pub unsupported_targets: Vec<String>,
}

impl From<Failure> for PrepareError {
    fn from(failure: Failure) -> Self {
        Self { failure, unsupported_targets: Vec::new() }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        error.failure
    }
}
