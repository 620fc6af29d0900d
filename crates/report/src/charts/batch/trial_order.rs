//! A figure of a batch's trials in the order in which they ran: a drift, or a step where the batch was resumed.

use itertools::Itertools as _;

use super::BatchFigure;
use crate::charts::{Chart, ChartKind, LineChart, LineSeries, MAX_SERIES, SeriesStyle};
use retrial_batch::journal::RunStart;
use retrial_results::verdict::number;

/// Fewer trials show no order.
const MIN_TRIALS: usize = 4;

struct OrderedTrial<'a> {
    cell: &'a str,
    start: RunStart,
    value: f64,
}

/// A point for each trial; none if there are few trials or many cells, or if their order is unknown.
pub(super) fn trial_order_chart(figure: &BatchFigure<'_>) -> Option<Chart> {
    let trials = ordered_trials(figure)?;
    let cells = trials.iter().map(|trial| trial.cell).unique().collect_vec();
    if trials.len() < MIN_TRIALS || cells.len() > MAX_SERIES {
        return None;
    }
    let series = cells.iter().map(|cell| LineSeries {
        name: (*cell).to_owned(),
        points: (1..)
            .zip(&trials)
            .filter(|(_, trial)| trial.cell == *cell)
            .map(|(at, trial)| (f64::from(at), Some(trial.value)))
            .collect(),
        style: SeriesStyle::Markers,
        ..LineSeries::default()
    });
    let neighbours = (1..).zip(trials.iter().tuple_windows());
    let resumed = neighbours
        .filter(|(_, (left, right))| left.start.session != right.start.session)
        .map(|(at, _)| f64::from(at) + 0.5);
    let chart = LineChart {
        axis_name: "trials in their order".to_owned(),
        unit: figure.unit.to_owned(),
        series: series.collect(),
        breaks: resumed.collect(),
        ..LineChart::default()
    };
    let described = trials
        .iter()
        .map(|trial| format!("{} {}", trial.cell, number::format_figure(trial.value, figure.unit)));
    Some(figure.new_chart(", each trial in its order", described, ChartKind::Lines(chart)))
}

/// The trials of this host's cells in their order; none if one has no start.
fn ordered_trials<'a>(figure: &BatchFigure<'a>) -> Option<Vec<OrderedTrial<'a>>> {
    let mut trials = Vec::new();
    for cell in &figure.batch.cells {
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let of_figure = results.filter(|result| {
            figure.matches_result(result.mode, &result.benchmark, &result.scenario)
        });
        for trial in of_figure.flat_map(|result| &result.trials) {
            let Some(value) = trial.figures.get(figure.figure) else {
                continue;
            };
            let run =
                cell.runs.iter().find(|run| trial.path.split('/').next() == Some(&run.run))?;
            trials.push(OrderedTrial { cell: &cell.name, start: run.start?, value: value.value });
        }
    }
    trials.sort_by_key(|trial| trial.start.position);
    Some(trials)
}
