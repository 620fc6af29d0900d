//! Summaries of runs: read from the runs' files, stored in an index, filtered, sorted and grouped.

mod by;
mod choose;
pub mod earlier;
pub mod entry;
pub mod index;
mod run_summary;

pub use by::{ComparableRuns, GroupedRuns, PROPERTIES, by};
pub use choose::{Filter, Order, STATES, order};
pub use index::Index;
pub use run_summary::{Deciding, RunState, RunSummary};
