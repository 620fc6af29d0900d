//! Tells the rows of a table from the text around it.

use super::header::TableColumns;
use super::row::{CsvRow, is_sentence};
use crate::lexer::parse_number;

/// The form of the rows of a table that have a figure.
#[derive(Default)]
pub struct RowKind {
    /// For each cell of the latest row, whether it is a number.
    numeric: Vec<bool>,
}

impl RowKind {
    /// Learns what a row that has the figure is like.
    pub fn learn_row(&mut self, row: CsvRow<'_>) {
        let numbers = row.cells().map(|cell| parse_number(&cell).is_some());
        self.numeric = numbers.collect();
    }

    /// Returns whether a line is a row of the table: it has the figure, or its first cell is like those
    /// above it, a number or a name.
    pub fn is_table_row(&self, row: CsvRow<'_>, columns: &TableColumns) -> bool {
        let is_whole = row.count() == columns.count();
        let Some(first_is_number) = self.numeric.first() else {
            return is_whole;
        };
        let (first, figure) = (row.cell(0), row.cell(columns.figure));
        let has_figure = parse_number(&figure).is_some();
        let is_name = !first.is_empty() && !is_sentence(&first);
        let is_alike = if *first_is_number { parse_number(&first).is_some() } else { is_name };
        if is_whole {
            has_figure || is_alike || columns.figure == 0
        } else if *first_is_number {
            is_alike
        } else {
            is_alike && row.count() > 1
        }
    }
}
