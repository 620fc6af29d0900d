//! What happens in a run, and in a batch of runs: the events that reporters show and the journal keeps, and where a
//! run stands according to them. Pure; the file is the store's.

pub mod event;
mod file;
mod reason;
pub mod state;
mod step_end;

pub use event::{
    CacheMounted, Event, ImageDifference, Transfer, TransferState, TransferUnit, What,
};
pub use file::Journal;
pub use reason::{AbortReason, SkipReason};
pub use state::State;
pub use step_end::{StepEnd, StepFault};
