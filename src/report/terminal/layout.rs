//! Columns that fit: one line a figure, two, or a list.

use unicode_width::UnicodeWidthStr;

use super::grid::{Cell, GAP, columns, fold, wrapped};
use super::style::{Paint, color};
use crate::report::rows::Row;
use crate::report::words::{MANY, symbol};
use crate::verdict::{Outcome, Verdict, number};

/// Names are folded at their underscores to no less than this.
const FOLDED: usize = 18;

/// The table, in the widest of its forms that fits; a result of many figures has one of its own.
pub(super) fn lay_out(rows: &[Row], width: usize, verdict: &Verdict, paint: Paint) -> String {
    let of_one =
        |one: &Row, other: &Row| (&one.scenario, &one.mode) == (&other.scenario, &other.mode);
    if !rows.chunk_by(of_one).any(|rows| rows.len() > MANY) {
        return together(rows, width, verdict, paint);
    }
    let tables: Vec<String> = rows
        .chunk_by(of_one)
        .map(|rows| {
            by_itself(rows, width, verdict, paint)
                .unwrap_or_else(|| together(rows, width, verdict, paint))
        })
        .collect();
    tables.join("\n")
}

/// The figures of one result, whose name stands above: there is room for theirs. On a narrow
/// terminal the bounds stand in the sentences only.
fn by_itself(rows: &[Row], width: usize, verdict: &Verdict, paint: Paint) -> Option<String> {
    let unverified = if verdict.notice.is_some() {
        "unverified"
    } else {
        ""
    };
    let at = format!("at {}", number::percent(verdict.confidence));
    let table = table_of_all(rows);
    let first = rows.first()?;
    let mut title = format!("{} {}", first.scenario, first.mode);
    let mut head = vec![
        ("figure", ""),
        ("measured", unverified),
        ("published", ""),
        ("ratio", ""),
        (&at, ""),
        ("outcome", ""),
    ];
    let mut lines: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let mut cells = one_line(row);
            // The scenario stands above, the source in the sentences.
            cells.remove(4);
            cells.remove(0);
            if let (Some(table), Some(cell)) = (table, cells.first_mut()) {
                let entry = row.figure[table.len()..].trim_matches(['[', ']']);
                *cell = Cell::of([entry.to_owned()]);
            }
            cells
        })
        .collect();
    if let Some(table) = table {
        title = format!("{title}: {table}");
        head[0] = ("entry", "");
    }
    let laid_out = columns(&head, &lines, width, paint).or_else(|| {
        head.remove(4);
        for cells in &mut lines {
            cells.remove(4);
        }
        columns(&head, &lines, width, paint)
    });
    laid_out.map(|laid_out| format!("{}\n{laid_out}", paint.bold(&title)))
}

/// The one table that all figures are entries of.
fn table_of_all(rows: &[Row]) -> Option<&str> {
    let table = |row: &Row| row.figure.split_once('[').map(|(table, _)| table.len());
    let first = rows.first()?;
    let name = &first.figure[..table(first)?];
    let same = |row: &Row| table(row).is_some_and(|end| &row.figure[..end] == name);
    rows.iter().all(same).then_some(name)
}

fn together(rows: &[Row], width: usize, verdict: &Verdict, paint: Paint) -> String {
    // MLCommons' guidelines ask for the word next to each score.
    let unverified = if verdict.notice.is_some() {
        "unverified"
    } else {
        ""
    };
    let at = format!("at {}", number::percent(verdict.confidence));
    let wide = [
        ("scenario", ""),
        ("figure", ""),
        ("measured", unverified),
        ("published", ""),
        ("source", ""),
        ("ratio", ""),
        (&at, ""),
        ("outcome", ""),
    ];
    let narrow = [
        ("scenario", ""),
        ("measured", unverified),
        ("published", ""),
        ("ratio", &at),
        ("outcome", ""),
    ];
    let lines: Vec<Vec<Cell>> = rows.iter().map(one_line).collect();
    columns(&wide, &lines, width, paint)
        .or_else(|| columns(&narrow, &two_lines(rows, usize::MAX), width, paint))
        .or_else(|| columns(&narrow, &two_lines(rows, FOLDED), width, paint))
        .unwrap_or_else(|| stacked(rows, &at, unverified, width, paint))
}

fn one_line(row: &Row) -> Vec<Cell> {
    let one = |text: &str| Cell::of([text.to_owned()]);
    vec![
        one(&format!("{} {}", row.scenario, row.mode)),
        one(&row.figure),
        one(&row.measured),
        one(&row.published_bare),
        one(&row.source),
        one(&row.ratio),
        one(&row.bounds),
        outcome_cell(row.outcome),
    ]
}

fn two_lines(rows: &[Row], longest: usize) -> Vec<Vec<Cell>> {
    let two = |first: &str, second: &str| {
        Cell::of(std::iter::once(first.to_owned()).chain(fold(second, longest)))
    };
    rows.iter()
        .map(|row| {
            vec![
                two(&row.scenario, &row.mode),
                two(&row.measured, &row.figure),
                two(&row.published_bare, &row.source),
                two(&row.ratio, &row.bounds),
                outcome_cell(row.outcome),
            ]
        })
        .collect()
}

fn outcome_cell(outcome: Outcome) -> Cell {
    Cell::painted(format!("{} {outcome}", symbol(outcome)), color(outcome))
}

/// Each figure as a small list.
fn stacked(rows: &[Row], at: &str, unverified: &str, width: usize, paint: Paint) -> String {
    let mut text = String::new();
    let measured = format!("measured {unverified}");
    for row in rows {
        let outcome = format!("{} {}", symbol(row.outcome), row.outcome);
        let title = format!("{} {}", row.scenario, row.mode);
        let gap = width
            .saturating_sub(title.width() + outcome.width())
            .max(GAP);
        text += &paint.bold(&title);
        text += &" ".repeat(gap);
        text += &paint.outcome(row.outcome, &outcome);
        text.push('\n');
        let published = match row.source.as_str() {
            "" => row.published.clone(),
            source => format!("{} ({source})", row.published),
        };
        let ratio = match row.bounds.as_str() {
            "" => row.ratio.clone(),
            bounds => format!("{}, {at} {bounds}", row.ratio),
        };
        let items = [
            ("figure", row.figure.clone()),
            (measured.trim_end(), row.measured.clone()),
            ("published", published),
            ("ratio", ratio),
        ];
        let widest = items
            .iter()
            .map(|(name, _)| name.width())
            .max()
            .unwrap_or(0)
            + GAP;
        for (name, value) in items.iter().filter(|(_, value)| !value.is_empty()) {
            let padding = " ".repeat(widest - name.width());
            text += &wrapped(&format!("  {name}{padding}{value}"), width, widest + 2);
        }
    }
    text
}
