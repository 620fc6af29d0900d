//! Lines over releases, percentiles or time.

use std::fmt::Write as _;

use maud::html;

use super::drawing::{At, Drawing, SMALL, real, text_width};
use super::legend::{self, Sign};
use crate::report::charts::{Lines, Scale, Series};
use crate::results::verdict::number;

const HEIGHT: f64 = 200.0;

pub(super) fn draw(drawing: &mut Drawing, lines: &Lines) {
    let values: Vec<f64> = values(lines);
    let like = values
        .iter()
        .copied()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let (factor, unit) = number::scale(&lines.unit, like);
    let scale = Scale::of(
        values.iter().map(|value| value * factor),
        lines.from_zero,
        5,
    );
    let widest = scale
        .ticks
        .iter()
        .map(|tick| text_width(&scale.shown(*tick), SMALL));
    let left = widest.fold(20.0, f64::max) + 10.0;
    let right = drawing.width - 14.0;
    let begin = if scale.least > 0.0 {
        format!(" (axis starts at {})", scale.shown(scale.least))
    } else {
        String::new()
    };
    let head = match unit {
        "" => format!("without a unit{begin}"),
        unit => format!("{unit}{begin}"),
    };
    drawing.text("s", 4.0, drawing.height + 13.0, &head);
    let top = drawing.height + 26.0;
    let bottom = top + HEIGHT;
    let y = |value: f64| bottom - scale.place(value * factor) * HEIGHT;
    let along = along(lines);
    let x = |at: f64| left + along.place(at) * (right - left);
    for (from, to) in &lines.stretches {
        drawing.rectangle("x", (x(*from), top), (x(*to) - x(*from), HEIGHT));
    }
    for tick in &scale.ticks {
        let at = y(tick / factor);
        drawing.line("g", (left, at), (right, at));
        drawing.text("s e", left - 6.0, at + 4.0, &scale.shown(*tick));
    }
    drawing.height = bottom;
    if lines.places.is_empty() {
        drawing.axis_below(&along, bottom, (left, right), &lines.over);
    } else {
        places(drawing, &lines.places, &lines.over, &x, (left, right));
    }
    for (number, series) in lines.series.iter().enumerate() {
        one(drawing, number, series, &x, &y);
    }
    let named = lines.series.iter().enumerate();
    let mut entries: Vec<(Sign, String)> = named
        .map(|(number, series)| (Sign::Line(number), series.name.clone()))
        .collect();
    let has_whiskers = |one: &Series| one.marked && !one.band.is_empty();
    if lines.series.iter().any(has_whiskers) {
        entries.push((Sign::Whisker, lines.whiskers.to_owned()));
    }
    if !lines.stretches.is_empty() {
        entries.push((Sign::Square("x"), "measuring".to_owned()));
    }
    legend::draw(drawing, &entries);
}

fn values(lines: &Lines) -> Vec<f64> {
    let of_series = lines.series.iter().flat_map(|series| {
        let points = series.points.iter().filter_map(|(_, value)| *value);
        points.chain(series.band.iter().flat_map(|(low, high)| [*low, *high]))
    });
    of_series.filter(|value| value.is_finite()).collect()
}

fn along(lines: &Lines) -> Scale {
    if !lines.places.is_empty() {
        // Half a place of room at either end.
        let last = real(lines.places.len()) - 0.5;
        return Scale {
            least: -0.5,
            most: last,
            ticks: Vec::new(),
        };
    }
    let points = lines.series.iter().flat_map(|series| &series.points);
    let stretches = lines.stretches.iter().flat_map(|(from, to)| [*from, *to]);
    let all: Vec<f64> = points.map(|(at, _)| *at).chain(stretches).collect();
    let scale = Scale::of(all.iter().copied(), false, 6);
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Scale {
        most: if most > scale.least { most } else { scale.most },
        ticks: scale
            .ticks
            .iter()
            .copied()
            .filter(|tick| *tick <= most)
            .collect(),
        ..scale
    }
}

/// Names along the axis, on two levels if one is too narrow.
pub(super) fn places(
    drawing: &mut Drawing,
    names: &[String],
    over: &str,
    x: &impl Fn(f64) -> f64,
    ends: (f64, f64),
) {
    let bottom = drawing.height;
    drawing.line("a", (ends.0, bottom), (ends.1, bottom));
    let room = (ends.1 - ends.0) / real(names.len().max(1));
    let widest = names.iter().map(|name| text_width(name, SMALL));
    let levels = if widest.fold(0.0, f64::max) + 6.0 > room {
        2
    } else {
        1
    };
    for (number, name) in names.iter().enumerate() {
        let at = x(real(number));
        drawing.line("a", (at, bottom), (at, bottom + 4.0));
        let level = number % levels;
        let most = room * real(levels) - 6.0;
        let half = (text_width(name, SMALL).min(most) / 2.0).min(drawing.width / 2.0);
        let at = at.clamp(half, drawing.width - half);
        let y = bottom + 17.0 + real(level) * 16.0;
        drawing.cut("s m", at, y, name, most * 1.15);
    }
    let y = bottom + 18.0 + real(levels) * 16.0;
    drawing.text("s m", f64::midpoint(ends.0, ends.1), y, over);
    drawing.height = y + 6.0;
}

fn one(
    drawing: &mut Drawing,
    number: usize,
    series: &Series,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    band(drawing, number, series, x, y);
    let points = series.points.iter().map(|(at, value)| {
        let value = value.filter(|value| value.is_finite())?;
        Some((x(*at), y(value)))
    });
    let points: Vec<Option<(f64, f64)>> = points.collect();
    stroke(drawing, number, &path(points.iter().copied()));
    let is_drawn = |at: usize| points.get(at).is_some_and(Option::is_some);
    for (at, point) in points.iter().enumerate() {
        // A point between gaps is no line.
        let is_alone = !is_drawn(at + 1) && !at.checked_sub(1).is_some_and(is_drawn);
        if let Some((x, y)) = point.filter(|_| series.marked || is_alone) {
            marker(drawing, number, x, y);
        }
    }
}

/// A path through points, broken at gaps.
fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(path, "{pen}{} {}", At(x), At(y));
        }
        pen = if point.is_some() { 'L' } else { 'M' };
    }
    path
}

/// A whisker at each marked point, or else an area around the line.
fn band(
    drawing: &mut Drawing,
    number: usize,
    series: &Series,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    let both = series.points.iter().zip(&series.band);
    let known = both.filter(|((_, value), _)| value.is_some());
    if series.marked {
        let mut path = String::new();
        for ((at, _), (low, high)) in known {
            let (x, low, high) = (x(*at), At(y(*low)), At(y(*high)));
            let (from, to) = (At(x - 5.0), At(x + 5.0));
            let _ = write!(
                path,
                "M{from} {low}H{to}M{0} {low}V{high}M{from} {high}H{to}",
                At(x)
            );
        }
        if !path.is_empty() {
            drawing.path("w", &path);
        }
        return;
    }
    let known: Vec<(f64, f64, f64)> = known
        .map(|((at, _), (low, high))| (x(*at), y(*low), y(*high)))
        .collect();
    let there = known.iter().map(|(x, low, _)| Some((*x, *low)));
    let back = known.iter().rev().map(|(x, _, high)| Some((*x, *high)));
    let area = path(there.chain(back));
    if !area.is_empty() {
        drawing.path(&format!("b f{}", number % 6 + 1), &(area + "z"));
    }
}

/// A line; lines also differ in their dashes.
pub(super) fn stroke(drawing: &mut Drawing, number: usize, path: &str) {
    let class = format!("l l{}", number % 6 + 1);
    drawing.draw(html! { path class=(class) d=(path) stroke-dasharray=[dashes(number)] {} });
}

fn dashes(number: usize) -> Option<&'static str> {
    [
        None,
        Some("7 3"),
        Some("2 3"),
        Some("9 3 2 3"),
        Some("12 4"),
        Some("4 4"),
    ][number % 6]
}

/// A point of a line; lines also differ in the shape of their points.
pub(super) fn marker(drawing: &mut Drawing, number: usize, x: f64, y: f64) {
    let class = format!("f{}", number % 6 + 1);
    let path = match number % 4 {
        0 => format!(
            "M{} {}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
            At(x - 4.5),
            At(y)
        ),
        1 => format!("M{} {}h8v8h-8z", At(x - 4.0), At(y - 4.0)),
        2 => format!("M{} {}l5 9h-10z", At(x), At(y - 5.0)),
        _ => format!("M{} {}l5.5 5.5-5.5 5.5-5.5-5.5z", At(x), At(y - 5.5)),
    };
    drawing.path(&class, &path);
}
