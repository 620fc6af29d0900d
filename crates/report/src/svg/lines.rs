//! Lines over releases, percentiles or time.

use std::fmt::Write as _;

use super::axes::{self, PlotArea};
use super::drawing::{Coordinate, Drawing};
use super::legend::{self, LegendSign};
use crate::charts::{LineChart, LineSeries, Scale, SeriesStyle, to_f64, value_range};

const FIELD_HEIGHT: f64 = 200.0;
/// A label is up and right of its point.
const LABEL_DISTANCE: f64 = 5.0;

pub(super) fn draw_lines(drawing: &mut Drawing, lines: &LineChart) {
    let values = finite_values(lines);
    let mut field = PlotArea::new(drawing, &values, &lines.unit, lines.from_zero, FIELD_HEIGHT);
    let along = horizontal_scale(lines);
    let margins = (field.left, drawing.width - field.right);
    let ends = axes::axis_ends(&along, drawing.width, margins);
    (field.left, field.right) = ends;
    let x = |at: f64| field.left + along.position(at) * (field.right - field.left);
    for (from, to) in &lines.stretches {
        field.draw_area(drawing, x(*from), x(*to));
    }
    field.draw_axis(drawing, field.right);
    for at in &lines.breaks {
        drawing.draw_line("k", (x(*at), field.top), (x(*at), field.bottom));
    }
    if lines.categories.is_empty() {
        axes::draw_number_axis(drawing, &along, &[], ends, &lines.axis_name);
    } else {
        axes::draw_categories(drawing, &lines.categories, &lines.axis_name, ends);
    }
    let all = || lines.series.iter().enumerate();
    for (number, series) in all() {
        draw_series(drawing, number, series, &x, &|value| field.y_position(value));
    }
    let sign = |number, series: &LineSeries| match series.style {
        SeriesStyle::Markers => LegendSign::Marker(number),
        SeriesStyle::Line | SeriesStyle::MarkedLine => LegendSign::Line(number),
    };
    let series = all().map(|(number, series)| (sign(number, series), series.name.as_str()));
    let has_whiskers =
        |series: &LineSeries| series.style != SeriesStyle::Line && !series.band.is_empty();
    let has_whiskers = lines.series.iter().any(has_whiskers);
    let others = [
        has_whiskers.then_some((LegendSign::Whisker, lines.whiskers)),
        (!lines.stretches.is_empty()).then_some((LegendSign::Square("x"), "measuring")),
        (!lines.breaks.is_empty()).then_some((LegendSign::Dashed, "the batch was resumed")),
    ];
    legend::draw_legend(drawing, series.chain(others.into_iter().flatten()));
}

fn finite_values(lines: &LineChart) -> Vec<f64> {
    let values = lines.series.iter().flat_map(|series| {
        let points = series.points.iter().filter_map(|(_, value)| *value);
        points.chain(series.band.iter().flat_map(|(low, high)| [*low, *high]))
    });
    values.filter(|value| value.is_finite()).collect()
}

/// The axis below. Of categories it has half a category of room at either end.
fn horizontal_scale(lines: &LineChart) -> Scale {
    if !lines.categories.is_empty() {
        return Scale { min: -0.5, max: to_f64(lines.categories.len()) - 0.5, ticks: Vec::new() };
    }
    let points = lines.series.iter().flat_map(|series| &series.points);
    let stretches = lines.stretches.iter().flat_map(|(from, to)| [*from, *to]);
    let all: Vec<f64> = points.map(|(at, _)| *at).chain(stretches).collect();
    let mut scale = Scale::from_values(all.iter().copied(), false, 6);
    let (_, most) = value_range(all.into_iter());
    scale.ticks.retain(|tick| *tick <= most);
    if most > scale.min {
        scale.max = most;
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
    draw_band(drawing, number, series, x, y);
    let positions = series.points.iter().map(|(at, value)| {
        let finite = value.filter(|value| value.is_finite())?;
        Some((x(*at), y(finite)))
    });
    let points: Vec<Option<(f64, f64)>> = positions.collect();
    let is_joined = series.style != SeriesStyle::Markers;
    if is_joined {
        drawing.draw_stroke(number, &broken_path(points.iter().copied()));
    }
    let is_drawn = |at: usize| is_joined && points.get(at).is_some_and(Option::is_some);
    for (at, point) in points.iter().enumerate() {
        // A point between gaps is no line.
        let is_alone = !is_drawn(at + 1) && !at.checked_sub(1).is_some_and(is_drawn);
        if let Some((x, y)) = point.filter(|_| series.style == SeriesStyle::MarkedLine || is_alone)
        {
            drawing.draw_marker(number, x, y);
        }
        if let (Some((x, y)), Some(label)) = (point, series.labels.get(at)) {
            drawing.draw_text("s", x + LABEL_DISTANCE, y - LABEL_DISTANCE, label);
        }
    }
}

/// A path through points, broken at gaps.
fn broken_path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
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
fn draw_band(
    drawing: &mut Drawing,
    number: usize,
    series: &LineSeries,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    let both = series.points.iter().zip(&series.band);
    let measured_points = both.filter(|((_, value), _)| value.is_some());
    if series.style != SeriesStyle::Line {
        for ((at, _), (low, high)) in measured_points {
            drawing.draw_upright_whisker(x(*at), y(*low), y(*high));
        }
        return;
    }
    let measured: Vec<(f64, f64, f64)> =
        measured_points.map(|((at, _), (low, high))| (x(*at), y(*low), y(*high))).collect();
    let there = measured.iter().map(|(x, low, _)| Some((*x, *low)));
    let back = measured.iter().rev().map(|(x, _, high)| Some((*x, *high)));
    let area = broken_path(there.chain(back));
    if !area.is_empty() {
        drawing.draw_path(&format!("b f{}", number % 6 + 1), &(area + "z"));
    }
}
