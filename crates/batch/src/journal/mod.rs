//! The events of a batch, and the state that they lead to. Its runs keep journals of their own: this one records which
//! run executes a trial run, and how that ended.

mod cell_failure;
mod event;
mod state;

pub use cell_failure::CellFailure;
pub use event::{BatchEvent, BatchEventKind, TrialRunEnd, TrialRunFigure};
pub use state::{BatchState, RunStart, TrialRunAction, TrialRunState};
