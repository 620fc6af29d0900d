//! Figures of CSV: a column by its header, rows by their values in other columns.
//!
//! The header is the first line that has all the requested columns, so that a tool may print other
//! text before it, and a table may be part of a step's output. Separators are commas, semicolons
//! or tabs.
//!
//! A row with more or fewer cells than the header is one of the table if it has the requested cells, or,
//! where none are requested, numbers where the row above it has them. Which cell is the figure is
//! then not known. Other such lines are text below the table, and are skipped.

use std::borrow::Cow;

use itertools::join;

use super::accumulator::{Entries, MOST_ENTRIES, entry};
use super::decode::to_utf8;
use super::figure::{Printed, parse_number};
use super::nearest::{listed, shortened};
use super::place::{LineCounter, Place, Unreadable};
use crate::request::{CsvCell, Take};
use crate::sanitize::strip_escapes;

/// Lines in which the header is searched.
const MOST_LINES: usize = 100_000;

/// Why a table gives no figure.
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
    /// No row matches.
    #[error("no row has {criteria}; {has}")]
    NoRow {
        /// The requested cells.
        criteria: String,
        /// The cells that exist.
        has: String,
    },
    /// Several columns have the name.
    #[error(
        "{count} columns are named `{column}`, and which is meant is not known; rename one, or read the file by a pattern"
    )]
    SameName {
        /// The column.
        column: String,
        /// How many there are.
        count: usize,
    },
    /// The cell is not a number.
    #[error("the column `{column}` has `{text}`, not a number")]
    NotANumber {
        /// The column.
        column: String,
        /// The cell's text.
        text: String,
    },
    /// Which cell is which is not known.
    #[error("the row `{row}` has {actual} cells, and the header {required}")]
    Cells {
        /// The row.
        row: String,
        /// How many cells it has.
        actual: usize,
        /// How many the header has.
        required: usize,
    },
    /// A table that is too long.
    #[error("`by` names more than {MOST_ENTRIES} figures; make it narrower")]
    TooManyEntries,
}

/// Returns a table's entries by name; a figure that is not a table has the empty name. `file` is which
/// of several files it is, from 0.
///
/// # Errors
/// Where there is no such column, or several, or no such row. An entry whose row cannot be read says so.
pub fn read(
    bytes: &[u8],
    cell: &CsvCell,
    by: &[String],
    take: Take,
    file: usize,
) -> Result<Entries<RowsError>, RowsError> {
    let bytes = to_utf8(bytes);
    let bytes = &strip_escapes(&bytes)[..];
    let header = Header::find(bytes, cell, by)?;
    let table = without_space_before_quotes(&bytes[header.begin..], header.separator);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(header.separator)
        .has_headers(true)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&table[..]);
    let mut lines = LineCounter::new(&table, header.line);
    let mut entries = Entries::new();
    let (mut rows, mut matched) = (0_u32, 0_u32);
    let mut rejected: Vec<String> = Vec::new();
    let mut numeric: Vec<bool> = Vec::new();
    let mut record = csv::ByteRecord::new();
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let row = Row(&record);
        let is_whole = record.len() == header.columns;
        if is_whole {
            rows = rows.saturating_add(1);
        }
        let fits = if is_whole {
            header.accepts(row)
        } else {
            header.is_row(row, &numeric)
        };
        if is_whole && !fits {
            let values = join(header.filter.iter().map(|(column, _)| row.at(*column)), " ");
            if rejected.len() < 50 && !rejected.contains(&values) {
                rejected.push(values);
            }
        }
        if !fits {
            continue;
        }
        matched = matched.saturating_add(1);
        if is_whole {
            numeric = row.numeric();
        }
        if cell.row.is_some_and(|row| row != matched) {
            continue;
        }
        let names: Vec<_> = header.by.iter().map(|column| row.at(*column)).collect();
        let entry = entry(&mut entries, names.iter().map(AsRef::as_ref), take);
        let entry = entry.ok_or(RowsError::TooManyEntries)?;
        let begin = record.position().map_or(0, csv::Position::byte);
        let line = lines.line_after(usize::try_from(begin).unwrap_or(usize::MAX));
        let place = Place::line(file, line);
        match header.number(row, cell) {
            Ok(printed) => entry.add(printed, place),
            Err(error) => entry.add_unreadable(Unreadable { place, error }),
        }
    }
    if entries.is_empty() {
        return Err(no_row(cell, rows, matched, &rejected));
    }
    Ok(entries)
}

/// A row of a table.
#[derive(Clone, Copy)]
struct Row<'a>(&'a csv::ByteRecord);

impl<'a> Row<'a> {
    fn at(self, column: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.get(column).unwrap_or_default())
    }

    /// Which of its cells are numbers.
    fn numeric(self) -> Vec<bool> {
        let cells = (0..self.0.len()).map(|column| parse_number(&self.at(column)).is_some());
        cells.collect()
    }

    fn text(self) -> String {
        shortened(&join((0..self.0.len()).map(|column| self.at(column)), ", "))
    }
}

/// Removes spaces between a separator and a quotation mark, which the parser takes as a part of the cell.
fn without_space_before_quotes(table: &[u8], separator: u8) -> Cow<'_, [u8]> {
    if memchr::memmem::find(table, b" \"").is_none() {
        return Cow::Borrowed(table);
    }
    let mut out = Vec::with_capacity(table.len());
    let (mut quoted, mut begins) = (false, true);
    let mut rest = table;
    while let Some((&byte, after)) = rest.split_first() {
        let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
        if begins && !quoted && rest.get(spaces) == Some(&b'"') {
            rest = &rest[spaces + 1..];
            out.push(b'"');
            (quoted, begins) = (true, false);
            continue;
        }
        // Within a cell that is not quoted, a quotation mark is one of its characters.
        if quoted && byte == b'"' {
            quoted = after.first() == Some(&b'"') && {
                out.push(b'"');
                true
            };
            rest = if quoted { &after[1..] } else { after };
            out.push(b'"');
            continue;
        }
        begins = !quoted && (byte == separator || matches!(byte, b'\n' | b'\r'));
        out.push(byte);
        rest = after;
    }
    Cow::Owned(out)
}

fn no_row(cell: &CsvCell, rows: u32, matched: u32, rejected: &[String]) -> RowsError {
    let mut criteria: Vec<String> = cell
        .filter
        .iter()
        .map(|(column, value)| format!("{column} = {value}"))
        .collect();
    let has = match cell.row {
        _ if rows == 0 => "there are no rows below the header".to_owned(),
        Some(_) if matched > 0 => format!("{matched} match"),
        _ => {
            let columns = join(cell.filter.iter().map(|(column, _)| column), " ");
            let existing = listed(rejected.iter().map(String::as_str));
            format!("{columns} of the {rows} there are: {existing}")
        }
    };
    criteria.extend(cell.row.map(|row| format!("number {row}")));
    if criteria.is_empty() {
        criteria.push("as many cells as the header".to_owned());
    }
    RowsError::NoRow {
        criteria: criteria.join(", "),
        has,
    }
}

/// Returns whether the two are equal, as text or as numbers: `8` is `8.0`.
fn same(cell: &str, value: &str) -> bool {
    cell == value
        || match (parse_number(cell), parse_number(value)) {
            (Some(cell), Some(value)) => (cell.value - value.value).abs() <= 0.0,
            _ => false,
        }
}

/// The header's position, and the columns that are used.
struct Header {
    begin: usize,
    /// The number of its line, from 1.
    line: u64,
    separator: u8,
    columns: usize,
    figure: usize,
    filter: Vec<(usize, String)>,
    by: Vec<usize>,
}

impl Header {
    /// Whether a row has the requested cells.
    fn accepts(&self, row: Row<'_>) -> bool {
        let mut filter = self.filter.iter();
        filter.all(|(column, value)| same(&row.at(*column), value))
    }

    /// Whether a line with another count of cells is a row of the table that is requested: it has the
    /// requested cells, or numbers where a row above it has them.
    fn is_row(&self, row: Row<'_>, numeric: &[bool]) -> bool {
        let cells = row.0.len();
        let (has, lacks): (Vec<_>, Vec<_>) =
            self.filter.iter().partition(|(column, _)| *column < cells);
        if has
            .iter()
            .any(|(column, value)| !same(&row.at(*column), value))
        {
            return false;
        }
        if !has.is_empty() && lacks.is_empty() {
            return true;
        }
        let columns = numeric.iter().zip(row.numeric());
        let alike = columns.filter(|(above, _)| **above);
        let alike: Vec<bool> = alike.map(|(_, here)| here).collect();
        cells > 1 && !alike.is_empty() && alike.into_iter().all(|here| here)
    }

    fn number(&self, row: Row<'_>, cell: &CsvCell) -> Result<Printed, RowsError> {
        let (actual, required) = (row.0.len(), self.columns);
        if actual != required {
            let row = row.text();
            return Err(RowsError::Cells {
                row,
                actual,
                required,
            });
        }
        let text = row.at(self.figure);
        parse_number(&text).ok_or_else(|| RowsError::NotANumber {
            column: cell.column.clone(),
            text: shortened(&text),
        })
    }

    fn find(bytes: &[u8], cell: &CsvCell, by: &[String]) -> Result<Self, RowsError> {
        let required: Vec<&str> = std::iter::once(cell.column.as_str())
            .chain(cell.filter.iter().map(|(column, _)| column.as_str()))
            .chain(by.iter().map(String::as_str))
            .collect();
        let mut begin = 0;
        let mut nearest: Option<(usize, String, String)> = None;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (1..).zip(lines.take(MOST_LINES)) {
            for separator in [b',', b';', b'\t'] {
                let names = cells(line, separator);
                let at = |name: &str| names.iter().position(|cell| cell == name.trim());
                let missing: Vec<&str> = required
                    .iter()
                    .copied()
                    .filter(|name| at(name).is_none())
                    .collect();
                if missing.is_empty() {
                    once_each(&names, &required)?;
                    let positions: Vec<usize> =
                        required.iter().filter_map(|name| at(name)).collect();
                    let (filter, rest) = positions[1..].split_at(cell.filter.len());
                    return Ok(Self {
                        begin,
                        line: number,
                        separator,
                        columns: names.len(),
                        figure: positions[0],
                        filter: filter
                            .iter()
                            .zip(&cell.filter)
                            .map(|(column, (_, value))| (*column, value.clone()))
                            .collect(),
                        by: rest.to_vec(),
                    });
                }
                // Prefer a line that has some of the columns, else one of many cells.
                let score = 100 * (required.len() - missing.len()) + names.len().min(99);
                if score > nearest.as_ref().map_or(0, |(score, ..)| *score) {
                    nearest = Some((score, missing[0].to_owned(), names.join(", ")));
                }
            }
            begin += line.len();
        }
        let (column, near) = match nearest {
            Some((_, column, line)) => (
                column,
                format!("; the nearest line is: {}", shortened(&line)),
            ),
            None => (cell.column.clone(), String::new()),
        };
        Err(RowsError::NoHeader { column, near })
    }
}

/// Checks that each of the columns that are read has a name of its own.
fn once_each(names: &[String], required: &[&str]) -> Result<(), RowsError> {
    for column in required {
        let count = names.iter().filter(|name| *name == column.trim()).count();
        if count > 1 {
            let column = (*column).to_owned();
            return Err(RowsError::SameName { column, count });
        }
    }
    Ok(())
}

/// The cells of a line.
fn cells(line: &[u8], separator: u8) -> Vec<String> {
    let line = &without_space_before_quotes(line, separator)[..];
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(line);
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => record
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
