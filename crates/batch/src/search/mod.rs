//! A search along one axis: a batch whose next cell is chosen from the results so far.
//!
//! ```text
//! runs that ended ──observe──▶ trials ──Course::next──▶ the next cell, or the end ──▶ SearchVerdict
//! ```
//!
//! The statistics are `retrial_stats::search`. The cells are the positions, in their order; a cell
//! that cannot be measured is skipped, and the search continues without it. Pure: the same runs in
//! the same order give the same step, so that a search continues wherever it was interrupted.

mod criterion;
mod judge;
mod model;
mod observe;
mod search_state;
mod sentence;
mod tag_order;

pub use criterion::{Criterion, CriterionError, SearchPlan};
pub use judge::judge_search;
pub use model::{SearchOutcome, SearchTrial, SearchVerdict};
pub use observe::{ObservedFigure, RunObservation, observe_run};
pub use search_state::{ObservedTrial, SearchState};
pub use tag_order::{InvalidTagPattern, TagOrder, TagPattern, Unordered};

/// Fewer positions are a comparison.
pub const MIN_SEARCH_VALUES: usize = 3;
/// More positions than this are too many.
pub const MAX_SEARCH_VALUES: usize = 64;

#[cfg(test)]
mod tests;
