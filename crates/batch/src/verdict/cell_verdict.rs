//! The result of the runs of one cell.

use super::evidence::RunEvidence;
use super::model::{CellRun, CellVerdict};
use crate::NamedValues;
use retrial_results::verdict::Verdict;

impl CellVerdict {
    /// Creates the result of runs without a place among the cells of a batch.
    pub(super) fn from_runs<'a>(
        name: &str,
        verdict: Option<&Verdict>,
        runs: impl IntoIterator<Item = &'a RunEvidence>,
    ) -> Self {
        let cell_runs = runs.into_iter().map(|run| CellRun {
            run: run.run.clone(),
            trial: run.trial,
            start: run.start,
            lost: run.evidence.as_ref().err().map(|lost| lost.reason.clone()),
        });
        let runs: Vec<CellRun> = cell_runs.collect();
        let lost = runs.iter().rev().find_map(|run| run.lost.as_ref());
        Self {
            name: name.to_owned(),
            recipe: String::new(),
            external: None,
            axes: NamedValues::default(),
            is_baseline: false,
            against: None,
            trials: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            outcome: verdict.map(|verdict| verdict.outcome),
            failure: None,
            sentence: match (verdict, lost) {
                (Some(verdict), _) => verdict.sentence(),
                (None, Some(reason)) => format!("No run has a result: {reason}."),
                (None, None) => "It was not run.".to_owned(),
            },
            verdict: verdict.cloned(),
            runs,
            differences: Vec::new(),
        }
    }
}
