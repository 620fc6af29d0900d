//! Charts of a comparison: each figure of each subject compared with the baseline's.

use itertools::join;

use super::verdict::drawable_bounds;
use super::{Chart, RatioChart, RatioRow};
use crate::figure_title::figure_title;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::comparison::{Change, ComparedFigure, Comparison, MeasuredSide};
use retrial_results::verdict::number;

/// More rows are several charts.
const MAX_CHART_ROWS: usize = 24;

/// Returns one chart for each scenario and mode that was compared.
pub fn comparison_charts(comparison: &Comparison) -> Vec<Chart> {
    let key = |figure: &ComparedFigure| (figure.benchmark.clone(), figure.scenario.clone());
    let mut figures: Vec<&ComparedFigure> = comparison
        .figures
        .iter()
        .filter(|figure| figure.mode == Mode::Performance && figure.ratio.is_some())
        .collect();
    figures.sort_by_key(|figure| key(figure));
    let groups = figures.chunk_by(|left, right| key(left) == key(right));
    let charts = groups.filter_map(|figures| {
        let first = figures[0];
        let letter = &first.baseline.subject;
        let mut subjects = comparison.subjects.iter();
        let baseline = subjects.find(|subject| subject.letter == *letter);
        let name = baseline.map_or(String::new(), |subject| format!(", {}", subject.name));
        let (scenario, mode) = (&first.scenario, first.mode);
        let title = format!("{scenario} {mode}, compared with {letter}{name}");
        let rows = figures.iter().take(MAX_CHART_ROWS).filter_map(|figure| {
            let label = format!("{} {}", figure.candidate.subject, figure_title(&figure.figure));
            difference_row(label, figure)
        });
        let ratios = RatioChart {
            reference: format!("{letter}, the baseline"),
            rows: rows.collect(),
            whiskers: interval_label(comparison.confidence),
            ..RatioChart::default()
        };
        let description = join(figures.iter().map(|figure| &figure.sentence), " ");
        ratios.into_chart(&first.benchmark, &title, &description)
    });
    charts.collect()
}

pub(super) fn interval_label(confidence: f64) -> String {
    format!("two-sided {} interval", number::format_percent(confidence))
}

/// A difference; none without a ratio.
pub(super) fn difference_row(label: String, figure: &ComparedFigure) -> Option<RatioRow> {
    Some(RatioRow {
        label,
        value: figure.ratio?,
        interval: figure.interval.and_then(drawable_bounds),
        edges: Vec::new(),
        other_published: Vec::new(),
        trials: trial_ratios(&figure.candidate, &figure.baseline, figure.better, figure.paired),
        word: figure.change.word().to_owned(),
        bad: matches!(figure.change, Change::Slower | Change::Worse),
    })
}

/// The ratio of each trial to the baseline's trial of the same round, or else to all of the baseline,
/// if there are several.
pub(super) fn trial_ratios(
    candidate: &MeasuredSide,
    baseline: &MeasuredSide,
    better: Better,
    paired: bool,
) -> Vec<f64> {
    let is_paired = paired && candidate.trials.len() == baseline.trials.len();
    if candidate.trials.len() < 2 {
        return Vec::new();
    }
    let trials = candidate.trials.iter().enumerate();
    let ratios = trials.filter_map(|(at, trial)| {
        let reference = if is_paired { baseline.trials[at] } else { baseline.value? };
        let ratio = match better {
            Better::Higher => trial / reference,
            Better::Lower => reference / trial,
        };
        Some(ratio).filter(|ratio| ratio.is_finite())
    });
    ratios.collect()
}
