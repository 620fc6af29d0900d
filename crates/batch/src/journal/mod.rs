//! What happens in a batch, and where it stands according to that. Its runs keep journals of their
//! own: here stands which trial run is which run, and how that ended.

mod event;
mod state;

pub use event::{BatchEvent, BatchEventKind, TrialRunEnd, TrialRunFigure};
pub use state::{BatchState, Next, TrialRunState};
