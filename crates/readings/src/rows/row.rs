//! Rows of a table, and text around it.

use std::borrow::Cow;

use itertools::join;

use super::header::Columns;
use crate::figure::parse_number;
use crate::nearest::shortened;
use crate::words::is_no_number;

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a>(pub &'a csv::ByteRecord);

impl<'a> Row<'a> {
    /// Returns how many cells it has.
    pub fn count(self) -> usize {
        self.0.len()
    }

    /// Returns the cell of this column, empty where there is none.
    pub fn at(self, column: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.get(column).unwrap_or_default())
    }

    /// Returns each cell.
    pub fn cells(self) -> impl Iterator<Item = Cow<'a, str>> {
        (0..self.count()).map(move |column| self.at(column))
    }

    /// Returns whether no cell is a number.
    pub fn has_no_number(self) -> bool {
        self.cells().all(|cell| parse_number(&cell).is_none())
    }

    /// Returns whether each of several cells may be the name of a column.
    pub fn is_of_names(self) -> bool {
        let is_name = |cell: Cow<'_, str>| {
            !cell.is_empty()
                && !is_sentence(&cell)
                && !is_no_number(&cell)
                && parse_number(&cell).is_none()
        };
        self.count() > 1 && self.cells().all(is_name)
    }

    /// Returns the row for a message.
    pub fn text(self) -> String {
        shortened(&join(self.cells(), ", "))
    }
}

/// What the rows of a table with a figure are like.
#[derive(Default)]
pub struct Kind {
    /// Which of the cells of the latest are numbers.
    numeric: Vec<bool>,
}

impl Kind {
    /// Learns what a row that has the figure is like.
    pub fn learn(&mut self, row: Row<'_>) {
        let numbers = row.cells().map(|cell| parse_number(&cell).is_some());
        self.numeric = numbers.collect();
    }

    /// Returns whether a line is a row of the table: it has the figure, or its first cell is like those
    /// above it, a number or a name.
    pub fn has(&self, row: Row<'_>, columns: &Columns) -> bool {
        let is_whole = row.count() == columns.count();
        let Some(first_is_number) = self.numeric.first() else {
            return is_whole;
        };
        let (first, figure) = (row.at(0), row.at(columns.figure));
        let has_figure = parse_number(&figure).is_some();
        let has_none = columns.figure < row.count() && is_no_number(&figure);
        let is_name = !first.is_empty() && !is_sentence(&first);
        let is_alike = if *first_is_number {
            parse_number(&first).is_some()
        } else {
            is_name
        };
        if is_whole {
            has_figure || is_alike || has_none && (is_name || columns.figure == 0)
        } else if *first_is_number {
            is_alike
        } else {
            is_alike && row.count() > 1 && (has_figure || has_none || figure.is_empty())
        }
    }
}

/// Whether a cell is prose, and no name.
fn is_sentence(cell: &str) -> bool {
    cell.contains(char::is_whitespace) || cell.ends_with([':', '.', '!'])
}
