//! The verdicts of batches' cells: several trials of a cell are judged together, and what one of them shows alone is no
//! verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::RunSummary;
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
    outcome: Option<Outcome>,
    sentence: String,
    verdict: Option<Verdict>,
}

#[derive(Deserialize)]
struct StoredRun {
    run: String,
}

/// Gives runs that are trials of a batch's cell the verdict of the cell, where it has several and was judged. A run that
/// is invalid or has failed by itself stays so.
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
        for cell in batch.cells.into_iter().filter(|cell| cell.runs.len() > 1) {
            let cell = std::rc::Rc::new(cell);
            cells.extend(cell.runs.iter().map(|run| (run.run.clone(), cell.clone())));
        }
    }
    for row in rows.iter_mut().filter(|row| is_judged(&&**row)) {
        let Some((cell, outcome)) = cells.get(&row.id).and_then(|cell| Some((cell, cell.outcome?)))
        else {
            continue;
        };
        if let Some(verdict) = &cell.verdict {
            row.fill_from_verdict(verdict);
        }
        row.outcome = Some(outcome);
        row.sentence.clone_from(&cell.sentence);
        row.cell_trials = Some(cell.runs.len());
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
            {"runs": [{"run": "1"}, {"run": "2"}, {"run": "3"}], "outcome": "reproduced", "sentence": "It holds.", "verdict": null},
            {"runs": [{"run": "4"}], "outcome": "reproduced", "sentence": "", "verdict": null}]}"#;
        fs::write(directory.join("verdict.json"), cells).unwrap();
        let row = |id: &str, outcome| RunSummary {
            id: id.to_owned(),
            outcome: Some(outcome),
            batch: Some(BatchPosition { id: "b".to_owned(), cell: String::new(), trial: 1 }),
            ..RunSummary::default()
        };
        let open = Outcome::Inconclusive;
        let mut rows = [row("1", open), row("2", Outcome::Failed), row("3", open), row("4", open)];
        apply_cell_verdicts(batches.path(), &mut rows);
        let found = rows.each_ref().map(|row| (row.outcome.unwrap(), row.cell_trials));
        let of_cell = (Outcome::Reproduced, Some(3));
        assert_eq!(found, [of_cell, (Outcome::Failed, None), of_cell, (open, None)]);
        assert_eq!(rows[0].sentence, "It holds.");
    }
}
