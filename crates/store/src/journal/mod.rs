//! Events of a run and of a batch of runs, for reporters and the journal, and the state that follows from them.
//! Pure, except for the file.

pub mod event;
mod file;
pub mod history;
mod reason;
pub mod state;
mod step_end;
mod transfer;
mod unreadable_line;

pub use event::{CacheIdentity, CacheMount, Event, EventKind, ImageDifference, LiveEvent};
pub use file::{Journal, JournalEntries};
pub use history::History;
pub use reason::{AbortReason, SkipReason};
pub use state::JournalState;
pub use step_end::{StepEnd, StepFault};
pub use transfer::{Transfer, TransferState, TransferUnit};
pub use unreadable_line::UnreadableLine;
