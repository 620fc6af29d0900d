//! Columns that fit: one line a figure, two, or a list.

use unicode_width::UnicodeWidthStr;

use super::rows::Row;
use super::style::{Paint, symbol};
use crate::verdict::{Outcome, Verdict, number};

/// Between columns.
const GAP: usize = 2;
/// More figures of one result than this are a table of their own.
pub(super) const MANY: usize = 8;
/// Names are folded at their underscores to no less than this.
const FOLDED: usize = 18;

/// A cell of one or more lines; an outcome paints it.
struct Cell {
    lines: Vec<String>,
    outcome: Option<Outcome>,
}

impl Cell {
    fn of(lines: impl IntoIterator<Item = String>) -> Self {
        Self {
            lines: lines.into_iter().collect(),
            outcome: None,
        }
    }

    fn width(&self) -> usize {
        self.lines
            .iter()
            .map(|line| line.width())
            .max()
            .unwrap_or(0)
    }
}

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
        lines.iter_mut().for_each(|cells| drop(cells.remove(4)));
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
    Cell {
        lines: vec![format!("{} {outcome}", symbol(outcome))],
        outcome: Some(outcome),
    }
}

/// `completed_tokens_per_second` as `completed_`, `tokens_per_`, `second`.
fn fold(name: &str, longest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['_', ' ']) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.width() + part.trim_end().width() <= longest => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

/// The columns, if they fit; a head has two lines.
fn columns(
    head: &[(&str, &str)],
    rows: &[Vec<Cell>],
    width: usize,
    paint: Paint,
) -> Option<String> {
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(column, (first, second))| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(Cell::width);
            cells
                .chain([first.width(), second.width()])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let total = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
    if total > width {
        return None;
    }
    let rule = paint.dim(&"─".repeat(total)) + "\n";
    let mut text = String::new();
    let (first, second): (Vec<&str>, Vec<&str>) = head.iter().copied().unzip();
    for names in [first, second] {
        let names: Vec<(String, String)> = names
            .iter()
            .map(|name| ((*name).to_owned(), (*name).to_owned()))
            .collect();
        let line = joined(&names, &widths);
        if !line.is_empty() {
            text += &paint.dim(&line);
            text.push('\n');
        }
    }
    text += &rule;
    for row in rows {
        for line in 0..row.iter().map(|cell| cell.lines.len()).max().unwrap_or(0) {
            let cells: Vec<(String, String)> = row
                .iter()
                .map(|cell| {
                    let plain = cell.lines.get(line).cloned().unwrap_or_default();
                    let painted = match cell.outcome {
                        Some(outcome) => paint.outcome(outcome, &plain),
                        None if line > 0 => paint.dim(&plain),
                        None => plain.clone(),
                    };
                    (plain, painted)
                })
                .collect();
            text += &joined(&cells, &widths);
            text.push('\n');
        }
    }
    text += &rule;
    Some(text)
}

/// One line of cells, each as it is wide and as it is painted.
fn joined(cells: &[(String, String)], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut padding = 0;
    for ((plain, painted), width) in cells.iter().zip(widths) {
        if !plain.is_empty() {
            line += &" ".repeat(padding);
            line += painted;
            padding = 0;
        }
        padding += (width + GAP).saturating_sub(plain.width());
    }
    line
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

/// Lines of at most `width` columns, all but the first indented; a longer word stands alone.
pub(super) fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut fresh = true;
    // A number stays with its percent sign.
    let glued = text.replace(" %", "\u{a0}%");
    for (position, word) in glued.split(' ').enumerate() {
        if position > 0 && line.width() + 1 + word.width() > width && !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(&word.replace('\u{a0}', " "));
        fresh = false;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// [`wrap`], as text.
pub(super) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    wrap(text, width, indent)
        .into_iter()
        .map(|line| line + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("completed_tokens_per_second", 16, &["completed_", "tokens_per_", "second"])]
    #[case("completed_tokens_per_second", 18, &["completed_tokens_", "per_second"])]
    #[case("completed_tokens_per_second", 27, &["completed_tokens_per_second"])]
    #[case("", 16, &[""])]
    #[case("rouge1", 3, &["rouge1"])]
    fn names_are_folded(#[case] name: &str, #[case] longest: usize, #[case] expected: &[&str]) {
        assert_eq!(fold(name, longest), expected);
    }

    #[test]
    fn lines_are_wrapped_and_indented() {
        assert_eq!(
            wrap("one two three four", 9, 2),
            ["one two", "  three", "  four"]
        );
        assert_eq!(wrap("  next: do it", 9, 4), ["  next:", "    do it"]);
        assert_eq!(
            wrap("a-very-long-word b", 6, 2),
            ["a-very-long-word", "  b"]
        );
        assert_eq!(wrap("", 6, 2), [""]);
    }
}
