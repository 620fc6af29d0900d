//! The verdicts of batches' cells: several trials of a cell are judged together, and what one of them shows alone is no
//! verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::{DecidingFigure, JudgedCell, RunSummary};
use retrial_results::verdict::{Outcome, Verdict};
use retrial_store::RecordDirectory;

/// A batch's verdict, as far as it is about its runs.
#[derive(Deserialize)]
struct StoredBatch {
    cells: Vec<StoredCell>,
}

#[derive(Deserialize)]
struct StoredCell {
    runs: Vec<StoredRun>,
    /// The number of planned trials.
    trials: u32,
    outcome: Option<Outcome>,
    sentence: String,
    verdict: Option<Verdict>,
}

#[derive(Deserialize)]
struct StoredRun {
    run: String,
    lost: Option<String>,
}

impl StoredCell {
    /// The number of trials with evidence.
    fn measured_trials(&self) -> usize {
        self.runs.iter().filter(|run| run.lost.is_none()).count()
    }

    /// Returns its outcome; none while trials that are still missing may decide.
    fn final_outcome(&self) -> Option<Outcome> {
        let is_whole = self.measured_trials() >= self.trials as usize;
        self.outcome.filter(|outcome| is_whole || *outcome != Outcome::Inconclusive)
    }
}

/// Gives runs that are trials of a batch's cell the verdict of the cell, where it has one, next to their own. A run that
/// is invalid or has failed by itself decides by itself.
pub(crate) fn apply_cell_verdicts(batches: &Path, rows: &mut [RunSummary]) {
    let is_judged = |row: &&RunSummary| row.outcome.is_some_and(|own| own < Outcome::Invalid);
    let positions = rows.iter().filter(is_judged).filter_map(RunSummary::local_batch);
    // A plan is a file that anybody may have written.
    let ids: BTreeSet<String> = positions
        .filter(|position| RecordDirectory::is_valid_id(&position.id))
        .map(|position| position.id.clone())
        .collect();
    let mut cells = BTreeMap::new();
    for id in &ids {
        let directory = RecordDirectory::from_path(batches.join(id));
        let Ok(batch) = directory.read_json::<StoredBatch>("verdict.json") else {
            continue;
        };
        for cell in batch.cells {
            let cell = std::rc::Rc::new(cell);
            cells.extend(cell.runs.iter().map(|run| (run.run.clone(), cell.clone())));
        }
    }
    for row in rows.iter_mut().filter(|row| is_judged(&&**row)) {
        let Some((cell, outcome)) =
            cells.get(&row.id).and_then(|cell| Some((cell, cell.final_outcome()?)))
        else {
            continue;
        };
        let verdict = cell.verdict.as_ref();
        row.cell = Some(JudgedCell {
            trials: cell.measured_trials(),
            outcome,
            qualifiers: verdict.map_or_else(
                || row.qualifiers.clone(),
                |verdict| verdict.qualified_outcome().kinds,
            ),
            sentence: cell.sentence.clone(),
            deciding: verdict.and_then(DecidingFigure::from_verdict),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use retrial_plan::BatchPosition;

    #[test]
    fn a_trial_has_the_verdict_of_its_cell() {
        let batches = tempfile::tempdir().unwrap();
        let directory = batches.path().join("b");
        fs::create_dir(&directory).unwrap();
        let cells = r#"{"cells": [
            {"trials": 3, "runs": [{"run": "1"}, {"run": "2"}, {"run": "3"}], "outcome": "reproduced", "sentence": "It holds.", "verdict": null},
            {"trials": 2, "runs": [{"run": "4"}, {"run": "5", "lost": "stopped"}], "outcome": "inconclusive", "sentence": "", "verdict": null},
            {"trials": 1, "runs": [{"run": "6"}], "outcome": "inconclusive", "sentence": "", "verdict": null}]}"#;
        fs::write(directory.join("verdict.json"), cells).unwrap();
        let row = |id: &str, outcome| RunSummary {
            id: id.to_owned(),
            outcome: Some(outcome),
            batch: Some(BatchPosition { id: "b".to_owned(), cell: String::new(), trial: 1 }),
            ..RunSummary::default()
        };
        let open = Outcome::Inconclusive;
        let outcomes = [("1", open), ("2", Outcome::Failed), ("3", open), ("4", open), ("6", open)];
        let mut rows = outcomes.map(|(id, outcome)| row(id, outcome));
        apply_cell_verdicts(batches.path(), &mut rows);
        let found = rows.each_ref().map(|row| {
            let verdict = row.deciding_verdict().unwrap();
            (verdict.outcome.outcome, verdict.trials)
        });
        let of_cell = (Outcome::Reproduced, 3);
        assert_eq!(found, [of_cell, (Outcome::Failed, 1), of_cell, (open, 1), (open, 1)]);
        assert_eq!(rows.each_ref().map(|row| row.cell.is_some()), [true, false, true, false, true]);
        assert_eq!(rows[0].deciding_verdict().unwrap().sentence, "It holds.");
        assert_eq!(rows.each_ref().map(|row| row.outcome.unwrap()), outcomes.map(|(_, own)| own));
    }
}
