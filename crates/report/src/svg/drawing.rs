//! The elements of all drawings: text, lines, rectangles, trials and series.

use std::fmt;

use maud::{Markup, html};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::charts::to_f64;
use crate::document::clean;

/// The width of a drawing for any screen, and of one for a wide screen, in its own units.
pub(super) const WIDTH: f64 = 440.0;
pub(super) const WIDE: f64 = 960.0;
/// Mean width of a letter of the body's size: a generous guess, since fonts differ.
pub(super) const LETTER: f64 = 8.4;
/// Mean width of a bold letter of the body's size.
pub(super) const BOLD: f64 = 9.2;
/// Mean width of a letter of the small size.
pub(super) const SMALL: f64 = 7.3;

/// The class of areas with an outline and hatching: colour alone does not tell areas apart for
/// everybody.
pub(super) const HATCHED: &str = "h";

/// A drawing that grows downwards.
pub(super) struct Drawing {
    pub body: String,
    /// Unique in the page.
    pub id: String,
    pub width: f64,
    pub height: f64,
}

impl Drawing {
    pub fn new(id: &str, width: f64, height: f64) -> Self {
        Self {
            body: String::new(),
            id: id.to_owned(),
            width,
            height,
        }
    }

    pub fn draw(&mut self, element: Markup) {
        self.body.push_str(&element.into_string());
    }

    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.draw(
            html! { text class=(class) x=(Coordinate(x)) y=(Coordinate(y)) { (clean(text)) } },
        );
    }

    /// Text that is cut to a width; the whole of it is its title.
    pub fn cut(&mut self, class: &str, x: f64, y: f64, text: &str, width: f64) {
        let (text, visible) = (clean(text), cut(text, width));
        self.draw(html! {
            text class=(class) x=(Coordinate(x)) y=(Coordinate(y)) {
                (visible)
                @if visible != text { title { (text) } }
            }
        });
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.draw(html! {
            line class=(class) x1=(Coordinate(from.0)) y1=(Coordinate(from.1)) x2=(Coordinate(to.0)) y2=(Coordinate(to.1)) {}
        });
    }

    pub fn path(&mut self, class: &str, path: &str) {
        self.draw(html! { path class=(class) d=(path) {} });
    }

    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.draw(html! { circle class=(class) cx=(Coordinate(x)) cy=(Coordinate(y)) r=(Coordinate(radius)) {} });
    }

    /// A rectangle, filled by its class.
    pub fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let style = (class == HATCHED).then(|| format!("fill:url(#{}-{class})", self.id));
        self.draw(html! {
            rect class=(class) style=[style] x=(Coordinate(x)) y=(Coordinate(y))
                width=(Coordinate(width.max(0.0))) height=(Coordinate(height)) {}
        });
    }

    /// Draws a whisker with ends.
    pub fn whisker(&mut self, y: f64, from: f64, to: f64) {
        let (x, end, top, bottom) = (
            Coordinate(from),
            Coordinate(to),
            Coordinate(y - 5.0),
            Coordinate(y + 5.0),
        );
        let path = format!(
            "M{x} {top}V{bottom}M{x} {y}H{end}M{end} {top}V{bottom}",
            y = Coordinate(y)
        );
        self.path("w", &path);
    }

    /// Draws the point of a trial.
    pub fn point(&mut self, x: f64, y: f64) {
        self.circle("d", (x, y), 3.0);
    }

    /// Draws the line of a series; lines also differ in their dashes.
    pub fn stroke(&mut self, series: usize, path: &str) {
        const DASHES: [Option<&str>; 6] = [
            None,
            Some("7 3"),
            Some("2 3"),
            Some("9 3 2 3"),
            Some("12 4"),
            Some("4 4"),
        ];
        let class = format!("l l{}", series % 6 + 1);
        let dashes = DASHES[series % 6];
        self.draw(html! { path class=(class) d=(path) stroke-dasharray=[dashes] {} });
    }

    /// Draws a point of a series; points also differ in their shape.
    pub fn marker(&mut self, series: usize, x: f64, y: f64) {
        let (left, top, shape) = match series % 4 {
            0 => (4.5, 0.0, "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"),
            1 => (4.0, 4.0, "h8v8h-8z"),
            2 => (0.0, 5.0, "l5 9h-10z"),
            _ => (0.0, 5.5, "l5.5 5.5-5.5 5.5-5.5-5.5z"),
        };
        let path = format!("M{} {}{shape}", Coordinate(x - left), Coordinate(y - top));
        self.path(&format!("f{}", series % 6 + 1), &path);
    }
}

/// Estimates the width of a text.
pub(super) fn text_width(text: &str, letter: f64) -> f64 {
    to_f64(clean(text).width()) * letter
}

/// Cuts a text of the body's size to a width.
pub(super) fn cut(text: &str, width: f64) -> String {
    let text = clean(text);
    if text_width(&text, LETTER) <= width {
        return text;
    }
    let mut used = LETTER;
    let mut result = String::new();
    for letter in text.chars() {
        used += to_f64(letter.width().unwrap_or(0)) * LETTER;
        if used > width {
            break;
        }
        result.push(letter);
    }
    result.trim_end().to_owned() + "…"
}

/// Lines of a title or a label.
pub(super) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in clean(text).split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(line, LETTER) + text_width(word, LETTER) + LETTER <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, width)),
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
