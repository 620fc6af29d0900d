//! Cells, columns and lines, as wide as a terminal.

use unicode_width::UnicodeWidthStr;

use super::style::Paint;

/// Between columns.
pub(super) const GAP: usize = 2;

/// A cell of one or more lines; some are painted.
pub(super) struct Cell {
    lines: Vec<String>,
    color: Option<&'static str>,
}

impl Cell {
    /// Plain lines.
    pub fn of(lines: impl IntoIterator<Item = String>) -> Self {
        Self {
            lines: lines.into_iter().collect(),
            color: None,
        }
    }

    /// One line in a colour.
    pub fn painted(line: String, color: &'static str) -> Self {
        Self {
            lines: vec![line],
            color: Some(color),
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

/// The columns, if they fit; a head has two lines.
pub(super) fn columns(
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
                    let painted = match cell.color {
                        Some(color) => paint.with(color, &plain),
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

/// `completed_tokens_per_second` as `completed_`, `tokens_per_`, `second`.
pub(super) fn fold(name: &str, longest: usize) -> Vec<String> {
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
