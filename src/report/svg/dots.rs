//! Trials at ordered places, numbered in the order in which they were taken.

use super::axes::{self, Field};
use super::drawing::{Drawing, real};
use super::legend::{self, Sign};
use crate::report::charts::Dots;

const HEIGHT: f64 = 240.0;
/// Between the numbers of dots at one place.
const LINE: f64 = 13.0;

pub(super) fn draw(drawing: &mut Drawing, dots: &Dots) {
    let values: Vec<f64> = dots.dots.iter().map(|(_, value)| *value).collect();
    let field = Field::new(drawing, &values, &dots.unit, false, HEIGHT);
    let ends = (field.left, field.right);
    let room = (field.right - field.left) / real(dots.places.len().max(1));
    let x = |place: usize| field.left + (real(place) + 0.5) * room;
    if let Some((before, after)) = dots.change {
        field.area(drawing, x(before), x(after));
    }
    field.axis(drawing);
    axes::places(drawing, &dots.places, &dots.over, ends);
    for (place, value) in &dots.dots {
        drawing.marker(0, x(*place), field.y(*value));
    }
    for place in 0..dots.places.len() {
        numbers(drawing, dots, place, x(place), &field);
    }
    let trial = (Sign::Line(0), "a trial, with its number in the search");
    let change = dots.change.map(|_| (Sign::Square("x"), "the change"));
    legend::draw(drawing, [trial].into_iter().chain(change));
}

/// The numbers of the trials at a place, beside their dots and not over each other.
fn numbers(drawing: &mut Drawing, dots: &Dots, place: usize, x: f64, field: &Field) {
    let at_place = (1..).zip(&dots.dots).filter(|(_, (at, _))| *at == place);
    let mut here: Vec<(i32, f64)> = at_place
        .map(|(number, (_, value))| (number, field.y(*value)))
        .collect();
    here.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut lowest = field.top;
    for (number, at) in here {
        let at = (at + 4.0).max(lowest).min(field.bottom + LINE);
        lowest = at + LINE;
        drawing.text("s", x + 7.0, at, &number.to_string());
    }
}
