//! What happens in a batch, and where it stands according to that. Its runs keep journals of their
//! own: here stands which turn is which run, and how that ended.

mod event;
mod state;

pub use event::{BatchEvent, BatchWhat, TurnEnd, TurnFigure};
pub use state::{BatchState, Next, TurnState};
