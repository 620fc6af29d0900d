//! Each cell next to its baseline.

use super::subject::{Cut, Subject};
use retrial_results::verdict::comparison::{
    ComparedFigure, Options, Pair, changes, pair_up, sentence,
};

/// A cell and what it is compared with.
pub(super) struct ComparedCell<'a> {
    /// The position of the cell.
    pub cell: usize,
    pub candidate: &'a Subject,
    pub baseline: &'a Subject,
}

/// The differences of all cells, by the position of the cell, and notes on them.
pub(super) fn differences(
    all: &[ComparedCell<'_>],
    paired: bool,
    confidence: f64,
) -> (Vec<(usize, ComparedFigure)>, Vec<String>) {
    let cuts = all.iter();
    let cuts: Vec<Cut<'_>> = cuts
        .map(|compared| Cut::new(compared.baseline, compared.candidate, paired))
        .collect();
    let sides: Vec<_> = cuts.iter().map(Cut::sides).collect();
    let mut notes: Vec<String> = cuts.iter().flat_map(|cut| cut.notes.clone()).collect();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut cells = Vec::new();
    for (compared, [baseline, candidate]) in all.iter().zip(&sides) {
        let mut own = Vec::new();
        pair_up(baseline, candidate, paired, &mut pairs, &mut own);
        // A failed cell already reports that it has no figures.
        if !compared.candidate.has_failed() && !compared.baseline.has_failed() {
            notes.extend(own);
        }
        cells.resize(pairs.len(), compared.cell);
    }
    let alpha = 1.0 - confidence;
    let options = Options {
        confidence,
        paired,
        fail_if: None,
    };
    let changes = changes(&pairs, alpha);
    let differences = pairs.iter().zip(changes).zip(cells);
    let differences = differences.map(|((pair, change), cell)| {
        let mut figure = pair.finish(alpha, change, None);
        figure.sentence = sentence(pair, &figure, &options);
        (cell, figure)
    });
    (differences.collect(), notes)
}
