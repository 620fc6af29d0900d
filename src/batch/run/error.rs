//! Why a batch cannot go on at all. What goes wrong with one trial run is that trial run's end.

use thiserror::Error;

use crate::store::StoreError;

/// A fault of the batch as a whole.
#[derive(Debug, Error)]
pub enum BatchError {
    /// The batch's directory, or a run of it that somebody else has.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody else has the batch.
    #[error("batch {batch} is being executed by process {pid}\n  end it: retrial stop {batch}")]
    Busy {
        /// The batch.
        batch: String,
        /// Whose.
        pid: String,
    },
}
