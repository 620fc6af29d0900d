//! The legend below a drawing.

use super::drawing::{Coordinate, Drawing, SMALL_LETTER_WIDTH, text_width};

pub(super) enum LegendSign {
    /// A filled rectangle, by its class.
    Square(&'static str),
    /// The whisker of an interval.
    Whisker,
    /// The point of a trial.
    Point,
    /// The triangle of another published figure.
    Triangle,
    /// The dashed line of the reference.
    Dashed,
    /// The edge of what is required.
    Edge,
    /// A line of a series, by its number.
    Line(usize),
    /// A point of a series without a line, by its number.
    Marker(usize),
}

/// Draws them in as many rows as needed.
pub(super) fn draw_legend<N: AsRef<str>>(
    drawing: &mut Drawing,
    entries: impl IntoIterator<Item = (LegendSign, N)>,
) {
    let mut remaining = entries.into_iter().peekable();
    if remaining.peek().is_none() {
        return;
    }
    let mut x = 4.0;
    let mut y = drawing.height + 12.0;
    for (sign, name) in remaining {
        let label = name.as_ref();
        let width = 24.0 + text_width(label, SMALL_LETTER_WIDTH) + 12.0;
        if x > 4.0 && x + width > drawing.width {
            x = 4.0;
            y += 18.0;
        }
        draw_sign(drawing, &sign, x, y);
        let room = (drawing.width - x - 24.0) * 1.15;
        drawing.draw_truncated_text("s", x + 24.0, y + 4.0, label, room);
        x += width;
    }
    drawing.height = y + 10.0;
}

fn draw_sign(drawing: &mut Drawing, sign: &LegendSign, x: f64, y: f64) {
    match sign {
        LegendSign::Square(class) => drawing.draw_rectangle(class, (x, y - 5.0), (18.0, 10.0)),
        LegendSign::Whisker => drawing.draw_whisker(y, x + 1.0, x + 17.0),
        LegendSign::Point => drawing.draw_point(x + 9.0, y),
        LegendSign::Triangle => drawing.draw_triangle(x + 9.0, y),
        LegendSign::Dashed => drawing.draw_line("k", (x, y), (x + 18.0, y)),
        LegendSign::Edge => drawing.draw_line("q", (x, y), (x + 18.0, y)),
        LegendSign::Marker(number) => drawing.draw_marker(*number, x + 9.0, y),
        LegendSign::Line(number) => {
            drawing.draw_stroke(*number, &format!("M{} {y}h18", Coordinate(x)));
            drawing.draw_marker(*number, x + 9.0, y);
        }
    }
}
