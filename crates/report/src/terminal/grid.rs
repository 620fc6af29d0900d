//! Tables in a terminal: columns next to each other; if the table is too wide, some are omitted, then
//! some are below others, with and without those, then cells are folded, then each row is a small list.
//!
//! Libraries for tables fold cells, but do not lay out whole columns.

use itertools::{Itertools as _, join};
use unicode_width::UnicodeWidthStr;

use super::Terminal;
use super::wrap::fold_words;
use crate::document::{Column, ColumnKind, Table, TableCell};

/// The blank columns between two columns of a table.
const COLUMN_GAP: usize = 2;
/// The least width of a folded column.
const MIN_FOLDED_WIDTH: usize = 16;
/// The least width of a column whose cells are cut off or wrapped by its own rank.
const MIN_NARROWED_WIDTH: usize = 16;
/// A cell of more lines makes the table a list.
const MAX_CELL_LINES: usize = 6;

/// Columns of the table, each with those below it.
type ColumnLayout = Vec<Vec<usize>>;
/// The lines of a cell, each with whether it is of a column below.
type CellLines = Vec<(String, bool)>;

/// Draws the table in the first of its layouts that fits.
pub(super) fn render_table(table: &Table, width: usize, terminal: Terminal) -> String {
    let used = table.used_columns();
    if used.is_empty() {
        return String::new();
    }
    let rank = |at: &usize| table.columns[*at].omission_rank;
    let narrowing_rank = |at: &usize| Some(table.columns[*at].narrowing?.rank);
    let ranks = used.iter().flat_map(|at| rank(at).into_iter().chain(narrowing_rank(at)));
    let ranks = ranks.sorted().dedup().collect_vec();
    let without = |omitted: &[u8]| -> Vec<usize> {
        let is_shown = |at: &usize| rank(at).is_none_or(|rank| !omitted.contains(&rank));
        used.iter().copied().filter(is_shown).collect()
    };
    let counts = 0..=ranks.len();
    let shown = counts.map(|count| (&ranks[..count], without(&ranks[..count])));
    let shown = shown.collect_vec();
    let side_by_side = shown.iter().map(|(omitted, columns)| {
        let layout: ColumnLayout = columns.iter().map(|at| vec![*at]).collect();
        (layout, Narrowing::AtRanks(omitted))
    });
    let stacked = shown
        .iter()
        .map(|(omitted, columns)| (stack_columns(table, columns), Narrowing::AtRanks(omitted)));
    let folded = (stack_columns(table, &used), Narrowing::Folded);
    let mut layouts = side_by_side.chain(stacked).chain([folded]);
    layouts
        .find_map(|(layout, narrowing)| render_layout(table, &layout, width, narrowing, terminal))
        .unwrap_or_else(|| render_as_list(table, width, terminal))
}

/// The layout in which columns that may go below others do.
fn stack_columns(table: &Table, used: &[usize]) -> ColumnLayout {
    let under = |at: &usize| {
        let under = table.columns[*at].stacked_under;
        under.filter(|under| used.contains(under))
    };
    let first = used.iter().filter(|at| under(at).is_none());
    let stack = |first: &usize| {
        let below = used.iter().filter(|at| under(at) == Some(*first));
        std::iter::once(first).chain(below).copied().collect()
    };
    first.map(stack).collect()
}

/// What makes columns narrower than their cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Narrowing<'a> {
    /// The columns with these ranks are.
    AtRanks(&'a [u8]),
    Folded,
}

/// Draws the table in a layout, if it fits.
fn render_layout(
    table: &Table,
    layout: &ColumnLayout,
    width: usize,
    narrowing: Narrowing<'_>,
    terminal: Terminal,
) -> Option<String> {
    let mut grid = Grid::new(table, layout);
    match narrowing {
        Narrowing::AtRanks(ranks) => grid.narrow_to(width, ranks),
        Narrowing::Folded => grid.shrink_to(width)?,
    }
    if grid.total_width() > width {
        return None;
    }
    let rows = grid.lines_of_rows();
    let is_folded = narrowing == Narrowing::Folded;
    if is_folded && rows.iter().flatten().any(|lines| lines.len() > MAX_CELL_LINES) {
        return None;
    }
    if is_folded || table.columns.iter().any(Column::wraps) {
        grid.fit_to_lines(&rows);
    }
    Some(grid.render_rows(&rows, terminal))
}

/// A table whose columns have widths.
struct Grid<'a> {
    table: &'a Table,
    layout: &'a ColumnLayout,
    /// The indent of rows below a group's title.
    indent: usize,
    /// The names of the columns, and their notes, or the names of those below.
    heads: Vec<[String; 2]>,
    widths: Vec<usize>,
}

impl<'a> Grid<'a> {
    /// Creates a grid whose columns are as wide as their cells.
    fn new(table: &'a Table, layout: &'a ColumnLayout) -> Self {
        let heads = layout.iter().map(|stack| {
            let first = &table.columns[stack[0]];
            let below = stack[1..].iter().map(|at| table.columns[*at].name.as_str());
            let second = match first.note.as_str() {
                "" => below.collect::<Vec<_>>().join(", "),
                note => note.to_owned(),
            };
            [first.name.to_string(), second]
        });
        let grouped = table.groups.iter().any(|group| group.title.is_some());
        let mut grid = Self {
            table,
            layout,
            indent: if grouped { COLUMN_GAP } else { 0 },
            heads: heads.collect(),
            widths: vec![usize::MAX; layout.len()],
        };
        let rows = grid.lines_of_rows();
        grid.fit_to_lines(&rows);
        grid
    }

    fn total_width(&self) -> usize {
        self.widths.iter().sum::<usize>() + COLUMN_GAP * (self.widths.len() - 1)
    }

    /// Makes the columns that may be narrower at these ranks as narrow as it takes for all to fit.
    fn narrow_to(&mut self, width: usize, ranks: &[u8]) {
        let mut excess = self.total_width().saturating_sub(width);
        for (column, stack) in self.widths.iter_mut().zip(self.layout) {
            let narrowing = self.table.columns[stack[0]].narrowing;
            if stack.len() == 1 && narrowing.is_some_and(|one| ranks.contains(&one.rank)) {
                let narrower = column.saturating_sub(excess).max(MIN_NARROWED_WIDTH);
                let narrower = narrower.min(*column);
                excess -= *column - narrower;
                *column = narrower;
            }
        }
    }

    /// Makes the widest columns of words narrower, until all fit.
    fn shrink_to(&mut self, width: usize) -> Option<()> {
        let is_words = |stack: &Vec<usize>| {
            let mut kinds = stack.iter().map(|at| self.table.columns[*at].kind);
            kinds.any(|kind| matches!(kind, ColumnKind::Head | ColumnKind::Text))
        };
        while self.total_width() > width {
            let columns = self.widths.iter_mut().zip(self.layout);
            let words = columns.filter(|(_, stack)| is_words(stack));
            let (widest, _) = words.max_by_key(|(width, _)| **width)?;
            if *widest <= MIN_FOLDED_WIDTH {
                return None;
            }
            *widest -= 1;
        }
        Some(())
    }

    fn lines_of_rows(&self) -> Vec<Vec<CellLines>> {
        let rows = self.table.rows().map(|row| {
            let stacks = self.layout.iter().zip(&self.widths).enumerate();
            let cells = stacks.map(|(column, (stack, width))| {
                let indent = if column == 0 { self.indent } else { 0 };
                let column = &self.table.columns[stack[0]];
                let is_cut_off = column.narrowing.is_some() && !column.wraps();
                cell_lines(row, stack, width - indent, indent, is_cut_off)
            });
            cells.collect()
        });
        rows.collect()
    }

    /// Makes each column as wide as its widest line.
    fn fit_to_lines(&mut self, rows: &[Vec<CellLines>]) {
        for (column, width) in self.widths.iter_mut().enumerate() {
            let column_lines = rows.iter().flat_map(|row| &row[column]);
            let lines = column_lines.map(|(line, _)| line.trim_end().width());
            let heads = self.heads[column].iter().map(|head| head.width());
            *width = lines.chain(heads).max().unwrap_or(0);
        }
    }

    fn render_rows(&self, rows: &[Vec<CellLines>], terminal: Terminal) -> String {
        let rule = terminal.dim(&"─".repeat(self.total_width())) + "\n";
        let mut text = String::new();
        for number in 0..2 {
            let names = self.heads.iter().map(|head| head[number].as_str());
            let line = join_cells(names.map(|name| (name, name.to_owned())), &self.widths);
            if !line.is_empty() {
                text += &(terminal.dim(&line) + "\n");
            }
        }
        text += &rule;
        let mut remaining_rows = rows.iter();
        for group in &self.table.groups {
            if let Some(title) = &group.title {
                text += &(terminal.bold(&title.full_text()) + "\n");
            }
            for (row, cells) in group.rows.iter().zip(remaining_rows.by_ref()) {
                for number in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                    let line = cells.iter().zip(self.layout).map(|(lines, stack)| {
                        let line = lines.get(number);
                        let (line, below) =
                            line.map_or(("", false), |(line, below)| (line, *below));
                        (line, style_line(row.get(stack[0]), line, below, terminal))
                    });
                    text += &(join_cells(line, &self.widths) + "\n");
                }
            }
        }
        text + &rule
    }
}

fn style_line(cell: Option<&TableCell>, line: &str, below: bool, terminal: Terminal) -> String {
    match cell.and_then(|cell| cell.tone) {
        _ if below => terminal.dim(line),
        Some(tone) => terminal.style_tone(tone, line),
        None => line.to_owned(),
    }
}

fn cell_lines(
    row: &[TableCell],
    stack: &[usize],
    width: usize,
    indent: usize,
    is_cut_off: bool,
) -> CellLines {
    let mut lines = CellLines::new();
    for (position, at) in stack.iter().enumerate() {
        let Some(cell) = row.get(*at) else { continue };
        if position > 0 && cell.text.is_empty() {
            continue;
        }
        let text = cell.full_text();
        let folded = if text.width() <= width {
            vec![text.into_owned()]
        } else if is_cut_off {
            vec![cut_off(&text, width)]
        } else {
            fold_words(&text, width)
        };
        let indented = folded.iter().map(|line| format!("{:indent$}{line}", ""));
        lines.extend(indented.map(|line| (line, position > 0)));
    }
    lines
}

/// Returns the beginning of a text that is wider than this.
fn cut_off(text: &str, width: usize) -> String {
    let mut begin = text.to_owned();
    while begin.width() >= width && begin.pop().is_some() {}
    format!("{}…", begin.trim_end_matches([' ', '(', ',', ':']))
}

/// Joins a line of cells, each given plain, for its width, and styled.
fn join_cells<'a>(cells: impl Iterator<Item = (&'a str, String)>, widths: &[usize]) -> String {
    let mut line = String::new();
    let mut padding = 0;
    for ((plain, styled), width) in cells.zip(widths) {
        let shown = plain.trim_end();
        if !shown.is_empty() {
            line += &" ".repeat(padding);
            line += styled.trim_end();
            padding = 0;
        }
        padding += (width + COLUMN_GAP).saturating_sub(shown.width());
    }
    line
}

/// Draws each row as a small list: its heads and status, then its other cells.
fn render_as_list(table: &Table, width: usize, terminal: Terminal) -> String {
    let used = table.used_columns();
    let columns_of = |kinds: &'static [ColumnKind]| {
        let columns = used.iter().copied();
        columns.filter(move |at| kinds.contains(&table.columns[*at].kind))
    };
    let words = |row: &[TableCell], kinds| {
        let cells = columns_of(kinds).filter_map(|at| row.get(at));
        let words = join(cells.map(TableCell::full_text), " ");
        words.trim().to_owned()
    };
    let label = |at: usize| table.columns[at].full_name();
    let labelled = &[ColumnKind::Text, ColumnKind::Number];
    let widest_label = columns_of(labelled).map(|at| label(at).width()).max();
    let widest = widest_label.unwrap_or(0) + COLUMN_GAP;
    let mut text = String::new();
    let mut line = |line: &str| text += &(line.trim_end().to_owned() + "\n");
    for group in &table.groups {
        if let Some(title) = &group.title {
            line(&terminal.bold(&title.full_text()));
        }
        for row in &group.rows {
            let title = words(row, &[ColumnKind::Head]);
            let status = words(row, &[ColumnKind::Status]);
            let tone = columns_of(&[ColumnKind::Status]).find_map(|at| row.get(at)?.tone);
            let styled = tone.map_or(status.clone(), |tone| terminal.style_tone(tone, &status));
            let room = width.saturating_sub(title.width() + status.width());
            if room >= COLUMN_GAP {
                let gap = if status.is_empty() { 0 } else { room };
                line(&(terminal.bold(&title) + &" ".repeat(gap) + &styled));
            } else {
                for part in fold_words(&title, width) {
                    line(&terminal.bold(&part));
                }
                line(&format!("  {styled}"));
            }
            for at in columns_of(labelled) {
                let Some(cell) = row.get(at).filter(|cell| !cell.text.is_empty()) else {
                    continue;
                };
                let padding = " ".repeat(widest - label(at).width());
                let indent = " ".repeat(2 + widest);
                let room = width.saturating_sub(indent.len()).max(MIN_FOLDED_WIDTH);
                let mut parts = fold_words(&cell.full_text(), room).into_iter();
                let first = parts.next().unwrap_or_default();
                line(&format!("  {}{padding}{first}", label(at)));
                parts.for_each(|part| line(&format!("{indent}{part}")));
            }
        }
    }
    text
}
