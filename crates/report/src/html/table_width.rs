//! The lines of a table's cells, and the width that it needs, estimated from its letters: a page has no script that could
//! measure it.

use crate::charts::to_f64;
use crate::document::{Column, ColumnKind, Table, TableCell};

/// Cells of at most this many letters are not wrapped.
const MAX_NOWRAP_LETTERS: usize = 16;
/// Notes of at most this many letters, after texts of at most so many, are lines of their own.
const MAX_NOTE_LINE_LETTERS: usize = 40;
const MAX_NOTED_LETTERS: usize = 24;
/// The size of a note's letters, of those of its text.
const NOTE_SIZE: f64 = 0.8;
/// The width of a letter in a text that is wrapped, rem.
const LETTER_REM: f64 = 0.465;
/// The width of a bold letter, of a plain one.
const BOLD_LETTER: f64 = 1.12;
/// The letters that are missing at the end of a line: in lists of words, and at most in subjects.
const BROKEN_LINE_LETTERS: f64 = 4.5;
const MAX_BROKEN_LETTERS: f64 = 7.0;
/// Narrower columns need no stated width, and wider ones do not get it, rem.
const MIN_STATED_WIDTH: f64 = 9.0;
const MAX_STATED_WIDTH: f64 = 25.5;
/// The space between two columns, rem; in a website, where letters are smaller, too.
const COLUMN_GAP: f64 = 1.25;
const WEBSITE_COLUMN_GAP: f64 = 0.55;
const WEBSITE_LETTER: f64 = 0.92;
/// The widths of the style sheet's classes `fit25` to `fit101`, rem. With the page's margins, windows of 768, 1280 and
/// 1600 pixels are just wider than one of them.
const MIN_FIT: usize = 25;
const MAX_FIT: usize = 101;
const FIT_STEP: usize = 4;

/// Returns whether a note follows the text of its cell: a short one after a short text is a line of its own.
pub(super) fn is_flowing(cell: &TableCell) -> bool {
    let (text, note) = (cell.text.chars().count(), cell.note.chars().count());
    note > MAX_NOTE_LINE_LETTERS || note > 0 && text > MAX_NOTED_LETTERS
}

/// Returns whether the text of a cell of words is not wrapped, and its note is a line of its own.
pub(super) fn is_on_one_line(cell: &TableCell) -> bool {
    let is_short = cell.text.chars().count() <= MAX_NOWRAP_LETTERS;
    !is_flowing(cell) && (is_short || !cell.note.is_empty())
}

/// The class of a table with these columns: narrower regions show its rows as blocks.
pub(super) fn fit_class(table: &Table, used: &[usize], is_website: bool) -> String {
    let (letter, gap) =
        if is_website { (WEBSITE_LETTER, WEBSITE_COLUMN_GAP) } else { (1.0, COLUMN_GAP) };
    let columns = used.iter().map(|at| column_width(table, *at));
    let gaps = to_f64(used.len().saturating_sub(1)) * gap;
    let width = columns.sum::<f64>() * letter + gaps;
    let mut fits = (MIN_FIT..=MAX_FIT).step_by(FIT_STEP);
    format!("fit{}", fits.find(|fit| to_f64(*fit) >= width).unwrap_or(MAX_FIT))
}

/// The width with which no cell of a column is wrapped more often than it has to be, rem.
fn column_width(table: &Table, at: usize) -> f64 {
    let column = &table.columns[at];
    let heads = [&column.name, &column.note].into_iter().flat_map(|head| head.split(' '));
    let head = heads.map(line_width).fold(0.0, f64::max);
    let cells = table.rows().filter_map(|row| row.get(at));
    let widths = cells.map(|cell| {
        let is_unwrapped = column.kind == ColumnKind::Number || is_on_one_line(cell);
        let width = if is_unwrapped {
            line_width(&cell.text).max(line_width(&cell.note) * NOTE_SIZE)
        } else if column.kind == ColumnKind::Head {
            unbreakable_width(&cell.text)
        } else {
            0.0
        };
        if cell.tone.is_some() { width * BOLD_LETTER } else { width }
    });
    let stated = two_line_width(table, at).unwrap_or_default();
    widths.fold(head.max(stated), f64::max)
}

/// The width of the widest part of a text that a line cannot break, rem: it can after a space, and after a hyphen that
/// no digit follows.
fn unbreakable_width(text: &str) -> f64 {
    let mut widest = 0.0_f64;
    let mut part = 0.0;
    for (at, letter) in text.char_indices() {
        let rest = &text[at + letter.len_utf8()..];
        part += letter_width(letter);
        let is_hyphen = letter == '-' && !rest.starts_with(|next: char| next.is_ascii_digit());
        widest = widest.max(part);
        if letter == ' ' || is_hyphen {
            part = 0.0;
        }
    }
    widest
}

/// The width of a text in one line, rem: in letters that are wider than those of most fonts.
fn line_width(text: &str) -> f64 {
    text.chars().map(letter_width).sum()
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '-' | '/' => {
            0.35
        }
        'm' | 'w' | 'M' | 'W' | '%' => 0.9,
        _ if letter.is_ascii_digit() => 0.6,
        _ if letter.is_uppercase() => 0.65,
        _ => 0.57,
    }
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

/// The width with which a cell takes at most two lines.
fn two_line_letters(cell: &TableCell, column: &Column) -> f64 {
    let (text, note) = (count_letters(&cell.text), count_letters(&cell.note) * NOTE_SIZE);
    if !cell.note.is_empty() && !is_flowing(cell) {
        return text.max(note);
    }
    let broken = if column.kind == ColumnKind::Head {
        (longest_word(cell) / 2.0).min(MAX_BROKEN_LETTERS)
    } else {
        BROKEN_LINE_LETTERS
    };
    f64::midpoint(text, note) + broken
}

/// The width with which each cell of a column takes at most two lines, rem.
pub(super) fn two_line_width(table: &Table, at: usize) -> Option<f64> {
    let column = &table.columns[at];
    let cells = table.rows().filter_map(|row| row.get(at));
    let widths = cells.map(|cell| two_line_letters(cell, column) * LETTER_REM);
    let is_wrapped = column.kind != ColumnKind::Number;
    let widest = is_wrapped.then(|| widths.fold(0.0, f64::max))?;
    (widest > MIN_STATED_WIDTH).then_some(widest.min(MAX_STATED_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn table_of(names: &[&str]) -> Table {
        let mut columns = vec![Column::head("scenario")];
        columns.extend(names.iter().map(|name| Column::number(*name)));
        let cells = columns.iter().map(|_| TableCell::from("103,480 tokens/s")).collect();
        Table::new("Figures", columns, [cells])
    }

    fn fit_of(names: &[&str], is_website: bool) -> String {
        let used: Vec<usize> = (0..=names.len()).collect();
        fit_class(&table_of(names), &used, is_website)
    }

    #[test]
    fn each_column_widens_the_class_of_a_table() {
        assert_eq!(fit_of(&["p50", "p90", "p99"], false), "fit41");
        assert_eq!(fit_of(&["p50", "p90", "p99"], true), "fit33");
        assert_eq!(fit_of(&["p99"; 8], false), "fit89");
        assert_eq!(fit_of(&["p99"; 40], false), "fit101");
    }

    #[rstest]
    #[case("Offline performance", "performance")]
    #[case("20270329-190000-llama2", "20270329-190000-")]
    #[case("rocm-7.1", "rocm-7.1")]
    fn a_line_breaks_after_spaces_and_hyphens(#[case] text: &str, #[case] part: &str) {
        assert!((unbreakable_width(text) - line_width(part)).abs() < 1e-9);
    }
}
