//! Charts as SVG: 440 units wide, so that letters stay readable on a narrow screen. Ratios, which decide,
//! have a second drawing for wide screens.

mod axes;
mod bars;
mod dots;
mod drawing;
mod legend;
mod lines;
mod ratios;
mod verdicts;

use maud::{Markup, PreEscaped, html};

use self::drawing::{Drawing, WIDE, WIDTH, wrapped};
use super::charts::{Chart, ChartKind, to_f64};
use super::document::clean;

/// The colours and fonts: once in a page, or within a file.
pub(super) const STYLE: &str = include_str!("style.css");

/// Height of a line of a title.
const TITLE: f64 = 19.0;

/// A file of its own.
pub fn render(chart: &Chart) -> String {
    let width = if is_wide(chart) { WIDE } else { WIDTH };
    let title = wrapped(&chart.title, width - 8.0);
    let drawn = draw(chart, "chart", width, &title).into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawn}\n")
}

/// Returns whether a chart takes all of a wide screen.
pub(super) fn is_wide(chart: &Chart) -> bool {
    matches!(chart.kind, ChartKind::Ratios(_) | ChartKind::Dots(_))
}

/// A part of a page, whose caption has the title; `id` is unique in it. The page's style shows one of
/// two drawings.
pub(super) fn inline(chart: &Chart, id: &str) -> Markup {
    html! {
        (draw(chart, id, WIDTH, &[]))
        @if is_wide(chart) { (draw(chart, &format!("{id}w"), WIDE, &[])) }
    }
}

fn draw(chart: &Chart, id: &str, width: f64, title: &[String]) -> Markup {
    let mut drawing = Drawing::new(id, width, to_f64(title.len()) * TITLE);
    for (line, top) in title.iter().zip(0..) {
        drawing.text("t", 4.0, 15.0 + f64::from(top) * TITLE, line);
    }
    match &chart.kind {
        ChartKind::Bars(bars) => bars::draw(&mut drawing, bars),
        ChartKind::Ratios(ratios) => ratios::draw(&mut drawing, ratios),
        ChartKind::Lines(lines) => lines::draw(&mut drawing, lines),
        ChartKind::Verdicts(verdicts) => verdicts::draw(&mut drawing, verdicts),
        ChartKind::Dots(dots) => dots::draw(&mut drawing, dots),
    }
    let height = drawing.height.ceil();
    let is_file = !title.is_empty();
    let size = |units: f64| is_file.then(|| format!("{:.0}", units * 2.0));
    let class = if width < WIDE { "chart" } else { "chart wide" };
    html! {
        svg class=(class) xmlns="http://www.w3.org/2000/svg"
            viewBox=(format!("0 0 {width:.0} {height:.0}"))
            role="img" aria-labelledby=(format!("{id}-t {id}-d"))
            width=[size(width)] height=[size(height)] {
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
