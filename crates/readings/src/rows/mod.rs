//! Figures of CSV: a column by its header, rows by their values in other columns.
//!
//! The header is the first line that has all the requested columns, so that a tool may print other
//! text before it, and a table may be part of a step's output. Separators are commas, semicolons
//! or tabs. A header that is repeated may have its columns in another order; that of another table, which
//! shares a name with it, ends the table.
//!
//! A line is a row if it has the requested cells. Where none are requested, it is one if it has the figure,
//! or its first cell is like those above it: a number, or a name. A row without a number, or with more or
//! fewer cells than the header, is a fault. Other lines are text around the table, and are skipped.

mod header;
mod kind;
mod quotes;
mod row;

use std::borrow::Cow;

use itertools::join;

use super::accumulator::{FigureEntries, MAX_TABLE_ENTRIES, find_or_insert_entry};
use super::decode::to_utf8;
use super::lexer::{self, NotPlain, parse_number};
use super::nearest::{join_first_names, truncate_for_message};
use super::place::{LineCounter, RecordLocation, UnreadableRecord};
use crate::request::{CsvCell, MatchSelection};
use crate::sanitize::strip_escapes;
pub use header::TableRequest;
use header::{TableColumns, TableHeader};
use kind::RowKind;
use quotes::{ends_in_quoted_cell, strip_spaces_before_quotes};
use row::CsvRow;

/// Reasons why a table gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RowsError {
    /// No line has all the columns.
    #[error("no line has the column `{column}`{near}")]
    NoHeader {
        /// The column that is missing on the nearest line.
        column: String,
        /// The nearest line, or nothing.
        near: String,
    },
    /// No row has the requested cells.
    #[error("no row has {criteria}; {has}")]
    NoRow {
        /// The requested cells, as `column = value`, separated by commas.
        criteria: String,
        /// The cells that exist.
        has: String,
    },
    /// Several columns have the name.
    #[error("{count} columns are named `{column}`; rename one, or read the file with a pattern")]
    SameName {
        /// The name that several columns have.
        column: String,
        count: usize,
    },
    #[error("the column `{column}` has `{text}`: {reason}")]
    NotPlain {
        /// The name of the figure's column.
        column: String,
        /// The cell's text, shortened.
        text: String,
        reason: NotPlain,
    },
    /// The column's name, or the column of units, has another unit than the figure.
    #[error(
        "the column `{column}` is in `{stated}`, and the figure in `{unit}`; write `unit: {stated}`"
    )]
    Unit {
        /// The name of the figure's column.
        column: String,
        /// The unit that the table states.
        stated: String,
        /// The figure's unit.
        unit: String,
    },
    /// The row has another number of cells than the header.
    #[error("the row `{row}` has {actual} cells, and the header {required}")]
    Cells {
        /// The row's cells, separated by commas, shortened.
        row: String,
        /// The number of the row's cells.
        actual: usize,
        /// The number of the header's cells.
        required: usize,
    },
    /// The row ends within a quoted cell.
    #[error(
        "the row `{row}` ends within a quoted cell; it was cut, or a quotation mark is missing"
    )]
    TruncatedRow {
        /// The row's cells, separated by commas, shortened.
        row: String,
    },
    /// A table that is too long.
    #[error("`by` names more than {MAX_TABLE_ENTRIES} figures; make it narrower")]
    TooManyEntries,
}

/// Returns a table's entries by name; a figure that is not a table has the empty name. `file` is which
/// of several files it is, from 0.
///
/// # Errors
/// If there is no such column, or several, or no such row. An entry whose row cannot be read says so.
pub fn read_csv_entries(
    bytes: &[u8],
    request: TableRequest<'_>,
    take: MatchSelection,
    file: usize,
) -> Result<FigureEntries<RowsError>, RowsError> {
    let bytes = to_utf8(bytes);
    let bytes = &strip_escapes(&bytes)[..];
    let header = TableHeader::find(bytes, request)?;
    let separator = header.separator;
    let text = strip_spaces_before_quotes(&bytes[header.begin..], separator);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(true)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&text[..]);
    let mut lines = LineCounter::new(&text, header.line);
    let mut table = TableReader::new(request, header.columns, take);
    let mut record = csv::ByteRecord::new();
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let begin = record.position().map_or(0, csv::Position::byte);
        let begin = usize::try_from(begin).unwrap_or(usize::MAX);
        let rest = text.get(begin..).unwrap_or_default();
        table.follows_gap |= begins_with_gap(rest, text.get(begin.saturating_sub(1)));
        let is_last = reader.position().byte() >= text.len() as u64;
        let place = RecordLocation::at_line(file, lines.line_after(begin));
        // Of other text the columns are not those of the file.
        let written = if matches!(text, Cow::Borrowed(_)) { rest } else { b"" };
        let row = CsvRow { cells: &record, text: written, separator };
        table.read_row(row, place, is_last && ends_in_quoted_cell(rest, separator))?;
    }
    table.into_entries()
}

/// Returns whether a row is parted by an empty line from the one above it. Of CR LF the parser leaves LF.
fn begins_with_gap(row: &[u8], before: Option<&u8>) -> bool {
    let row = match before {
        Some(b'\r') => row.strip_prefix(b"\n").unwrap_or(row),
        _ => row,
    };
    matches!(row.first(), Some(b'\n' | b'\r'))
}

struct TableReader<'a> {
    request: TableRequest<'a>,
    take: MatchSelection,
    columns: TableColumns,
    /// The rows are those of another table, below its header.
    is_foreign: bool,
    /// An empty line or other text precedes the row.
    follows_gap: bool,
    kind: RowKind,
    entries: FigureEntries<RowsError>,
    rows: u32,
    matched: u32,
    rejected: Vec<String>,
}

impl<'a> TableReader<'a> {
    fn new(request: TableRequest<'a>, columns: TableColumns, take: MatchSelection) -> Self {
        Self {
            request,
            take,
            columns,
            is_foreign: false,
            follows_gap: false,
            kind: RowKind::default(),
            entries: FigureEntries::new(),
            rows: 0,
            matched: 0,
            rejected: Vec::new(),
        }
    }

    fn read_row(
        &mut self,
        row: CsvRow<'_>,
        place: RecordLocation,
        is_cut: bool,
    ) -> Result<(), RowsError> {
        let figure = row.cell(self.columns.figure);
        let number = lexer::read_quantity(&figure, self.request.unit);
        if number.is_err() && self.is_header(row)? || self.is_foreign {
            return Ok(());
        }
        if number.is_err() && self.rows == 0 && self.columns.learn_unit(row) {
            return Ok(());
        }
        let is_whole = row.count() == self.columns.count();
        let accepted = self.columns.accepts_row(row);
        let fits = accepted.unwrap_or_else(|| self.kind.is_table_row(row, &self.columns));
        self.is_foreign = is_whole && self.follows_gap && row.is_list_of_names();
        self.follows_gap = !is_whole && !fits;
        if is_whole {
            self.rows = self.rows.saturating_add(1);
        }
        if is_whole && accepted == Some(false) {
            let values = join(self.columns.filter_cells(row), " ");
            if self.rejected.len() < 50 && !self.rejected.contains(&values) {
                self.rejected.push(values);
            }
        }
        if !fits {
            return Ok(());
        }
        self.matched = self.matched.saturating_add(1);
        if is_whole && number.is_ok() {
            self.kind.learn_row(row);
        }
        let wanted = self.request.cell.row;
        if wanted.is_some_and(|row| row != self.matched) {
            return Ok(());
        }
        let names: Vec<_> =
            self.columns.entry_columns.iter().map(|column| row.cell(*column)).collect();
        let entry_names = names.iter().map(AsRef::as_ref);
        let found_entry = find_or_insert_entry(&mut self.entries, entry_names, self.take);
        let entry = found_entry.ok_or(RowsError::TooManyEntries)?;
        let error = if is_cut {
            RowsError::TruncatedRow { row: row.describe() }
        } else if !is_whole {
            RowsError::Cells {
                row: row.describe(),
                actual: row.count(),
                required: self.columns.count(),
            }
        } else if let Some(stated) = self.columns.contradicting_unit(row, self.request.unit) {
            let column = self.request.cell.column.clone();
            RowsError::Unit { column, stated, unit: self.request.unit.to_owned() }
        } else {
            match number {
                Ok(printed) => {
                    entry.add_number(printed, row.locate_cell(place, self.columns.figure));
                    return Ok(());
                }
                Err(reason) => RowsError::NotPlain {
                    column: self.request.cell.column.clone(),
                    text: truncate_for_message(&figure),
                    reason,
                },
            }
        };
        entry.add_unreadable(UnreadableRecord { place, error });
        Ok(())
    }

    /// Returns whether a row without the figure is a header: the table's once more, whose columns may have another
    /// order, or that of another table.
    fn is_header(&mut self, row: CsvRow<'_>) -> Result<bool, RowsError> {
        if row.cells().any(|cell| cell == self.request.cell.column.trim()) {
            let names = row.cells().map(Cow::into_owned).collect();
            if let Some(columns) = TableColumns::from_header(names, self.request)? {
                self.columns = columns;
                self.is_foreign = false;
                return Ok(true);
            }
        }
        let has_name = row.cells().any(|cell| self.columns.has_column(&cell));
        let is_of_another = has_name && row.count() > 1 && row.has_no_number();
        self.is_foreign |= is_of_another;
        Ok(is_of_another)
    }

    fn into_entries(self) -> Result<FigureEntries<RowsError>, RowsError> {
        if self.entries.is_empty() {
            let Self { rows, matched, rejected, .. } = self;
            return Err(no_row_error(self.request.cell, rows, matched, &rejected));
        }
        Ok(self.entries)
    }
}

fn no_row_error(cell: &CsvCell, rows: u32, matched: u32, rejected: &[String]) -> RowsError {
    let mut criteria: Vec<String> =
        cell.filter.iter().map(|(column, value)| format!("{column} = {value}")).collect();
    let has = match cell.row {
        _ if rows == 0 => "there are no rows below the header".to_owned(),
        Some(_) if matched > 0 => format!("{matched} match"),
        _ => {
            let columns = join(cell.filter.iter().map(|(column, _)| column), " ");
            let existing = join_first_names(rejected.iter().map(String::as_str));
            format!("{columns} of the {rows} there are: {existing}")
        }
    };
    criteria.extend(cell.row.map(|row| format!("number {row}")));
    if criteria.is_empty() {
        criteria.push("as many cells as the header".to_owned());
    }
    RowsError::NoRow { criteria: criteria.join(", "), has }
}

/// Returns whether the two are equal, as text or as numbers: `8` is `8.0`.
fn is_same_value(cell: &str, value: &str) -> bool {
    cell == value
        || match (parse_number(cell), parse_number(value)) {
            (Some(cell), Some(value)) => (cell.value - value.value).abs() <= 0.0,
            _ => false,
        }
}

#[cfg(test)]
mod tests;
