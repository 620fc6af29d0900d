//! A batch as it is planned: batch.json.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::search::SearchPlan;
use super::{BatchClaim, BatchExecution, Cell, ExcludedCell, ExternalResult, Schedule, TrialRun};

/// A planned batch: cells, schedule and claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchPlan {
    /// The version of this document's format.
    pub schema: u32,
    /// The batch's file, absolute: its author sets what the cells have of their own. None of a batch from a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The title: what is compared, and on which system, in one line.
    pub title: String,
    pub execution: BatchExecution,
    /// The axes in order, with the values that cells have; several recipes are the first, `recipe`.
    pub axes: Vec<(String, Vec<String>)>,
    /// The cells that are run, each with its trials.
    pub cells: Vec<Cell>,
    /// The cells that other hosts measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_cells: Vec<Cell>,
    /// The combinations that are not run, with reasons.
    pub excluded: Vec<ExcludedCell>,
    /// The trial runs, in their order.
    pub schedule: Schedule,
    /// Runs of other hosts.
    pub external_results: Vec<ExternalResult>,
    /// The claims, with the cells that they compare.
    pub claims: Vec<BatchClaim>,
    /// What changes together between cells that are compared, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint_changes: Vec<String>,
    /// The claims were changed after a run had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restated: bool,
    /// The search along its cells; none for a batch that runs all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchPlan>,
}

impl BatchPlan {
    /// Returns the cells that are run, then those that other hosts measured.
    pub fn all_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().chain(&self.external_cells)
    }

    /// Returns the number of its runs; none of a search, which decides on the way.
    pub fn planned_runs(&self) -> Option<usize> {
        self.search.is_none().then_some(self.schedule.trial_runs.len())
    }

    /// A trial run by its number, from 1. The schedule of a search is one round; further trials of
    /// the cells have the numbers of further rounds.
    pub fn trial_run(&self, number: usize) -> Option<TrialRun> {
        let (round, at) = match (&self.search, self.cells.len()) {
            (Some(_), cells @ 1..) => (number.checked_sub(1)? / cells, (number - 1) % cells),
            _ => (0, number.checked_sub(1)?),
        };
        let mut trial_run = self.schedule.trial_runs.get(at)?.clone();
        trial_run.trial += u32::try_from(round).ok()?;
        Some(trial_run)
    }

    pub fn trial_run_with_cell(&self, number: usize) -> Option<(TrialRun, &Cell)> {
        let trial_run = self.trial_run(number)?;
        let cell = self.cells.get(trial_run.cell)?;
        Some((trial_run, cell))
    }
}
