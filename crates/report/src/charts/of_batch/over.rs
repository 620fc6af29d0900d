//! A batch's figures over releases: a line for the cells that differ only in the release.

use indexmap::IndexMap;
use itertools::{Itertools as _, join};

use super::BatchFigure;
use crate::charts::{Chart, ChartKind, LineChart, LineSeries, cut_to, extent, is_release};
use retrial_batch::verdict::{BatchAxis, BatchVerdict, CellVerdict};
use retrial_results::verdict::number;

/// More lines cannot be distinguished.
const LINES: usize = 6;

/// The lines, if an axis has releases.
pub(super) fn lines(figure: &BatchFigure<'_>) -> Option<Chart> {
    let axis = releases(figure.batch)?;
    let mut series = series(axis, figure);
    let count = series.len();
    series.truncate(LINES);
    let count_known =
        |series: &LineSeries| series.points.iter().flat_map(|(_, value)| value).count();
    if series.iter().all(|series| count_known(series) < 2) {
        return None;
    }
    let detail = format!(" over {}{}", axis.name, cut_to(LINES, count, " lines"));
    let values = series.iter().map(|series| {
        let points = series.points.iter().zip(&axis.values);
        let points = points.filter_map(|((_, value), release)| {
            let value = number::format_figure((*value)?, figure.unit);
            Some(format!("{release} {value}"))
        });
        format!("{}: {}", series.name, join(points, ", "))
    });
    let values = values.collect_vec();
    let lines = LineChart {
        over: axis.name.clone(),
        categories: axis.values.clone(),
        unit: figure.unit.to_owned(),
        series,
        whiskers: "lowest and highest trial",
        ..LineChart::default()
    };
    Some(figure.chart(&detail, values, ChartKind::Lines(lines)))
}

/// The axis whose values are releases.
fn releases(batch: &BatchVerdict) -> Option<&BatchAxis> {
    let mut axes = batch.axes.iter().filter(|axis| axis.values.len() > 1);
    axes.find(|axis| axis.values.iter().all(|value| is_release(value)))
}

fn series(axis: &BatchAxis, figure: &BatchFigure<'_>) -> Vec<LineSeries> {
    let mut all: IndexMap<String, LineSeries> = IndexMap::new();
    for cell in &figure.batch.cells {
        let release = cell.axes.get(&axis.name);
        let at = release.and_then(|at| axis.values.iter().position(|value| value == at));
        let (Some(at), Some(measured)) = (at, figure.in_cell(cell)) else {
            continue;
        };
        let value = measured.value;
        let line = |name: &String| LineSeries {
            name: match name.as_str() {
                "" => figure.figure.to_owned(),
                name => name.to_owned(),
            },
            points: (0_u32..)
                .zip(&axis.values)
                .map(|(at, _)| (f64::from(at), None))
                .collect(),
            // The extent of an unknown value must not stretch the axis to zero.
            band: vec![(value, value); axis.values.len()],
            marked: true,
        };
        let series = all.entry(others(cell, axis)).or_insert_with_key(line);
        series.points[at].1 = Some(value);
        series.band[at] = extent(measured.trials.into_iter().chain([value]));
    }
    all.into_values().collect()
}

/// The cell's values on the other axes: `backend migraphx`.
fn others(cell: &CellVerdict, axis: &BatchAxis) -> String {
    let others = cell.axes.iter().filter(|(name, _)| *name != axis.name);
    let others = others.map(|(name, value)| format!("{name} {value}"));
    join(others, ", ")
}
