//! Executes a batch: each turn of its schedule as an ordinary run.
//!
//! What a turn is, how it ended, and in which run, is in the batch's journal before the next thing
//! begins; the run keeps its own. So a kill at any point loses nothing: whoever takes the batch up
//! reuses what ended, and goes on with a run that was interrupted as `retrial resume` does.
//!
//! - `session`: one process's hold on a batch.
//! - `execute`: the lanes; each takes its turns one after the other.
//! - `turn`: one turn: begun, gone on with, tried again.
//! - `images`: pulled ahead.

mod error;
mod evidence;
mod execute;
mod images;
mod lanes;
mod make;
mod session;
mod turn;

pub use error::BatchError;
pub use evidence::evidence_of_cells;
pub use execute::{BatchEnded, execute};
pub use lanes::{Lanes, lanes};
pub use make::{Makes, Refused};
pub use session::{BatchSession, Emitter, Seen, Taking};
