//! A batch's figures over releases: a line for the cells that differ only in the release.

use indexmap::IndexMap;
use itertools::{Itertools as _, join};

use super::BatchFigure;
use crate::charts::{
    Chart, ChartKind, LineChart, LineSeries, is_release, truncation_note, value_range,
};
use retrial_batch::verdict::{BatchAxis, BatchVerdict, CellVerdict};
use retrial_results::verdict::number;

/// More lines cannot be distinguished.
const MAX_LINES: usize = 6;

/// The lines, if an axis has releases.
pub(super) fn release_chart(figure: &BatchFigure<'_>) -> Option<Chart> {
    let axis = release_axis(figure.batch)?;
    let mut series = lines_by_cells(axis, figure);
    let count = series.len();
    series.truncate(MAX_LINES);
    let count_known =
        |series: &LineSeries| series.points.iter().flat_map(|(_, value)| value).count();
    if series.iter().all(|series| count_known(series) < 2) {
        return None;
    }
    let detail = format!(
        " over {}{}",
        axis.name,
        truncation_note(MAX_LINES, count, " lines")
    );
    let descriptions = series.iter().map(|series| {
        let released_points = series.points.iter().zip(&axis.values);
        let points = released_points.filter_map(|((_, value), release)| {
            let value = number::format_figure((*value)?, figure.unit);
            Some(format!("{release} {value}"))
        });
        format!("{}: {}", series.name, join(points, ", "))
    });
    let values = descriptions.collect_vec();
    let lines = LineChart {
        axis_name: axis.name.clone(),
        categories: axis.values.clone(),
        unit: figure.unit.to_owned(),
        series,
        whiskers: "lowest and highest trial",
        ..LineChart::default()
    };
    Some(figure.new_chart(&detail, values, ChartKind::Lines(lines)))
}

/// The axis whose values are releases.
fn release_axis(batch: &BatchVerdict) -> Option<&BatchAxis> {
    let mut axes = batch.axes.iter().filter(|axis| axis.values.len() > 1);
    axes.find(|axis| axis.values.iter().all(|value| is_release(value)))
}

fn lines_by_cells(axis: &BatchAxis, figure: &BatchFigure<'_>) -> Vec<LineSeries> {
    let mut all: IndexMap<String, LineSeries> = IndexMap::new();
    for cell in &figure.batch.cells {
        let release = cell.axes.get(&axis.name);
        let at = release.and_then(|at| axis.values.iter().position(|value| value == at));
        let (Some(at), Some(measured)) = (at, figure.figure_in_cell(cell)) else {
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
        let series = all.entry(other_axes(cell, axis)).or_insert_with_key(line);
        series.points[at].1 = Some(value);
        series.band[at] = value_range(measured.trials.into_iter().chain([value]));
    }
    all.into_values().collect()
}

/// The cell's values on the other axes: `backend migraphx`.
fn other_axes(cell: &CellVerdict, axis: &BatchAxis) -> String {
    let other_values = cell.axes.iter().filter(|(name, _)| *name != axis.name);
    let others = other_values.map(|(name, value)| format!("{name} {value}"));
    join(others, ", ")
}
