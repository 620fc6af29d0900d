//! What is known of a run at a glance, and how runs are chosen and ordered by it. Pure: a row is
//! made of a run's files by `evidence`, kept by the store's index, and shown by reports.

mod by;
mod choose;
pub mod entry;
pub mod index;
mod run_summary;

pub use by::{Grouped, PLACES, Together, by};
pub use choose::{Filter, Order, STATES, order};
pub use index::Index;
pub use run_summary::{Deciding, RunState, RunSummary};
