//! The verdict of a batch: the result of each cell, its ratio to the baseline, and what that shows
//! of each claim. Pure: trials of finished runs in, [`BatchVerdict`] out.
//!
//! 1. `pool`: the trials of a cell's runs are one sample, in the order of rounds.
//! 2. `subject`: two subjects are cut to the rounds that both have, where rounds were interleaved.
//! 3. `differences`: each cell compared with its baseline, corrected for all of them (Holm).
//! 4. `planned`: what a claim compares, by the plan; a missing part of it is undecided.
//! 5. `tester`: each part of a claim is one test; `claims`: corrected for all claims, by themselves.

mod cell_verdict;
mod claims;
mod differences;
mod evidence;
mod external;
mod judge;
mod model;
mod not_testable;
mod planned_pairs;
mod pool;
mod sentence;
mod subject;
mod tester;

pub use evidence::{LostRun, RunEvidence, SubjectEvidence};
pub use external::{ExternalRun, RunChoices, assign_to_cells};
pub use judge::judge_batch;
pub use model::{BatchAxis, BatchVerdict, CellEnvironments, CellRun, CellVerdict};

#[cfg(test)]
mod tests;
