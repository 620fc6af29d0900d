//! Charts as SVG: 440 units wide, so that letters stay readable on a narrow screen.

mod bars;
mod frame;
mod legend;
mod lines;
mod ratios;

use self::frame::{Drawing, WIDTH, wrapped};
use super::{Chart, Kind};
use crate::report::markup::Markup;

/// The colours and fonts: once in a page, or within a file.
pub(in crate::report) const STYLE: &str = include_str!("style.css");

/// Height of a line of a title.
const TITLE: f64 = 19.0;

/// A file of its own.
#[must_use]
pub fn standalone(chart: &Chart) -> String {
    let mut markup = Markup::default();
    markup.literal("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let title = wrapped(&chart.title, WIDTH - 8.0);
    draw(&mut markup, chart, "chart", &title);
    markup.literal("\n");
    markup.into_string()
}

/// A part of a page, whose caption has the title; `id` is unique in it.
pub(in crate::report) fn inline(markup: &mut Markup, chart: &Chart, id: &str) {
    draw(markup, chart, id, &[]);
}

fn draw(markup: &mut Markup, chart: &Chart, id: &str, title: &[String]) {
    let mut drawing = Drawing::new(id, frame::real(title.len()) * TITLE);
    for (line, top) in title.iter().zip(0..) {
        drawing.text("t", 4.0, 15.0 + f64::from(top) * TITLE, line);
    }
    match &chart.kind {
        Kind::Bars(bars) => bars::draw(&mut drawing, bars),
        Kind::Ratios(ratios) => ratios::draw(&mut drawing, ratios),
        Kind::Lines(lines) => lines::draw(&mut drawing, lines),
    }
    let (titled, told) = (format!("{id}-t"), format!("{id}-d"));
    let view = format!("0 0 {WIDTH:.0} {:.0}", drawing.height.ceil());
    let labelled = format!("{titled} {told}");
    let mut attributes = vec![
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("class", "chart"),
        ("viewBox", view.as_str()),
        ("role", "img"),
        ("aria-labelledby", labelled.as_str()),
    ];
    let (width, height) = (
        format!("{:.0}", WIDTH * 2.0),
        format!("{:.0}", drawing.height.ceil() * 2.0),
    );
    if !title.is_empty() {
        attributes.extend([("width", width.as_str()), ("height", height.as_str())]);
    }
    let is_file = !title.is_empty();
    markup.element("svg", &attributes, |svg| {
        svg.leaf("title", &[("id", &titled)], &chart.title);
        svg.leaf("desc", &[("id", &told)], &chart.told);
        if is_file {
            svg.element("style", &[], |style| {
                style.literal(STYLE);
            });
            let paper = [("width", "100%"), ("height", "100%")];
            svg.empty(
                "rect",
                &[paper[0], paper[1], ("style", "fill:var(--paper)")],
            );
        }
        svg.append(&drawing.markup);
    });
}
