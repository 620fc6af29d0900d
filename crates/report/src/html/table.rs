//! Tables of a page, with columns so wide that no cell needs more than two lines. Where a table does not fit, each of its
//! rows is a block of cells with labels: nothing is hidden. On a phone these are below each other.

use itertools::join;
use maud::{Markup, html};

use super::table_width::{fit_class, is_flowing, is_on_one_line, two_line_width};
use super::{to_link_target, tone_class};
use crate::document::{Column, ColumnKind, Table, TableCell};

/// More columns are below each other on a narrow screen.
const MAX_UNSTACKED_COLUMNS: usize = 3;

/// A table in a region that scrolls by itself if it is too wide.
pub(super) fn render_table(table: &Table, heading: &str, is_website: bool) -> Markup {
    let used = table.used_columns();
    let caption = table.caption.as_str();
    let is_stacked = used.len() > MAX_UNSTACKED_COLUMNS;
    let classes = is_stacked.then(|| format!("stacked {}", fit_class(table, &used, is_website)));
    html! {
        div.table role="region" tabindex="0" aria-label=(caption) {
            table class=[classes] {
                caption class=[(caption == heading).then_some("hidden")] { (caption) }
                thead { tr { @for at in &used { (render_head(table, *at)) } } }
                @for group in &table.groups {
                    tbody {
                        @if let Some(title) = &group.title {
                            tr { th scope="rowgroup" colspan=(used.len()) { (render_content(title)) } }
                        }
                        @for row in &group.rows {
                            tr {
                                @for (at, cell) in used.iter().filter_map(|at| Some((at, row.get(*at)?))) {
                                    (render_cell(cell, &table.columns[*at], is_stacked))
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
        }
    }
}

fn render_head(table: &Table, at: usize) -> Markup {
    let column = &table.columns[at];
    let width = two_line_width(table, at).map(|width| format!("--width:{width:.1}rem"));
    html! {
        @if column.name.is_empty() { td {} }
        @else {
            th scope="col" class=[(column.kind == ColumnKind::Number).then_some("n")] style=[width] {
                (column.name.as_str())
                @if !column.note.is_empty() { " " small { (column.note.as_str()) } }
            }
        }
    }
}

/// The text of a cell, with its note and bar.
fn render_content(cell: &TableCell) -> Markup {
    html! {
        @match cell.link.as_deref().map(to_link_target) {
            Some(to) => a href=(to) { (cell.text.as_str()) },
            None => (cell.text.as_str()),
        }
        @if !cell.note.is_empty() { " " small.note { (cell.note.as_str()) } }
        @if let Some(ratio) = cell.ratio { (render_ratio_bar(ratio)) }
    }
}

/// The ratio at either end of a bar, above and below 1.
const BAR_RANGE: f64 = 0.2;

/// A bar from the middle, which is 1, to a ratio: to the right if it is above 1.
fn render_ratio_bar(ratio: f64) -> Markup {
    let end = ((ratio - 1.0) / BAR_RANGE).clamp(-1.0, 1.0) * 50.0 + 50.0;
    let place = format!("left:{:.0}%;right:{:.0}%", end.min(50.0), 100.0 - end.max(50.0));
    html! { span.bar aria-hidden="true" { span style=(place) {} } }
}

/// A cell; a stacked one has its column's name as its label.
fn render_cell(cell: &TableCell, column: &Column, is_stacked: bool) -> Markup {
    let is_long = is_flowing(cell);
    let classes = [
        cell.tone.map(|tone| format!("w {}", tone_class(tone))),
        (column.kind == ColumnKind::Number && cell.tone.is_none()).then(|| "n".to_owned()),
        (column.kind != ColumnKind::Number && is_on_one_line(cell)).then(|| "s".to_owned()),
        is_long.then(|| "long".to_owned()),
    ];
    let classes = join(classes.into_iter().flatten(), " ");
    let class = Some(classes).filter(|classes| !classes.is_empty());
    let label = (is_stacked && !cell.text.is_empty()).then(|| column.full_name());
    html! {
        @match column.kind {
            ColumnKind::Head => th scope="row" class=[class] { (render_content(cell)) },
            _ => td class=[class] data-label=[label] {
                // One part of a grid next to the label.
                @if is_stacked { div { (render_content(cell)) } } @else { (render_content(cell)) }
            },
        }
    }
}
