//! Lines over releases, percentiles or time.

use std::fmt::Write as _;

use super::axes::{self, PlotArea};
use super::drawing::{Coordinate, Drawing};
use super::legend::{self, LegendSign};
use crate::charts::{LineChart, LineSeries, Scale, extent, to_f64};

const HEIGHT: f64 = 200.0;

pub(super) fn draw(drawing: &mut Drawing, lines: &LineChart) {
    let values = values(lines);
    let field = PlotArea::new(drawing, &values, &lines.unit, lines.from_zero, HEIGHT);
    let ends = (field.left, field.right);
    let along = along(lines);
    let x = |at: f64| field.left + along.position(at) * (field.right - field.left);
    for (from, to) in &lines.stretches {
        field.area(drawing, x(*from), x(*to));
    }
    field.axis(drawing);
    if lines.categories.is_empty() {
        axes::below(drawing, &along, field.bottom, ends, &lines.over);
    } else {
        axes::categories(drawing, &lines.categories, &lines.over, ends);
    }
    let all = || lines.series.iter().enumerate();
    for (number, series) in all() {
        draw_series(drawing, number, series, &x, &|value| field.y(value));
    }
    let series = all().map(|(number, series)| (LegendSign::Line(number), series.name.as_str()));
    let has_whiskers = |series: &LineSeries| series.marked && !series.band.is_empty();
    let has_whiskers = lines.series.iter().any(has_whiskers);
    let others = [
        has_whiskers.then_some((LegendSign::Whisker, lines.whiskers)),
        (!lines.stretches.is_empty()).then_some((LegendSign::Square("x"), "measuring")),
    ];
    legend::draw(drawing, series.chain(others.into_iter().flatten()));
}

fn values(lines: &LineChart) -> Vec<f64> {
    let of_series = lines.series.iter().flat_map(|series| {
        let points = series.points.iter().filter_map(|(_, value)| *value);
        points.chain(series.band.iter().flat_map(|(low, high)| [*low, *high]))
    });
    of_series.filter(|value| value.is_finite()).collect()
}

/// The axis below. Of categories it has half a category of room at either end.
fn along(lines: &LineChart) -> Scale {
    if !lines.categories.is_empty() {
        return Scale {
            least: -0.5,
            most: to_f64(lines.categories.len()) - 0.5,
            ticks: Vec::new(),
        };
    }
    let points = lines.series.iter().flat_map(|series| &series.points);
    let stretches = lines.stretches.iter().flat_map(|(from, to)| [*from, *to]);
    let all: Vec<f64> = points.map(|(at, _)| *at).chain(stretches).collect();
    let mut scale = Scale::of(all.iter().copied(), false, 6);
    let (_, most) = extent(all.into_iter());
    scale.ticks.retain(|tick| *tick <= most);
    if most > scale.least {
        scale.most = most;
    }
    scale
}

fn draw_series(
    drawing: &mut Drawing,
    number: usize,
    series: &LineSeries,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    band(drawing, number, series, x, y);
    let points = series.points.iter().map(|(at, value)| {
        let value = value.filter(|value| value.is_finite())?;
        Some((x(*at), y(value)))
    });
    let points: Vec<Option<(f64, f64)>> = points.collect();
    drawing.stroke(number, &path(points.iter().copied()));
    let is_drawn = |at: usize| points.get(at).is_some_and(Option::is_some);
    for (at, point) in points.iter().enumerate() {
        // A point between gaps is no line.
        let is_alone = !is_drawn(at + 1) && !at.checked_sub(1).is_some_and(is_drawn);
        if let Some((x, y)) = point.filter(|_| series.marked || is_alone) {
            drawing.marker(number, x, y);
        }
    }
}

/// A path through points, broken at gaps.
fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(path, "{pen}{} {}", Coordinate(x), Coordinate(y));
        }
        pen = if point.is_some() { 'L' } else { 'M' };
    }
    path
}

/// A whisker at each marked point, or else an area around the line.
fn band(
    drawing: &mut Drawing,
    number: usize,
    series: &LineSeries,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    let both = series.points.iter().zip(&series.band);
    let measured = both.filter(|((_, value), _)| value.is_some());
    if series.marked {
        let mut path = String::new();
        for ((at, _), (low, high)) in measured {
            let (x, low, high) = (x(*at), Coordinate(y(*low)), Coordinate(y(*high)));
            let (from, to) = (Coordinate(x - 5.0), Coordinate(x + 5.0));
            let _ = write!(
                path,
                "M{from} {low}H{to}M{0} {low}V{high}M{from} {high}H{to}",
                Coordinate(x)
            );
        }
        if !path.is_empty() {
            drawing.path("w", &path);
        }
        return;
    }
    let measured: Vec<(f64, f64, f64)> = measured
        .map(|((at, _), (low, high))| (x(*at), y(*low), y(*high)))
        .collect();
    let there = measured.iter().map(|(x, low, _)| Some((*x, *low)));
    let back = measured.iter().rev().map(|(x, _, high)| Some((*x, *high)));
    let area = path(there.chain(back));
    if !area.is_empty() {
        drawing.path(&format!("b f{}", number % 6 + 1), &(area + "z"));
    }
}
