//! The chart of a search: every trial a dot, numbered in the order in which they were taken.

use super::{Chart, ChartKind, DotChart};
use crate::figure_title::figure_title;
use retrial_batch::search::SearchVerdict;

/// The chart of a search, if its trials have figures.
pub(super) fn search_chart(search: &SearchVerdict) -> Option<Chart> {
    let category = |value: &String| search.values.iter().position(|category| category == value);
    let trials = search.trials.iter();
    let measured_dots = trials.filter_map(|trial| Some((category(&trial.value)?, trial.figure?)));
    let dots: Vec<(usize, f64)> = measured_dots.filter(|(_, value)| value.is_finite()).collect();
    if dots.is_empty() {
        return None;
    }
    let change = search.before.as_ref().zip(search.after.as_ref());
    let title = format!(
        "Search along {}: {} {}{}",
        search.axis,
        search.scenario,
        figure_title(&search.figure),
        search.mean_clause()
    );
    let dots = DotChart {
        axis_name: search.axis.clone(),
        categories: search.values.clone(),
        unit: search.unit.clone(),
        dots,
        change: change.and_then(|(before, after)| Some((category(before)?, category(after)?))),
    };
    Some(Chart::new("", &title, &search.sentence, ChartKind::Dots(dots)))
}
