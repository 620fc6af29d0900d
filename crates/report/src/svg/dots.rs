//! Trials at ordered categories, numbered in the order in which they were taken.

use super::axes::{self, PlotArea};
use super::drawing::Drawing;
use super::legend::{self, LegendSign};
use crate::charts::{DotChart, to_f64};

const FIELD_HEIGHT: f64 = 240.0;
/// The height of a line of numbers of dots at one category.
const NUMBER_LINE_HEIGHT: f64 = 13.0;

pub(super) fn draw_dots(drawing: &mut Drawing, dots: &DotChart) {
    let values: Vec<f64> = dots.dots.iter().map(|(_, value)| *value).collect();
    let field = PlotArea::new(drawing, &values, &dots.unit, false, FIELD_HEIGHT);
    let ends = (field.left, field.right);
    let room = (field.right - field.left) / to_f64(dots.categories.len().max(1));
    let x = |category: usize| field.left + (to_f64(category) + 0.5) * room;
    if let Some((before, after)) = dots.change {
        field.draw_area(drawing, x(before), x(after));
    }
    field.draw_axis(drawing, field.right);
    axes::draw_categories(drawing, &dots.categories, &dots.axis_name, ends);
    for (category, value) in &dots.dots {
        drawing.draw_marker(0, x(*category), field.y_position(*value));
    }
    for category in 0..dots.categories.len() {
        draw_numbers(drawing, dots, category, x(category), &field);
    }
    let trial = (LegendSign::Line(0), "a trial, with its number in the search");
    let change = dots.change.map(|_| (LegendSign::Square("x"), "the change"));
    legend::draw_legend(drawing, [trial].into_iter().chain(change));
}

/// The numbers of the trials at a category, next to their dots without overlap.
fn draw_numbers(drawing: &mut Drawing, dots: &DotChart, category: usize, x: f64, field: &PlotArea) {
    let in_category = (1..).zip(&dots.dots).filter(|(_, (at, _))| *at == category);
    let mut here: Vec<(i32, f64)> =
        in_category.map(|(number, (_, value))| (number, field.y_position(*value))).collect();
    here.sort_by(|left, right| right.1.total_cmp(&left.1));
    let mut lowest = field.bottom;
    for (number, at) in here {
        let baseline = field.free_baseline((at + 4.0).min(lowest), &[]);
        lowest = baseline - NUMBER_LINE_HEIGHT;
        drawing.draw_text("s", x + 7.0, baseline, &number.to_string());
    }
}
