//! A batch's figures over releases: a line for the cells that differ only in the release.

use std::collections::BTreeMap;

use super::Shown;
use crate::batch::verdict::{BatchAxis, BatchVerdict, CellVerdict};
use crate::report::charts::{Chart, Kind, Lines, Series, extent, is_release};
use crate::report::document::clean;
use crate::results::verdict::number;

/// More lines cannot be distinguished.
const LINES: usize = 6;

/// The lines, if an axis has releases.
pub(super) fn lines(shown: &Shown<'_>) -> Option<Chart> {
    let axis = releases(shown.batch)?;
    let mut series = series(axis, shown);
    let count = series.len();
    series.truncate(LINES);
    let known = |one: &Series| {
        one.points
            .iter()
            .filter(|(_, value)| value.is_some())
            .count()
    };
    if series.iter().all(|one| known(one) < 2) {
        return None;
    }
    let some = if count > LINES {
        format!(", the first {LINES} of {count} lines")
    } else {
        String::new()
    };
    let name = &axis.name;
    let what = format!(" over {name}{some}");
    let values = series.iter().map(|one| {
        let points = one.points.iter().zip(&axis.values);
        let points = points.filter_map(|((_, value), release)| {
            Some(format!(
                "{release} {}",
                number::figure((*value)?, shown.unit)
            ))
        });
        format!("{}: {}", one.name, points.collect::<Vec<_>>().join(", "))
    });
    let values: Vec<String> = values.collect();
    let lines = Lines {
        over: axis.name.clone(),
        places: axis.values.clone(),
        unit: shown.unit.to_owned(),
        series,
        whiskers: "lowest and highest trial",
        ..Lines::default()
    };
    Some(shown.chart(&what, &values, Kind::Lines(lines)))
}

/// The axis whose values are releases.
fn releases(batch: &BatchVerdict) -> Option<&BatchAxis> {
    let mut axes = batch.axes.iter().filter(|axis| axis.values.len() > 1);
    axes.find(|axis| axis.values.iter().all(|value| is_release(value)))
}

fn series(axis: &BatchAxis, shown: &Shown<'_>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &shown.batch.cells {
        let release = cell.axes.get(&axis.name);
        let at = release.and_then(|at| axis.values.iter().position(|value| value == at));
        let (Some(at), Some(found)) = (at, shown.in_cell(cell)) else {
            continue;
        };
        let value = found.value;
        let name = others(cell, axis);
        let position = *by_name.entry(name.clone()).or_insert_with(|| {
            let places = (0_u32..).zip(&axis.values);
            all.push(Series {
                name: if name.is_empty() {
                    shown.figure.to_owned()
                } else {
                    name
                },
                points: places.map(|(at, _)| (f64::from(at), None)).collect(),
                // The extent of an unknown value must not stretch the axis to zero.
                band: vec![(value, value); axis.values.len()],
                marked: true,
            });
            all.len() - 1
        });
        let one = &mut all[position];
        one.points[at].1 = Some(value);
        one.band[at] = extent(found.trials.into_iter().chain([value]));
    }
    all
}

/// The cell's values on the other axes: `backend migraphx`.
fn others(cell: &CellVerdict, axis: &BatchAxis) -> String {
    let others = cell.axes.iter().filter(|(name, _)| *name != axis.name);
    let others = others.map(|(name, value)| format!("{name} {value}"));
    clean(&others.collect::<Vec<_>>().join(", "))
}
