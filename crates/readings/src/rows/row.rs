//! A row of cells, of a table or of the text around it.

use std::borrow::Cow;

use itertools::join;

use crate::lexer::parse_number;
use crate::nearest::truncate_for_message;

#[derive(Clone, Copy)]
pub struct CsvRow<'a>(pub &'a csv::ByteRecord);

impl<'a> CsvRow<'a> {
    /// Returns how many cells it has.
    pub fn count(self) -> usize {
        self.0.len()
    }

    /// Returns the cell of this column, empty where there is none.
    pub fn cell(self, column: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.get(column).unwrap_or_default())
    }

    /// Returns the text of each cell, in order.
    pub fn cells(self) -> impl Iterator<Item = Cow<'a, str>> {
        (0..self.count()).map(move |column| self.cell(column))
    }

    /// Returns whether no cell is a number.
    pub fn has_no_number(self) -> bool {
        self.cells().all(|cell| parse_number(&cell).is_none())
    }

    /// Returns whether each of several cells may be the name of a column.
    pub fn is_list_of_names(self) -> bool {
        let is_name = |cell: Cow<'_, str>| {
            !cell.is_empty() && !is_sentence(&cell) && parse_number(&cell).is_none()
        };
        self.count() > 1 && self.cells().all(is_name)
    }

    /// Returns the row for a message.
    pub fn describe(self) -> String {
        truncate_for_message(&join(self.cells(), ", "))
    }
}

/// Returns whether a cell is prose, and no name.
pub(super) fn is_sentence(cell: &str) -> bool {
    cell.contains(char::is_whitespace) || cell.ends_with([':', '.', '!'])
}
