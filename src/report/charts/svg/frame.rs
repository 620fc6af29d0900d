//! What all drawings are made of: text, lines, rectangles, and the axis below.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::scale::Scale;
use crate::report::markup::Markup;
use crate::report::words::clean;

/// Units of a drawing's width.
pub(super) const WIDTH: f64 = 440.0;
/// Mean width of a letter of the body's size: a generous guess, since fonts differ.
const LETTER: f64 = 8.4;
/// The same, bold.
pub(super) const BOLD: f64 = 9.2;
/// The same of the small size.
pub(super) const SMALL: f64 = 7.3;

/// A drawing that grows downwards.
pub(super) struct Drawing {
    pub markup: Markup,
    /// Unique in the page.
    pub id: String,
    pub height: f64,
}

impl Drawing {
    pub fn new(id: &str, height: f64) -> Self {
        Self {
            markup: Markup::default(),
            id: id.to_owned(),
            height,
        }
    }

    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y) = (place(x), place(y));
        self.markup
            .leaf("text", &[("class", class), ("x", &x), ("y", &y)], text);
    }

    /// Text that is cut to a width; the whole of it is its title.
    pub fn cut(&mut self, class: &str, x: f64, y: f64, text: &str, width: f64) {
        let shown = cut(text, width);
        let (x, y) = (place(x), place(y));
        let attributes = [("class", class), ("x", x.as_str()), ("y", y.as_str())];
        self.markup.element("text", &attributes, |inner| {
            inner.text(&shown);
            if shown != clean(text) {
                inner.leaf("title", &[], text);
            }
        });
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (place(from.0), place(from.1), place(to.0), place(to.1));
        let attributes = [
            ("class", class),
            ("x1", x1.as_str()),
            ("y1", y1.as_str()),
            ("x2", x2.as_str()),
            ("y2", y2.as_str()),
        ];
        self.markup.empty("line", &attributes);
    }

    pub fn rectangle(&mut self, paint: (&'static str, &str), corner: (f64, f64), size: (f64, f64)) {
        let (x, y) = (place(corner.0), place(corner.1));
        let (width, height) = (place(size.0.max(0.0)), place(size.1));
        let attributes = [
            paint,
            ("x", x.as_str()),
            ("y", y.as_str()),
            ("width", width.as_str()),
            ("height", height.as_str()),
        ];
        self.markup.empty("rect", &attributes);
    }

    /// A whisker with ends.
    pub fn whisker(&mut self, y: f64, from: f64, to: f64) {
        let path = format!(
            "M{x} {top}V{bottom}M{x} {y}H{end}M{end} {top}V{bottom}",
            x = place(from),
            end = place(to),
            y = place(y),
            top = place(y - 5.0),
            bottom = place(y + 5.0),
        );
        self.markup.empty("path", &[("class", "w"), ("d", &path)]);
    }

    /// The numbers below, with a line up to `top` for each.
    pub fn axis_below(&mut self, scale: &Scale, top: f64, (left, right): (f64, f64), named: &str) {
        let bottom = self.height;
        let at = |value: f64| left + scale.place(value) * (right - left);
        // Numbers that would touch each other are left out, the first one never.
        let mut free = f64::NEG_INFINITY;
        for tick in &scale.ticks {
            let x = at(*tick);
            self.line("g", (x, top), (x, bottom + 4.0));
            let shown = scale.shown(*tick);
            let half = text_width(&shown, SMALL) / 2.0;
            let middle = x.clamp(half, WIDTH - half);
            if middle - half >= free {
                self.text("s m", middle, bottom + 17.0, &shown);
                free = middle + half + 5.0;
            }
        }
        self.line("a", (left, bottom), (right, bottom));
        self.text("s m", f64::midpoint(left, right), bottom + 34.0, named);
        self.height += 40.0;
    }
}

/// How wide a text is drawn, about.
pub(super) fn text_width(text: &str, letter: f64) -> f64 {
    real(clean(text).width()) * letter
}

/// A text as wide as fits, of the body's size.
pub(super) fn cut(text: &str, width: f64) -> String {
    let text = clean(text);
    if text_width(&text, LETTER) <= width {
        return text;
    }
    let mut used = LETTER;
    let mut shown = String::new();
    for letter in text.chars() {
        used += real(letter.width().unwrap_or(0)) * LETTER;
        if used > width {
            break;
        }
        shown.push(letter);
    }
    shown.trim_end().to_owned() + "…"
}

/// Lines of a title.
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
pub(super) fn place(value: f64) -> String {
    let text = format!("{:.1}", if value.is_finite() { value } else { 0.0 });
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of things on a drawing")]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}
