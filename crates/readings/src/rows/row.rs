//! A row of cells, of a table or of the text around it.

use std::borrow::Cow;

use itertools::join;

use crate::lexer::parse_number;
use crate::nearest::truncate_for_message;
use crate::place::RecordLocation;

#[derive(Clone, Copy)]
pub struct CsvRow<'a> {
    pub cells: &'a csv::ByteRecord,
    /// The text that begins with the row, perhaps behind the end of the line above; empty if it is not known.
    pub text: &'a [u8],
    pub separator: u8,
}

impl<'a> CsvRow<'a> {
    /// Returns how many cells it has.
    pub fn count(self) -> usize {
        self.cells.len()
    }

    /// Returns the cell of this column, empty where there is none.
    pub fn cell(self, column: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.cells.get(column).unwrap_or_default())
    }

    /// Returns the text of each cell, in order.
    pub fn cells(self) -> impl Iterator<Item = Cow<'a, str>> {
        (0..self.count()).map(move |column| self.cell(column))
    }

    /// Returns the place of a row with the columns of a cell's text, if the row is on one line and has no marks within
    /// quoted cells.
    pub fn locate_cell(self, place: RecordLocation, column: usize) -> RecordLocation {
        let text = self.text.trim_ascii_start();
        let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
        let Ok(line) = std::str::from_utf8(&text[..end]) else {
            return place;
        };
        let mut at = 0;
        for before in self.cells().take(column) {
            let next = line[at..].find(&*before).and_then(|found| {
                let rest = at + found + before.len();
                let separator = memchr::memchr(self.separator, &line.as_bytes()[rest..])?;
                Some(rest + separator + 1)
            });
            match next {
                Some(next) => at = next,
                None => return place,
            }
        }
        let cell = self.cell(column);
        line[at..]
            .find(&*cell)
            .map_or(place, |found| place.with_columns(line, &(at + found..at + found + cell.len())))
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
