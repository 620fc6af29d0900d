//! Columns from zero in groups, and a line across all of them for each value that they are compared with.

use super::axes::{self, PlotArea};
use super::drawing::{Drawing, SMALL_LETTER_WIDTH, text_width};
use super::legend::{self, LegendSign};
use crate::charts::{Column, ColumnChart, ReferenceLine, to_f64, value_range};
use retrial_results::verdict::number;

const FIELD_HEIGHT: f64 = 240.0;
/// The part of a group's room that its columns take, and of a column's room that it fills.
const GROUP_SHARE: f64 = 0.84;
const COLUMN_SHARE: f64 = 0.86;
const MAX_COLUMN_ROOM: f64 = 72.0;
/// The least room of a column with a number above it.
const MIN_NUMBER_ROOM: f64 = 13.0;
/// The height of a line's name and number, next to it.
const REFERENCE_HEIGHT: f64 = 28.0;
/// The most that names of lines take of a drawing.
const MAX_MARGIN_SHARE: f64 = 0.25;
/// Larger numbers are printed with an exponent.
const MAX_GROUPED_NUMBER: f64 = 1e9;
const CLASSES: [&str; 6] = ["f1", "f2", "f3", "f4", "f5", "f6"];

struct ColumnLayout {
    field: PlotArea,
    /// The room of a group, and of a column.
    group: f64,
    column: f64,
    /// The numbers above the columns, and whether they run upwards.
    numbers: Vec<String>,
    are_upright: bool,
    /// The values of the lines across all columns.
    references: Vec<f64>,
}

impl ColumnLayout {
    fn new(drawing: &mut Drawing, chart: &ColumnChart) -> Self {
        let mut values: Vec<f64> = chart.axis_values().collect();
        let (_, most) = value_range(values.iter().copied());
        let (factor, _) = number::display_scale(&chart.unit, most);
        let numbers: Vec<String> =
            chart.columns().map(|(_, _, column)| format_short(column.value * factor)).collect();
        let widths = numbers.iter().map(|text| text_width(text, SMALL_LETTER_WIDTH));
        let widest = widths.fold(0.0, f64::max);
        let margin = margin_width(drawing.width, chart, factor);
        // The field's own ends, before its numbers at the left are known.
        let width = drawing.width - margin - 64.0;
        let column_room = |width: f64| {
            let group = width / to_f64(chart.groups.len().max(1));
            (group * GROUP_SHARE / to_f64(chart.series.len().max(1))).min(MAX_COLUMN_ROOM)
        };
        let are_upright = widest > column_room(width);
        let above = if are_upright { widest + 10.0 } else { 32.0 };
        if most > 0.0 {
            values.push(most * FIELD_HEIGHT / (FIELD_HEIGHT - above));
        }
        let direction = chart.direction;
        let mut field = PlotArea::new(drawing, &values, &chart.unit, true, FIELD_HEIGHT);
        if !direction.is_empty() {
            drawing.draw_text("s e", drawing.width - 4.0, field.top - 13.0, direction);
        }
        field.right -= margin;
        let width = field.right - field.left;
        Self {
            group: width / to_f64(chart.groups.len().max(1)),
            column: column_room(width),
            numbers,
            are_upright,
            references: chart.references.iter().map(|line| line.value).collect(),
            field,
        }
    }

    /// Returns whether numbers run upwards, and have room.
    fn has_upright_numbers(&self) -> bool {
        self.are_upright && self.column >= MIN_NUMBER_ROOM
    }

    fn middle(&self, group: usize, series: usize, count: usize) -> f64 {
        let middle = self.field.left + (to_f64(group) + 0.5) * self.group;
        let shift = to_f64(series) + 0.5 - to_f64(count) / 2.0;
        middle + shift * self.column
    }
}

pub(super) fn draw_columns(drawing: &mut Drawing, chart: &ColumnChart) {
    let layout = ColumnLayout::new(drawing, chart);
    let field = &layout.field;
    // Numbers that run upwards are next to no line.
    let line_end = if layout.has_upright_numbers() { field.left } else { field.right };
    field.draw_axis(drawing, line_end);
    let ends = (field.left, field.right);
    axes::draw_categories(drawing, &chart.groups, &chart.axis_name, ends);
    let count = chart.series.len();
    let zero = field.y_position(0.0);
    for (group, series, column) in chart.columns() {
        let (x, top) = (layout.middle(group, series, count), field.y_position(column.value));
        let width = layout.column * COLUMN_SHARE;
        let size = (width, (zero - top).abs().max(1.0));
        let corner = (x - width / 2.0, top.min(zero));
        drawing.draw_rectangle(CLASSES[series % CLASSES.len()], corner, size);
        if let Some(published) = column.published {
            let y = field.y_position(published);
            let half = layout.column / 2.0;
            drawing.draw_line("q", (x - half, y), (x + half, y));
        }
    }
    for line in &chart.references {
        let y = field.y_position(line.value);
        drawing.draw_line("k", (field.left, y), (field.right, y));
    }
    for ((group, series, column), text) in chart.columns().zip(&layout.numbers) {
        draw_number(drawing, &layout, layout.middle(group, series, count), &column, text);
    }
    draw_reference_names(drawing, chart, field);
    draw_column_legend(drawing, chart);
}

/// The range of a column's trials, and its value above that.
fn draw_number(drawing: &mut Drawing, layout: &ColumnLayout, x: f64, column: &Column, text: &str) {
    let field = &layout.field;
    let mut top = field.y_position(column.value);
    if let Some((low, high)) = column.range {
        let high = field.y_position(high);
        drawing.draw_upright_whisker(x, field.y_position(low), high);
        top = top.min(high);
    }
    let compared = column.published.into_iter().chain(layout.references.iter().copied());
    let lines: Vec<f64> = compared.map(|value| field.y_position(value)).collect();
    if layout.has_upright_numbers() {
        let height = text_width(text, SMALL_LETTER_WIDTH);
        let start = axes::raise_above_lines(top - 5.0, height, &lines);
        drawing.draw_upright_text(x + 4.0, start, text);
    } else if !layout.are_upright {
        drawing.draw_text("s m n", x, field.free_baseline(top - 5.0, &lines), text);
    }
}

/// The room at the right for the names and numbers of the lines.
fn margin_width(width: f64, chart: &ColumnChart, factor: f64) -> f64 {
    let texts = chart.references.iter().flat_map(|line| {
        let number = format_short(line.value * factor);
        [line.name.clone(), number].map(|text| text_width(&text, SMALL_LETTER_WIDTH))
    });
    let widest = texts.fold(0.0, f64::max);
    if widest > 0.0 { (widest + 6.0).min(width * MAX_MARGIN_SHARE) } else { 0.0 }
}

/// The name of each line and its number, at its right end, without overlap.
fn draw_reference_names(drawing: &mut Drawing, chart: &ColumnChart, field: &PlotArea) {
    let (_, most) = value_range(chart.axis_values());
    let (factor, _) = number::display_scale(&chart.unit, most);
    let mut lines: Vec<&ReferenceLine> = chart.references.iter().collect();
    lines.sort_by(|left, right| right.value.total_cmp(&left.value));
    let room = drawing.width - field.right - 6.0;
    let mut lowest = field.top;
    for (line, below) in lines.iter().zip((0..lines.len()).rev()) {
        let last = field.bottom - REFERENCE_HEIGHT / 2.0 - to_f64(below) * REFERENCE_HEIGHT;
        let y = (field.y_position(line.value) + 4.0).max(lowest).min(last);
        lowest = y + REFERENCE_HEIGHT;
        let x = field.right + 6.0;
        drawing.draw_truncated_text("s", x, y, &line.name, room * 1.15);
        drawing.draw_text("s", x, y + 13.0, &format_short(line.value * factor));
    }
}

fn draw_column_legend(drawing: &mut Drawing, chart: &ColumnChart) {
    let (_, most) = value_range(chart.axis_values());
    let series = chart.series.iter().enumerate().map(|(number, series)| {
        let name = match series.name.as_str() {
            "" => "measured".to_owned(),
            name => name.to_owned(),
        };
        (LegendSign::Square(CLASSES[number % CLASSES.len()]), name)
    });
    let lines = chart.references.iter().map(|line| {
        let value = number::format_figure_like(line.value, &chart.unit, most);
        (LegendSign::Dashed, format!("{}: {value}", line.name))
    });
    let any = |is: fn(&Column) -> bool| chart.columns().any(|(_, _, column)| is(&column));
    let others = [
        any(|column| column.published.is_some())
            .then(|| (LegendSign::Edge, "published".to_owned())),
        any(|column| column.range.is_some())
            .then(|| (LegendSign::Whisker, chart.whiskers.to_owned())),
    ];
    legend::draw_legend(drawing, series.chain(lines).chain(others.into_iter().flatten()));
}

/// A number with four digits, or as many as it has before the point if these are few.
fn format_short(value: f64) -> String {
    if value.abs() >= MAX_GROUPED_NUMBER && value.is_finite() {
        return format!("{value:.3e}");
    }
    if value == 0.0 || !value.is_finite() {
        return number::format_grouped(value);
    }
    let step = 10_f64.powf(value.abs().log10().floor() - 3.0).min(1.0);
    number::format_grouped((value / step).round() * step)
}
