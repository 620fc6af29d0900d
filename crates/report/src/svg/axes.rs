//! Axes: of numbers and of categories below a drawing, of values at its left.

use itertools::Itertools as _;

use super::drawing::{Drawing, SMALL_LETTER_WIDTH, text_width};
use crate::charts::{Scale, to_f64};
use retrial_results::verdict::number;

/// The numbers below, with a line for each in these bands: between them are texts.
pub(super) fn draw_number_axis(
    drawing: &mut Drawing,
    scale: &Scale,
    bands: &[(f64, f64)],
    (left, right): (f64, f64),
    named: &str,
) {
    let bottom = drawing.height;
    let labels = scale.tick_labels();
    let needed = widest_text(&labels) + 5.0;
    let room = (right - left) / to_f64(scale.ticks.len().saturating_sub(1).max(1));
    // Of numbers that would touch, every second or third is shown: all are equally far apart.
    let fitting = (1..scale.ticks.len()).find(|every| to_f64(*every) * room >= needed);
    let every = fitting.unwrap_or(scale.ticks.len().max(1));
    for (number, (tick, label)) in scale.ticks.iter().zip(&labels).enumerate() {
        let x = left + scale.position(*tick) * (right - left);
        for (top, end) in bands {
            drawing.draw_line("g", (x, *top), (x, *end));
        }
        drawing.draw_line("g", (x, bottom), (x, bottom + 4.0));
        if number % every == 0 {
            drawing.draw_text("s m", x, bottom + 17.0, label);
        }
    }
    drawing.draw_line("a", (left, bottom), (right, bottom));
    drawing.draw_text("s m", f64::midpoint(left, right), bottom + 34.0, named);
    drawing.height += 40.0;
}

/// Ends of an axis of numbers in a drawing, at least this far from its edges: the first and the last number have room.
pub(super) fn axis_ends(scale: &Scale, width: f64, (left, right): (f64, f64)) -> (f64, f64) {
    let labels = scale.tick_labels();
    let half = |label: Option<&String>| {
        label.map_or(0.0, |label| text_width(label, SMALL_LETTER_WIDTH) / 2.0)
    };
    (left.max(half(labels.first())), width - right.max(half(labels.last())))
}

/// The names of categories below, on two levels if one is too narrow.
pub(super) fn draw_categories(
    drawing: &mut Drawing,
    names: &[String],
    over: &str,
    (left, right): (f64, f64),
) {
    let bottom = drawing.height;
    drawing.draw_line("a", (left, bottom), (right, bottom));
    let room = (right - left) / to_f64(names.len().max(1));
    let levels = if widest_text(names) + 6.0 > room { 2 } else { 1 };
    for (number, name) in names.iter().enumerate() {
        let tick = left + (to_f64(number) + 0.5) * room;
        drawing.draw_line("a", (tick, bottom), (tick, bottom + 4.0));
        let to_edges = 2.0 * tick.min(drawing.width - tick);
        let most = (room * to_f64(levels)).min(to_edges) - 12.0;
        let y = bottom + 17.0 + to_f64(number % levels) * 16.0;
        drawing.draw_truncated_text("s m", tick, y, name, most * 1.15);
    }
    let y = bottom + 18.0 + to_f64(levels) * 16.0;
    drawing.draw_text("s m", f64::midpoint(left, right), y, over);
    drawing.height = y + 6.0;
}

pub(super) fn describe_unit(unit: &str) -> &str {
    if unit.is_empty() { "without a unit" } else { unit }
}

/// The width of the widest of small texts.
fn widest_text(texts: &[String]) -> f64 {
    let widths = texts.iter().map(|text| text_width(text, SMALL_LETTER_WIDTH));
    widths.fold(0.0, f64::max)
}

/// The height of small letters above and below their baseline.
const ABOVE_BASELINE: f64 = 10.0;
const BELOW_BASELINE: f64 = 4.0;

/// Raises the baseline of a text of this height above the lines that would run through it.
pub(super) fn raise_above_lines(baseline: f64, height: f64, lines: &[f64]) -> f64 {
    let sorted = lines.iter().copied().sorted_by(|left, right| right.total_cmp(left));
    sorted.fold(baseline, |baseline, line| {
        let is_through = line > baseline - height && line < baseline + BELOW_BASELINE;
        if is_through { line - BELOW_BASELINE } else { baseline }
    })
}

/// The part of a drawing where points of values are, with the values' axis at its left.
pub(super) struct PlotArea {
    scale: Scale,
    factor: f64,
    /// The edges of the field, in units of the drawing.
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl PlotArea {
    /// A field below what is drawn, with the unit of its values above it.
    pub fn new(
        drawing: &mut Drawing,
        values: &[f64],
        unit: &str,
        from_zero: bool,
        height: f64,
    ) -> Self {
        let like = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        let (factor, unit) = number::display_scale(unit, like);
        let scale = Scale::from_values(values.iter().map(|value| value * factor), from_zero, 5);
        let labels = scale.tick_labels();
        let remark = scale.start_remark().map(|remark| format!(" ({remark})"));
        let head = format!("{}{}", describe_unit(unit), remark.unwrap_or_default());
        drawing.draw_text("s", 4.0, drawing.height + 13.0, &head);
        let top = drawing.height + 26.0;
        Self {
            scale,
            factor,
            left: widest_text(&labels).max(20.0) + 10.0,
            right: drawing.width - 14.0,
            top,
            bottom: top + height,
        }
    }

    /// The height of a value.
    pub fn y_position(&self, value: f64) -> f64 {
        self.bottom - self.scale.position(value * self.factor) * (self.bottom - self.top)
    }

    /// An area from one position to another, as high as the field.
    pub fn draw_area(&self, drawing: &mut Drawing, from: f64, to: f64) {
        drawing.draw_rectangle("x", (from, self.top), (to - from, self.bottom - self.top));
    }

    /// The heights of the lines of its numbers.
    pub fn line_heights(&self) -> Vec<f64> {
        let ticks = self.scale.ticks.iter();
        ticks.map(|tick| self.y_position(tick / self.factor)).collect()
    }

    /// Returns the baseline next to a height that no line of its numbers, and none of these, runs through.
    pub fn free_baseline(&self, baseline: f64, others: &[f64]) -> f64 {
        let lines = [self.line_heights().as_slice(), others].concat();
        raise_above_lines(baseline, ABOVE_BASELINE, &lines)
    }

    /// Draws the numbers at the left, each with a line up to this position.
    pub fn draw_axis(&self, drawing: &mut Drawing, right: f64) {
        for (tick, at) in self.scale.ticks.iter().zip(self.line_heights()) {
            drawing.draw_line("g", (self.left, at), (right, at));
            drawing.draw_text("s e", self.left - 6.0, at + 4.0, &self.scale.tick_label(*tick));
        }
        drawing.height = self.bottom;
    }
}
