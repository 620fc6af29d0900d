//! The elements of all drawings: text, lines, rectangles, trials and series.

use std::fmt;

use maud::{Markup, html};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::charts::to_f64;
use crate::document::sanitize_line;

/// The width of a drawing for any screen, and of one for a wide screen, in its own units.
pub(super) const DRAWING_WIDTH: f64 = 440.0;
pub(super) const WIDE_DRAWING_WIDTH: f64 = 960.0;
/// Mean width of a letter of the body's size: a generous guess, since fonts differ.
pub(super) const LETTER_WIDTH: f64 = 8.4;
/// Mean width of a bold letter of the body's size.
pub(super) const BOLD_LETTER_WIDTH: f64 = 9.2;
/// Mean width of a letter of the small size.
pub(super) const SMALL_LETTER_WIDTH: f64 = 7.3;

/// A drawing that grows downwards.
pub(super) struct Drawing {
    pub body: String,
    pub width: f64,
    pub height: f64,
}

impl Drawing {
    pub fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    pub fn push_element(&mut self, element: Markup) {
        self.body.push_str(&element.into_string());
    }

    pub fn draw_text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.push_element(html! { text class=(class) x=(Coordinate(x)) y=(Coordinate(y)) { (sanitize_line(text)) } });
    }

    /// Text that is cut to a width; the whole of it is its title.
    pub fn draw_truncated_text(&mut self, class: &str, x: f64, y: f64, text: &str, width: f64) {
        let (text, visible) = (sanitize_line(text), truncate_to_width(text, width));
        self.push_element(html! {
            text class=(class) x=(Coordinate(x)) y=(Coordinate(y)) {
                (visible)
                @if visible != text { title { (text) } }
            }
        });
    }

    pub fn draw_line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.push_element(html! {
            line class=(class) x1=(Coordinate(from.0)) y1=(Coordinate(from.1)) x2=(Coordinate(to.0)) y2=(Coordinate(to.1)) {}
        });
    }

    pub fn draw_path(&mut self, class: &str, path: &str) {
        self.push_element(html! { path class=(class) d=(path) {} });
    }

    pub fn draw_circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.push_element(html! { circle class=(class) cx=(Coordinate(x)) cy=(Coordinate(y)) r=(Coordinate(radius)) {} });
    }

    /// A rectangle, filled by its class.
    pub fn draw_rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.push_element(html! {
            rect class=(class) x=(Coordinate(x)) y=(Coordinate(y))
                width=(Coordinate(width.max(0.0))) height=(Coordinate(height)) {}
        });
    }

    /// Draws a whisker with ends.
    pub fn draw_whisker(&mut self, y: f64, from: f64, to: f64) {
        let (x, end, top, bottom) =
            (Coordinate(from), Coordinate(to), Coordinate(y - 5.0), Coordinate(y + 5.0));
        let path =
            format!("M{x} {top}V{bottom}M{x} {y}H{end}M{end} {top}V{bottom}", y = Coordinate(y));
        self.draw_path("w", &path);
    }

    /// Draws a whisker with ends, from a lower to a higher point.
    pub fn draw_upright_whisker(&mut self, x: f64, low: f64, high: f64) {
        let (from, to) = (Coordinate(x - 5.0), Coordinate(x + 5.0));
        let (x, low, high) = (Coordinate(x), Coordinate(low), Coordinate(high));
        let path = format!("M{from} {low}H{to}M{x} {low}V{high}M{from} {high}H{to}");
        self.draw_path("w", &path);
    }

    /// Small text that runs upwards.
    pub fn draw_upright_text(&mut self, x: f64, y: f64, text: &str) {
        let turned = format!("rotate(-90 {} {})", Coordinate(x), Coordinate(y));
        self.push_element(html! {
            text class="s" x=(Coordinate(x)) y=(Coordinate(y)) transform=(turned) { (sanitize_line(text)) }
        });
    }

    /// Draws the point of a trial.
    pub fn draw_point(&mut self, x: f64, y: f64) {
        self.draw_circle("d", (x, y), 3.0);
    }

    /// Draws the triangle of another published figure.
    pub fn draw_triangle(&mut self, x: f64, y: f64) {
        let path = format!("M{} {}l5.5 9.5h-11z", Coordinate(x), Coordinate(y - 6.0));
        self.draw_path("w", &path);
    }

    /// Draws the line of a series; lines also differ in their dashes.
    pub fn draw_stroke(&mut self, series: usize, path: &str) {
        const DASHES: [Option<&str>; 6] =
            [None, Some("7 3"), Some("2 3"), Some("9 3 2 3"), Some("12 4"), Some("4 4")];
        let class = format!("l l{}", series % 6 + 1);
        let dashes = DASHES[series % 6];
        self.push_element(html! { path class=(class) d=(path) stroke-dasharray=[dashes] {} });
    }

    /// Draws a point of a series; points also differ in their shape.
    pub fn draw_marker(&mut self, series: usize, x: f64, y: f64) {
        let (left, top, shape) = match series % 4 {
            0 => (4.5, 0.0, "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"),
            1 => (4.0, 4.0, "h8v8h-8z"),
            2 => (0.0, 5.0, "l5 9h-10z"),
            _ => (0.0, 5.5, "l5.5 5.5-5.5 5.5-5.5-5.5z"),
        };
        let path = format!("M{} {}{shape}", Coordinate(x - left), Coordinate(y - top));
        self.draw_path(&format!("f{}", series % 6 + 1), &path);
    }
}

/// Estimates the width of a text.
pub(super) fn text_width(text: &str, letter: f64) -> f64 {
    to_f64(sanitize_line(text).width()) * letter
}

/// Cuts a text of the body's size to a width.
pub(super) fn truncate_to_width(text: &str, width: f64) -> String {
    let text = sanitize_line(text);
    if text_width(&text, LETTER_WIDTH) <= width {
        return text;
    }
    let mut used = LETTER_WIDTH;
    let mut result = String::new();
    for letter in text.chars() {
        used += to_f64(letter.width().unwrap_or(0)) * LETTER_WIDTH;
        if used > width {
            break;
        }
        result.push(letter);
    }
    result.trim_end().to_owned() + "…"
}

/// Lines of a title or a label.
pub(super) fn wrap_lines(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sanitize_line(text).split(' ') {
        match lines.last_mut() {
            Some(line)
                if text_width(line, LETTER_WIDTH)
                    + text_width(word, LETTER_WIDTH)
                    + LETTER_WIDTH
                    <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(truncate_to_width(word, width)),
        }
    }
    lines
}

/// A coordinate, to a tenth.
pub(super) struct Coordinate(pub f64);

impl fmt::Display for Coordinate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.0.is_finite() { self.0 } else { 0.0 };
        let text = format!("{value:.1}");
        match text.strip_suffix(".0") {
            Some("-0") => formatter.write_str("0"),
            Some(whole) => formatter.write_str(whole),
            None => formatter.write_str(&text),
        }
    }
}
