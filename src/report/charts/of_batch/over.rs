//! A batch's figures over releases: a line for what is alike in all else.

use super::Shown;
use crate::batch::verdict::{BatchAxis, BatchVerdict, CellVerdict};
use crate::report::charts::{Chart, Kind, Lines, Series};
use crate::report::document::clean;
use crate::results::verdict::number;

/// More lines cannot be distinguished.
const LINES: usize = 6;

/// The lines, where there are releases.
pub(super) fn lines(batch: &BatchVerdict, shown: &Shown) -> Option<Chart> {
    let axis = releases(batch)?;
    let mut series = series(batch, axis, shown);
    let count = series.len();
    series.truncate(LINES);
    let several = |one: &Series| {
        one.points
            .iter()
            .filter(|(_, value)| value.is_some())
            .count()
            > 1
    };
    if !series.iter().any(several) {
        return None;
    }
    let some = if count > LINES {
        format!(", the first {LINES} of {count} lines")
    } else {
        String::new()
    };
    let what = format!(
        " over {}{some}; whiskers: lowest and highest trial",
        axis.name
    );
    let values: Vec<String> = series
        .iter()
        .map(|one| {
            let points = one.points.iter().zip(&axis.values);
            let points = points.filter_map(|((_, value), place)| {
                Some(format!(
                    "{place} {}",
                    number::figure((*value)?, &shown.unit)
                ))
            });
            format!("{}: {}", one.name, points.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let lines = Lines {
        over: axis.name.clone(),
        places: axis.values.clone(),
        unit: shown.unit.clone(),
        from_zero: false,
        series,
        ..Lines::default()
    };
    Some(shown.chart(batch, &what, &values, Kind::Lines(lines)))
}

/// The axis that lines go along: one whose values are versions.
fn releases(batch: &BatchVerdict) -> Option<&BatchAxis> {
    let is_release = |value: &String| {
        value.contains('.') && value.starts_with(|first: char| first.is_ascii_digit())
    };
    let mut axes = batch.axes.iter().filter(|axis| axis.values.len() > 1);
    axes.find(|axis| axis.values.iter().all(is_release))
}

fn series(batch: &BatchVerdict, axis: &BatchAxis, shown: &Shown) -> Vec<Series> {
    let mut all: Vec<(String, Series)> = Vec::new();
    for cell in &batch.cells {
        let at = cell.axes.get(&axis.name);
        let at = at.and_then(|at| axis.values.iter().position(|value| value == at));
        let (Some(at), Some(given)) = (at, shown.in_cell(cell)) else {
            continue;
        };
        let name = others(cell, axis);
        let found = all.iter().position(|(known, _)| *known == name);
        let position = found.unwrap_or_else(|| {
            let points = (0_u32..)
                .zip(&axis.values)
                .map(|(at, _)| (f64::from(at), None));
            let one = Series {
                name: if name.is_empty() {
                    shown.figure.clone()
                } else {
                    name.clone()
                },
                points: points.collect(),
                // What is not known has no extent: it must not pull the axis to zero.
                band: vec![(given.value, given.value); axis.values.len()],
                marked: true,
            };
            all.push((name, one));
            all.len() - 1
        });
        let one = &mut all[position].1;
        if let (Some(point), Some(band)) = (one.points.get_mut(at), one.band.get_mut(at)) {
            point.1 = Some(given.value);
            let trials = given.trials.iter().copied();
            *band = (
                trials.clone().fold(given.value, f64::min),
                trials.fold(given.value, f64::max),
            );
        }
    }
    all.into_iter().map(|(_, one)| one).collect()
}

/// What tells a line from the others: `backend migraphx`.
fn others(cell: &CellVerdict, axis: &BatchAxis) -> String {
    let others = cell.axes.iter().filter(|(name, _)| *name != axis.name);
    let others: Vec<String> = others
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    clean(&others.join(", "))
}
