//! Compares each cell with its baseline.

use super::subject::{AlignedSubjects, JudgedSubject};
use crate::BatchPlan;
use retrial_results::verdict::comparison::{
    ComparedFigure, ComparisonOptions, FigurePair, corrected_changes, pair_up, sentence,
};

/// The differences of all cells, by the position of the cell, and notes on them. A cell is compared with its
/// baseline where both have figures.
pub(super) fn compare_with_baselines(
    plan: &BatchPlan,
    subjects: &[JudgedSubject],
    paired: bool,
) -> (Vec<(usize, ComparedFigure)>, Vec<String>) {
    let confidence = plan.execution.confidence;
    let cells = plan.all_cells().enumerate();
    let compared_cells = cells.filter_map(|(position, cell)| {
        let name = cell.baseline.as_ref()?;
        let baseline = plan.all_cells().position(|other| other.name == *name)?;
        let (candidate, baseline) = (&subjects[position], &subjects[baseline]);
        let both = !candidate.rounds.is_empty() && !baseline.rounds.is_empty();
        both.then(|| (position, AlignedSubjects::new(baseline, candidate, paired)))
    });
    let cuts: Vec<(usize, AlignedSubjects<'_>)> = compared_cells.collect();
    let sides: Vec<_> = cuts.iter().map(|(_, cut)| cut.sides()).collect();
    let cut_notes = cuts.iter().flat_map(|(_, cut)| cut.notes.clone());
    let mut notes: Vec<String> = cut_notes.collect();
    let mut pairs: Vec<FigurePair<'_>> = Vec::new();
    let mut cells = Vec::new();
    for ((cell, cut), [baseline, candidate]) in cuts.iter().zip(&sides) {
        let mut own = Vec::new();
        let is_side =
            |one: &JudgedSubject| cut.subjects.iter().any(|side| std::ptr::eq(*side, one));
        let others = subjects.iter().filter(|one| !is_side(one));
        let rounds = others.flat_map(|one| &one.rounds);
        let others: Vec<_> = rounds.map(|rounds| &rounds.measurement).collect();
        pair_up([baseline, candidate], &others, paired, &mut pairs, &mut own);
        // A failed cell already reports that it has no figures.
        if !cut.subjects.iter().any(|subject| subject.has_failed()) {
            notes.extend(own);
        }
        cells.resize(pairs.len(), *cell);
    }
    let alpha = 1.0 - confidence;
    let options = ComparisonOptions { confidence, paired, fail_if: None };
    let corrected_changes = corrected_changes(&pairs, alpha);
    let changed_pairs = pairs.iter().zip(corrected_changes).zip(cells);
    let differences = changed_pairs.map(|((pair, change), cell)| {
        let mut figure = pair.to_compared_figure(alpha, change, None);
        figure.sentence = sentence(pair, &figure, &options);
        (cell, figure)
    });
    (differences.collect(), notes)
}
