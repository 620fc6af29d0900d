//! Charts as SVG: 440 units wide, so that letters stay readable on a narrow screen. Ratios, columns and
//! dots have a second drawing for wide screens.

mod axes;
mod bars;
mod columns;
mod dots;
mod drawing;
mod legend;
mod lines;
mod ratios;
mod verdicts;

use maud::{Markup, PreEscaped, html};

use self::drawing::{DRAWING_WIDTH, Drawing, WIDE_DRAWING_WIDTH, wrap_lines};
use super::charts::{Chart, ChartKind, to_f64};
use super::document::sanitize_line;

/// The colours and fonts: once in a page, or within a file.
pub(super) const STYLE: &str = include_str!("style.css");

const TITLE_LINE_HEIGHT: f64 = 19.0;

/// A file of its own.
pub fn render_svg(chart: &Chart) -> String {
    let width = if is_wide(chart) { WIDE_DRAWING_WIDTH } else { DRAWING_WIDTH };
    let title = wrap_lines(&chart.title, width - 8.0);
    let drawn = draw_chart(chart, "chart", width, &title).into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawn}\n")
}

/// Returns whether a chart takes all of a wide screen.
pub(super) fn is_wide(chart: &Chart) -> bool {
    matches!(chart.kind, ChartKind::Ratios(_) | ChartKind::Dots(_) | ChartKind::Columns(_))
}

/// A part of a page, whose caption has the title; `id` is unique in it. The page's style shows one of
/// two drawings.
pub(super) fn render_inline(chart: &Chart, id: &str) -> Markup {
    html! {
        (draw_chart(chart, id, DRAWING_WIDTH, &[]))
        @if is_wide(chart) { (draw_chart(chart, &format!("{id}w"), WIDE_DRAWING_WIDTH, &[])) }
    }
}

fn draw_chart(chart: &Chart, id: &str, width: f64, title: &[String]) -> Markup {
    let mut drawing = Drawing::new(width, to_f64(title.len()) * TITLE_LINE_HEIGHT);
    for (line, top) in title.iter().zip(0..) {
        drawing.draw_text("t", 4.0, 15.0 + f64::from(top) * TITLE_LINE_HEIGHT, line);
    }
    match &chart.kind {
        ChartKind::Bars(bars) => bars::draw_bars(&mut drawing, bars),
        ChartKind::Columns(columns) => columns::draw_columns(&mut drawing, columns),
        ChartKind::Ratios(ratios) => ratios::draw_ratios(&mut drawing, ratios),
        ChartKind::Lines(lines) => lines::draw_lines(&mut drawing, lines),
        ChartKind::Verdicts(verdicts) => verdicts::draw_verdicts(&mut drawing, verdicts),
        ChartKind::Dots(dots) => dots::draw_dots(&mut drawing, dots),
    }
    let height = drawing.height.ceil();
    let is_file = !title.is_empty();
    let size = |units: f64| is_file.then(|| format!("{:.0}", units * 2.0));
    let class = if width < WIDE_DRAWING_WIDTH { "chart" } else { "chart wide" };
    html! {
        svg class=(class) xmlns="http://www.w3.org/2000/svg"
            viewBox=(format!("0 0 {width:.0} {height:.0}"))
            role="img" aria-labelledby=(format!("{id}-t {id}-d"))
            width=[size(width)] height=[size(height)] {
            title id=(format!("{id}-t")) { (sanitize_line(&chart.title)) }
            desc id=(format!("{id}-d")) { (sanitize_line(&chart.description)) }
            @if is_file {
                style { (PreEscaped(STYLE)) }
                rect width="100%" height="100%" style="fill:var(--paper)" {}
            }
            (PreEscaped(&drawing.body))
        }
    }
}
