//! Ratios around 1: a row for each, with its interval, its trials and the edges of what is required.

use super::axes;
use super::drawing::{
    BOLD_LETTER_WIDTH, Coordinate, Drawing, LETTER_WIDTH, WIDE_DRAWING_WIDTH, text_width,
    wrap_lines,
};
use super::legend::{self, LegendSign};
use crate::charts::{RatioChart, RatioRow, Scale, to_f64};
use retrial_results::verdict::number;

/// The widest label that is next to its axis.
const MAX_LABEL_WIDTH: f64 = 320.0;
/// A line of a label, and the most lines.
const LABEL_LINE_HEIGHT: f64 = 17.0;
const MAX_LABEL_LINES: usize = 3;

/// The positions of a row's parts, below its top.
struct RatioRowLayout {
    /// The ends of the axis.
    axis: (f64, f64),
    row: f64,
    words: f64,
    /// The lines of the figures that are compared with, the whisker and the trials.
    marks: f64,
    whisker: f64,
    /// The labels, in lines.
    labels: Vec<Vec<String>>,
}

impl RatioRowLayout {
    /// In a wide drawing label, axis and words are next to each other, if the labels are short; else
    /// the axis is below.
    fn new(ratios: &RatioChart, scale: &Scale, width: f64) -> Self {
        let widths = ratios.rows.iter().map(|row| text_width(&ratio_words(row), BOLD_LETTER_WIDTH));
        let words = widths.fold(0.0, f64::max) + 20.0;
        let labels = ratios.rows.iter().map(|row| text_width(&row.label, LETTER_WIDTH));
        let widest = labels.fold(0.0, f64::max);
        let is_beside = width >= WIDE_DRAWING_WIDTH && widest <= MAX_LABEL_WIDTH;
        let trials = ratios.rows.iter().any(|row| !row.trials.is_empty());
        let room = if trials { 12.0 } else { 0.0 };
        let in_lines = |room: f64| {
            let wrapped_labels = ratios.rows.iter().map(|row| wrap_lines(&row.label, room));
            let labels =
                wrapped_labels.map(|lines| lines.into_iter().take(MAX_LABEL_LINES).collect());
            labels.collect::<Vec<Vec<String>>>()
        };
        if is_beside {
            return Self {
                axis: (widest + 34.0, width - words - 14.0),
                row: 30.0 + room,
                words: 20.0,
                marks: 0.0,
                whisker: 15.0,
                // Not narrower than a line by rounding.
                labels: in_lines(widest + 1.0),
            };
        }
        let labels = in_lines(width - 4.0 - words);
        let lines = labels.iter().map(Vec::len).max().unwrap_or(1);
        let more = to_f64(lines.saturating_sub(1)) * LABEL_LINE_HEIGHT;
        Self {
            axis: axes::axis_ends(scale, width, (14.0, 14.0)),
            row: 48.0 + room + more,
            words: 15.0,
            marks: 20.0 + more,
            whisker: 30.0 + more,
            labels,
        }
    }
}

pub(super) fn draw_ratios(drawing: &mut Drawing, ratios: &RatioChart) {
    let rows = ratios.rows.iter();
    let values = rows.flat_map(|row| row.axis_values().chain(row.trials.iter().copied()));
    let scale = Scale::from_values(values.chain([1.0]), false, 5);
    let layout = RatioRowLayout::new(ratios, &scale, drawing.width);
    let (left, right) = layout.axis;
    let at = |value: f64| left + scale.position(value) * (right - left);
    let top = drawing.height;
    drawing.height = top + to_f64(ratios.rows.len()) * layout.row + 4.0;
    let named = format!("relative to {} (right is better)", ratios.reference);
    let row_tops = (0..ratios.rows.len()).map(|row| top + to_f64(row) * layout.row);
    let bands: Vec<_> = row_tops.map(|row| (row + layout.marks, row + layout.row)).collect();
    axes::draw_number_axis(drawing, &scale, &bands, layout.axis, &named);
    for (number, row) in ratios.rows.iter().enumerate() {
        let row_top = top + to_f64(number) * layout.row;
        let (class, text) = (if row.bad { "bad e" } else { "t e" }, ratio_words(row));
        drawing.draw_text(class, drawing.width - 4.0, row_top + layout.words, &text);
        for (line, label) in layout.labels[number].iter().enumerate() {
            drawing.draw_text(
                "",
                4.0,
                row_top + layout.words + to_f64(line) * LABEL_LINE_HEIGHT,
                label,
            );
        }
        // Next to labels, rows with the same edge have one line.
        let (from, to) = (row_top + layout.marks, row_top + layout.row);
        drawing.draw_line("k", (at(1.0), from), (at(1.0), to));
        for edge in &row.edges {
            drawing.draw_line("q", (at(*edge), from), (at(*edge), to));
        }
        let y = row_top + layout.whisker;
        if let Some((lower, upper)) = row.interval {
            drawing.draw_whisker(y, at(lower), at(upper));
        }
        let x = at(row.value);
        if row.bad {
            // Not by colour alone.
            drawing.draw_path(
                "f2",
                &format!("M{} {}l6 6-6 6-6-6z", Coordinate(x), Coordinate(y - 6.0)),
            );
        } else {
            drawing.draw_circle("f1", (x, y), 5.5);
        }
        for other in &row.other_published {
            drawing.draw_triangle(at(*other), y);
        }
        for trial in &row.trials {
            drawing.draw_point(at(*trial), y + 12.0);
        }
    }
    if let Some(remark) = scale.start_remark() {
        drawing.height += 2.0;
        drawing.draw_text("s", left, drawing.height + 10.0, &remark);
        drawing.height += 14.0;
    }
    let any = |is: fn(&RatioRow) -> bool| ratios.rows.iter().any(is);
    let entries = [
        Some((LegendSign::Dashed, ratios.reference.as_str())),
        any(|row| !row.edges.is_empty()).then_some((LegendSign::Edge, &ratios.edge)),
        any(|row| row.interval.is_some()).then_some((LegendSign::Whisker, &ratios.whiskers)),
        any(|row| !row.trials.is_empty()).then_some((LegendSign::Point, "trials")),
        any(|row| !row.other_published.is_empty())
            .then_some((LegendSign::Triangle, "other published figures")),
    ];
    legend::draw_legend(drawing, entries.into_iter().flatten());
}

/// The number, and its word.
fn ratio_words(row: &RatioRow) -> String {
    match row.word.as_str() {
        "" => number::format_ratio(row.value),
        word => format!("{} {word}", number::format_ratio(row.value)),
    }
}
