//! Trials at ordered places, numbered in the order in which they were taken.

use super::drawing::{Drawing, SMALL, real, text_width};
use super::legend::{self, Sign};
use super::lines::{marker, places};
use crate::report::charts::{Dots, Scale};
use crate::results::verdict::number;

const HEIGHT: f64 = 240.0;
/// Between the numbers of dots at one place.
const LINE: f64 = 13.0;

pub(super) fn draw(drawing: &mut Drawing, dots: &Dots) {
    let values = dots.dots.iter().map(|(_, value)| *value);
    let like = values.clone().fold(0.0_f64, f64::max);
    let (factor, unit) = number::scale(&dots.unit, like);
    let scale = Scale::of(values.map(|value| value * factor), false, 5);
    let ticks = scale.ticks.iter();
    let widest = ticks.map(|tick| text_width(&scale.shown(*tick), SMALL));
    let left = widest.fold(20.0, f64::max) + 10.0;
    let right = drawing.width - 14.0;
    let begin = if scale.least > 0.0 {
        format!(" (axis starts at {})", scale.shown(scale.least))
    } else {
        String::new()
    };
    let unit = if unit.is_empty() {
        "without a unit"
    } else {
        unit
    };
    drawing.text("s", 4.0, drawing.height + 13.0, &format!("{unit}{begin}"));
    let top = drawing.height + 26.0;
    let bottom = top + HEIGHT;
    let y = |value: f64| bottom - scale.place(value * factor) * HEIGHT;
    let room = (right - left) / real(dots.places.len().max(1));
    let x = |at: f64| left + (at + 0.5) * room;
    if let Some((before, after)) = dots.change {
        let (from, to) = (x(real(before)), x(real(after)));
        drawing.rectangle("x", (from, top), (to - from, HEIGHT));
    }
    for tick in &scale.ticks {
        let at = y(tick / factor);
        drawing.line("g", (left, at), (right, at));
        drawing.text("s e", left - 6.0, at + 4.0, &scale.shown(*tick));
    }
    drawing.height = bottom;
    places(drawing, &dots.places, &dots.over, &x, (left, right));
    for (place, value) in &dots.dots {
        marker(drawing, 0, x(real(*place)), y(*value));
    }
    for place in 0..dots.places.len() {
        numbers(drawing, dots, place, (x(real(place)), top, bottom), &y);
    }
    let mut entries = vec![(
        Sign::Line(0),
        "a trial, with its number in the search".to_owned(),
    )];
    if dots.change.is_some() {
        entries.push((Sign::Square("x"), "the change".to_owned()));
    }
    legend::draw(drawing, &entries);
}

/// The numbers of the trials at a place, beside their dots and not over each other.
fn numbers(
    drawing: &mut Drawing,
    dots: &Dots,
    place: usize,
    (x, top, bottom): (f64, f64, f64),
    y: &impl Fn(f64) -> f64,
) {
    let at_place = (1..).zip(&dots.dots).filter(|(_, (at, _))| *at == place);
    let mut here: Vec<(i32, f64)> = at_place
        .map(|(number, (_, value))| (number, y(*value)))
        .collect();
    here.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut lowest = top;
    for (number, at) in here {
        let at = (at + 4.0).max(lowest).min(bottom + LINE);
        lowest = at + LINE;
        drawing.text("s", x + 7.0, at, &number.to_string());
    }
}
