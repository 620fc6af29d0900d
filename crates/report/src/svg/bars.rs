//! Bars from zero: measured figures with intervals and trials.

use super::axes;
use super::drawing::{BOLD_LETTER_WIDTH, Drawing, text_width};
use super::legend::{self, LegendSign};
use crate::charts::{Bar, BarChart, Scale, to_f64};
use retrial_results::verdict::number;

/// A row: its words above, its bar below.
const ROW_HEIGHT: f64 = 46.0;
const WORDS_HEIGHT: f64 = 22.0;
const BAR_HEIGHT: f64 = 16.0;

pub(super) fn draw_bars(drawing: &mut Drawing, bars: &BarChart) {
    let values = bars.bars.iter().flat_map(|bar| {
        let (lower, upper) = bar.interval.unwrap_or((bar.value, bar.value));
        let trials = bar.trials.iter().copied();
        trials.chain([bar.value, lower, upper])
    });
    let like = bars.bars.first().map_or(1.0, |bar| bar.value);
    let (factor, unit) = number::display_scale(&bars.unit, like);
    let scale = Scale::from_values(values.map(|value| value * factor), true, 5);
    let ends = axes::axis_ends(&scale, drawing.width, (4.0, 14.0));
    let (left, right) = ends;
    let at = |value: f64| left + scale.position(value * factor) * (right - left);
    let top = drawing.height;
    let bottom = top + to_f64(bars.bars.len()) * ROW_HEIGHT + 4.0;
    drawing.height = bottom;
    let named = axes::describe_unit(unit);
    let row_tops = (0..bars.bars.len()).map(|row| top + to_f64(row) * ROW_HEIGHT);
    let bands: Vec<_> = row_tops.map(|row| (row + WORDS_HEIGHT, row + ROW_HEIGHT)).collect();
    axes::draw_number_axis(drawing, &scale, &bands, ends, named);
    for (row, bar) in bars.bars.iter().enumerate() {
        let row_top = top + to_f64(row) * ROW_HEIGHT;
        draw_words(drawing, bar, &bars.unit, like, row_top);
        let y = row_top + WORDS_HEIGHT;
        let zero = at(0.0);
        let end = at(bar.value);
        let size = ((end - zero).abs().max(1.0), BAR_HEIGHT);
        drawing.draw_rectangle("f1", (zero.min(end), y), size);
        for (nth, trial) in bar.trials.iter().enumerate() {
            // Equal trials are next to each other.
            let shift = if nth % 2 == 0 { -3.5 } else { 3.5 };
            drawing.draw_point(at(*trial), y + BAR_HEIGHT / 2.0 + shift);
        }
        if let Some((lower, upper)) = bar.interval {
            drawing.draw_whisker(y + BAR_HEIGHT / 2.0, at(lower), at(upper));
        }
    }
    let any = |is: fn(&Bar) -> bool| bars.bars.iter().any(is);
    let entries = [
        Some((LegendSign::Square("f1"), "measured")),
        any(|bar| !bar.trials.is_empty()).then_some((LegendSign::Point, "trials")),
        any(|bar| bar.interval.is_some()).then_some((LegendSign::Whisker, bars.whiskers.as_str())),
    ];
    legend::draw_legend(drawing, entries.into_iter().flatten());
}

fn draw_words(drawing: &mut Drawing, bar: &Bar, unit: &str, like: f64, y: f64) {
    let value = number::format_figure_like(bar.value, unit, like);
    drawing.draw_text("t e", drawing.width - 4.0, y + 16.0, &value);
    let room = drawing.width - 24.0 - text_width(&value, BOLD_LETTER_WIDTH);
    drawing.draw_truncated_text("", 4.0, y + 16.0, &bar.label, room);
}
