//! Tables of a page: each in a region that scrolls by itself, with columns so wide that no cell needs more than two
//! lines, and below each other on a narrow screen.

use itertools::join;
use maud::{Markup, html};

use super::{to_link_target, tone_class};
use crate::charts::to_f64;
use crate::document::{Column, ColumnKind, Table, TableCell};

/// More columns are below each other on a narrow screen.
const MAX_UNSTACKED_COLUMNS: usize = 3;
/// Cells of at most this many letters are not wrapped.
const MAX_NOWRAP_LETTERS: usize = 16;
/// Notes of at most this many letters, after texts of at most so many, are lines of their own.
const MAX_NOTE_LINE_LETTERS: usize = 40;
const MAX_NOTED_LETTERS: usize = 24;
/// The size of a note's letters, of those of its text.
const NOTE_SIZE: f64 = 0.8;
/// The width of a letter in a table, rem; estimated generously, since fonts differ.
const LETTER_REM: f64 = 0.465;
/// The letters that are missing at the end of a line: in lists of words, and at most in subjects.
const BROKEN_LINE_LETTERS: f64 = 4.5;
const MAX_BROKEN_LETTERS: f64 = 7.0;
/// Narrower columns need no stated width, rem.
const MIN_STATED_WIDTH: f64 = 9.0;

/// A table in a region that scrolls by itself if it is too wide.
pub(super) fn render_table(table: &Table, heading: &str) -> Markup {
    let used = table.used_columns();
    let caption = table.caption.as_str();
    let is_stacked = used.len() > MAX_UNSTACKED_COLUMNS;
    html! {
        div.table role="region" tabindex="0" aria-label=(caption) {
            table class=[is_stacked.then_some("stacked")] {
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

/// Returns whether a note follows the text of its cell: a short one after a short text is a line of its own.
fn is_flowing(cell: &TableCell) -> bool {
    let (text, note) = (cell.text.chars().count(), cell.note.chars().count());
    note > MAX_NOTE_LINE_LETTERS || note > 0 && text > MAX_NOTED_LETTERS
}

/// The width of a text in letters: capitals and digits are wider than others.
fn count_letters(text: &str) -> f64 {
    let is_wide = |letter: &char| letter.is_uppercase() || letter.is_ascii_digit();
    to_f64(text.chars().count()) + to_f64(text.chars().filter(is_wide).count()) * 0.2
}

/// The letters of the longest part of a cell that a line cannot break.
fn longest_word(cell: &TableCell) -> f64 {
    let words = [&cell.text, &cell.note].into_iter();
    let words = words.flat_map(|line| line.split([' ', '-', '/']));
    to_f64(words.map(|word| word.chars().count()).max().unwrap_or(0))
}

/// The width with which each cell of a column takes at most two lines, rem.
fn two_line_width(table: &Table, at: usize) -> Option<f64> {
    let is_subject = table.columns[at].kind == ColumnKind::Head;
    let widths = table.rows().filter_map(|row| row.get(at)).map(|cell| {
        let text = count_letters(&cell.text);
        let note = count_letters(&cell.note) * NOTE_SIZE;
        let letters = if cell.note.is_empty() || is_flowing(cell) {
            let broken = if is_subject {
                (longest_word(cell) / 2.0).min(MAX_BROKEN_LETTERS)
            } else {
                BROKEN_LINE_LETTERS
            };
            f64::midpoint(text, note) + broken
        } else {
            text.max(note)
        };
        letters * LETTER_REM
    });
    let is_wrapped = table.columns[at].kind != ColumnKind::Number;
    let widest = is_wrapped.then(|| widths.fold(0.0, f64::max))?;
    (widest > MIN_STATED_WIDTH).then_some(widest)
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
    let is_short = cell.text.chars().count() <= MAX_NOWRAP_LETTERS;
    let is_on_one_line = !is_long && (is_short || !cell.note.is_empty());
    let classes = [
        cell.tone.map(|tone| format!("w {}", tone_class(tone))),
        (column.kind == ColumnKind::Number && cell.tone.is_none()).then(|| "n".to_owned()),
        (column.kind != ColumnKind::Number && is_on_one_line).then(|| "s".to_owned()),
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
