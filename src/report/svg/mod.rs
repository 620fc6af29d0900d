//! Charts as SVG: 440 units wide, so that letters stay readable on a narrow screen.

mod bars;
mod drawing;
mod legend;
mod lines;
mod ratios;

use maud::{Markup, PreEscaped, html};

use self::drawing::{Drawing, WIDTH, real, wrapped};
use super::charts::{Chart, Kind};
use super::document::clean;

/// The colours and fonts: once in a page, or within a file.
pub(super) const STYLE: &str = include_str!("style.css");

/// Height of a line of a title.
const TITLE: f64 = 19.0;

/// A file of its own.
#[must_use]
pub fn render(chart: &Chart) -> String {
    let title = wrapped(&chart.title, WIDTH - 8.0);
    let drawn = draw(chart, "chart", &title).into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawn}\n")
}

/// A part of a page, whose caption has the title; `id` is unique in it.
pub(super) fn inline(chart: &Chart, id: &str) -> Markup {
    draw(chart, id, &[])
}

fn draw(chart: &Chart, id: &str, title: &[String]) -> Markup {
    let mut drawing = Drawing::new(id, real(title.len()) * TITLE);
    for (line, top) in title.iter().zip(0..) {
        drawing.text("t", 4.0, 15.0 + f64::from(top) * TITLE, line);
    }
    match &chart.kind {
        Kind::Bars(bars) => bars::draw(&mut drawing, bars),
        Kind::Ratios(ratios) => ratios::draw(&mut drawing, ratios),
        Kind::Lines(lines) => lines::draw(&mut drawing, lines),
    }
    let height = drawing.height.ceil();
    let is_file = !title.is_empty();
    let size = |units: f64| is_file.then(|| format!("{:.0}", units * 2.0));
    html! {
        svg.chart xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH:.0} {height:.0}"))
            role="img" aria-labelledby=(format!("{id}-t {id}-d"))
            width=[size(WIDTH)] height=[size(height)] {
            title id=(format!("{id}-t")) { (clean(&chart.title)) }
            desc id=(format!("{id}-d")) { (clean(&chart.description)) }
            @if is_file {
                style { (PreEscaped(STYLE)) }
                rect width="100%" height="100%" style="fill:var(--paper)" {}
            }
            (PreEscaped(&drawing.body))
        }
    }
}
