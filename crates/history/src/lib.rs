//! Summaries of runs: read from the runs' files, stored in an index, filtered, sorted and grouped.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod axis_groups;
mod cell_outcome;
pub mod earlier_run;
pub mod entry;
mod facets;
pub mod index;
mod release_order;
mod run_summary;
mod selection;

pub use axis_groups::{COMPARABLE_PROPERTIES, ComparableRuns, GroupedRuns, group_by_axis};
pub use facets::{FacetFilter, Facets, STATE_WORDS, names_value, parse_outcome};
pub use index::RunIndex;
pub use release_order::AxisOrder;
pub use run_summary::{DecidingFigure, JudgedCell, RunState, RunSummary, RunVerdict};
pub use selection::{RunFilter, SortKey, sort_runs};
