//! Summaries of runs: read from the runs' files, stored in an index, filtered, sorted and grouped.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod by;
mod choose;
pub mod earlier;
pub mod entry;
pub mod index;
mod run_summary;

pub use by::{ComparableRuns, GroupedRuns, PROPERTIES, by};
pub use choose::{RunFilter, STATES, SortKey, order};
pub use index::RunIndex;
pub use run_summary::{DecidingFigure, RunState, RunSummary};
