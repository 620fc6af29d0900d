//! The evidence of a batch's verdict.

use crate::journal::{CellFailure, RunStart};
use retrial_results::verdict::{Evidence, ExitCode, RunContext};

/// The runs of a cell, or those of another host.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectEvidence {
    /// The cell's name, or the name of the other host's runs in claims.
    pub name: String,
    /// The runs, in the order of trials.
    pub runs: Vec<RunEvidence>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunEvidence {
    /// The run's id; empty if it was not started.
    pub run: String,
    /// The number of its cell's trial, from 1; another host's runs are counted.
    pub trial: u32,
    /// Its start in the batch; none of a run that it did not start, or of a task of an array.
    pub start: Option<RunStart>,
    /// The evidence of its results, or why there is none.
    pub evidence: Result<(RunContext, Vec<Evidence>), LostRun>,
    /// The failure of its cell by itself, if it ended by one.
    pub failure: Option<CellFailure>,
}

/// A run without evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRun {
    /// Why it has no evidence.
    pub reason: String,
    /// The exit code that it contributes to the batch's.
    pub exit: ExitCode,
}

/// Returns the failure of a cell by itself: none if a run of it ended in another way.
pub(super) fn find_own_failure(runs: &[RunEvidence]) -> Option<&CellFailure> {
    let has_other_end = runs.iter().any(|run| run.failure.is_none() && run.evidence.is_ok());
    runs.iter().find_map(|run| run.failure.as_ref()).filter(|_| !has_other_end)
}
