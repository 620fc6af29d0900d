//! Axes: of numbers and of categories below a drawing, of values at its left.

use super::drawing::{Drawing, SMALL, text_width};
use crate::charts::{Scale, to_f64};
use retrial_results::verdict::number;

/// The numbers below, with a line up to `top` for each.
pub(super) fn below(
    drawing: &mut Drawing,
    scale: &Scale,
    top: f64,
    (left, right): (f64, f64),
    named: &str,
) {
    let bottom = drawing.height;
    let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.label(*tick)).collect();
    let needed = widest(&labels) + 5.0;
    let room = (right - left) / to_f64(scale.ticks.len().saturating_sub(1).max(1));
    // Of numbers that would touch, every second or third is shown: all are equally far apart.
    let every = (1..scale.ticks.len()).find(|every| to_f64(*every) * room >= needed);
    let every = every.unwrap_or(scale.ticks.len().max(1));
    for (number, (tick, label)) in scale.ticks.iter().zip(&labels).enumerate() {
        let x = left + scale.position(*tick) * (right - left);
        drawing.line("g", (x, top), (x, bottom + 4.0));
        if number % every == 0 {
            let half = text_width(label, SMALL) / 2.0;
            let middle = x.clamp(half, (drawing.width - half).max(half));
            drawing.text("s m", middle, bottom + 17.0, label);
        }
    }
    drawing.line("a", (left, bottom), (right, bottom));
    drawing.text("s m", f64::midpoint(left, right), bottom + 34.0, named);
    drawing.height += 40.0;
}

/// The names of categories below, on two levels if one is too narrow.
pub(super) fn categories(
    drawing: &mut Drawing,
    names: &[String],
    over: &str,
    (left, right): (f64, f64),
) {
    let bottom = drawing.height;
    drawing.line("a", (left, bottom), (right, bottom));
    let room = (right - left) / to_f64(names.len().max(1));
    let levels = if widest(names) + 6.0 > room { 2 } else { 1 };
    for (number, name) in names.iter().enumerate() {
        let at = left + (to_f64(number) + 0.5) * room;
        drawing.line("a", (at, bottom), (at, bottom + 4.0));
        let most = room * to_f64(levels) - 6.0;
        let half = (text_width(name, SMALL).min(most) / 2.0).min(drawing.width / 2.0);
        let at = at.clamp(half, drawing.width - half);
        let y = bottom + 17.0 + to_f64(number % levels) * 16.0;
        drawing.cut("s m", at, y, name, most * 1.15);
    }
    let y = bottom + 18.0 + to_f64(levels) * 16.0;
    drawing.text("s m", f64::midpoint(left, right), y, over);
    drawing.height = y + 6.0;
}

/// The words for a unit.
pub(super) fn named(unit: &str) -> &str {
    if unit.is_empty() {
        "without a unit"
    } else {
        unit
    }
}

/// The width of the widest of small texts.
fn widest(texts: &[String]) -> f64 {
    let widths = texts.iter().map(|text| text_width(text, SMALL));
    widths.fold(0.0, f64::max)
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
        let scale = Scale::of(values.iter().map(|value| value * factor), from_zero, 5);
        let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.label(*tick)).collect();
        let begin = if scale.least > 0.0 {
            format!(" (axis starts at {})", scale.label(scale.least))
        } else {
            String::new()
        };
        let head = format!("{}{begin}", named(unit));
        drawing.text("s", 4.0, drawing.height + 13.0, &head);
        let top = drawing.height + 26.0;
        Self {
            scale,
            factor,
            left: widest(&labels).max(20.0) + 10.0,
            right: drawing.width - 14.0,
            top,
            bottom: top + height,
        }
    }

    /// The height of a value.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - self.scale.position(value * self.factor) * (self.bottom - self.top)
    }

    /// An area from one position to another, as high as the field.
    pub fn area(&self, drawing: &mut Drawing, from: f64, to: f64) {
        drawing.rectangle("x", (from, self.top), (to - from, self.bottom - self.top));
    }

    /// Draws the numbers at the left, each with a line to the right.
    pub fn axis(&self, drawing: &mut Drawing) {
        for tick in &self.scale.ticks {
            let at = self.y(tick / self.factor);
            drawing.line("g", (self.left, at), (self.right, at));
            drawing.text("s e", self.left - 6.0, at + 4.0, &self.scale.label(*tick));
        }
        drawing.height = self.bottom;
    }
}
