//! The header of a table: where it stands, and which columns are read.

use std::borrow::Cow;

use super::quotes::strip_spaces_before_quotes;
use super::row::CsvRow;
use super::{RowsError, is_same_value};
use crate::nearest::truncate_for_message;
use crate::request::CsvCell;
use crate::units;

/// Lines in which the header is searched.
const MAX_HEADER_LINES: usize = 100_000;

/// The columns that are read of a table.
#[derive(Clone, Copy)]
pub struct TableRequest<'a> {
    /// The figure's column, and the rows that count.
    pub cell: &'a CsvCell,
    /// The columns that name a table's entries.
    pub entry_columns: &'a [String],
    /// The figure's unit; empty if it has none.
    pub unit: &'a str,
}

impl<'a> TableRequest<'a> {
    /// Returns the names of the columns: the figure's, the filter's, those that name entries.
    fn column_names(self) -> Vec<&'a str> {
        let filter = self.cell.filter.iter().map(|(column, _)| column.as_str());
        let figure = std::iter::once(self.cell.column.as_str());
        let by = self.entry_columns.iter().map(String::as_str);
        figure.chain(filter).chain(by).collect()
    }
}

/// A header's position, and its columns.
pub struct TableHeader {
    /// The offset of its line.
    pub begin: usize,
    /// The number of its line, from 1.
    pub line: u64,
    pub separator: u8,
    pub columns: TableColumns,
}

pub struct TableColumns {
    names: Vec<String>,
    /// The figure's column, from 0.
    pub figure: usize,
    filter: Vec<(usize, String)>,
    /// The columns that name a table's entries.
    pub entry_columns: Vec<usize>,
    /// The column of units, if there is one.
    units: Option<usize>,
    /// The unit of the figure's column, if a row of units follows the header.
    unit: Option<String>,
}

impl TableColumns {
    /// Returns the columns of a line of these cells; none where one that is read is missing.
    ///
    /// # Errors
    /// If two columns that are read have one name.
    pub fn from_header(
        names: Vec<String>,
        request: TableRequest<'_>,
    ) -> Result<Option<Self>, RowsError> {
        let required = request.column_names();
        let at = |name: &&str| names.iter().position(|cell| cell == name.trim());
        let Some(positions) = required.iter().map(at).collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        reject_duplicate_names(&names, &required)?;
        let (filter, by) = positions[1..].split_at(request.cell.filter.len());
        let values = request.cell.filter.iter().map(|(_, value)| value.clone());
        let is_unit = |name: &String| matches!(&name.to_ascii_lowercase()[..], "unit" | "units");
        let units = names.iter().position(is_unit);
        Ok(Some(Self {
            names,
            figure: positions[0],
            filter: filter.iter().copied().zip(values).collect(),
            entry_columns: by.to_vec(),
            units,
            unit: None,
        }))
    }

    /// Learns the unit of the figure's column, if a row without numbers has one there.
    pub fn learn_unit(&mut self, row: CsvRow<'_>) -> bool {
        let cell = row.cell(self.figure);
        let is_unit = row.has_no_number() && units::is_unit(&cell);
        if is_unit {
            self.unit = Some(cell.into_owned());
        }
        is_unit
    }

    /// Returns the unit that the table states of the figure in a row, if it is another than the figure's own.
    pub fn contradicting_unit(&self, row: CsvRow<'_>, unit: &str) -> Option<String> {
        let row_unit = self.units.map(|column| row.cell(column)).filter(|cell| !cell.is_empty());
        let stated = row_unit.map(Cow::into_owned).or_else(|| self.unit.clone());
        match stated.filter(|_| !unit.is_empty()) {
            Some(stated) => (!units::is_same(&stated, unit)).then_some(stated),
            None => units::find_contradiction(&self.names[self.figure], unit),
        }
    }

    /// Returns how many columns there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns whether a cell is the name of a column.
    pub fn has_column(&self, cell: &str) -> bool {
        !cell.is_empty() && self.names.iter().any(|name| name == cell)
    }

    /// Returns the texts of a row in the requested cells' columns.
    pub fn filter_cells<'a>(&self, row: CsvRow<'a>) -> impl Iterator<Item = Cow<'a, str>> {
        self.filter.iter().map(move |(column, _)| row.cell(*column))
    }

    /// Returns whether a row has the requested cells; none where it is too short to tell, or where none
    /// are requested.
    pub fn accepts_row(&self, row: CsvRow<'_>) -> Option<bool> {
        let (has, lacks): (Vec<_>, Vec<_>) =
            self.filter.iter().partition(|(column, _)| *column < row.count());
        let mut has_it = has.iter().map(|(column, value)| is_same_value(&row.cell(*column), value));
        if has_it.any(|has_it| !has_it) {
            return Some(false);
        }
        (!has.is_empty() && lacks.is_empty()).then_some(true)
    }
}

impl TableHeader {
    /// Finds the first line that has all the columns.
    ///
    /// # Errors
    /// If there is none, or two of its columns that are read have one name.
    pub fn find(bytes: &[u8], request: TableRequest<'_>) -> Result<Self, RowsError> {
        let required = request.column_names();
        let mut begin = 0;
        let mut nearest: Option<(usize, String, String)> = None;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (1..).zip(lines.take(MAX_HEADER_LINES)) {
            for separator in [b',', b';', b'\t'] {
                let names = without_mark(split_cells(line, separator), &required);
                let is_missing = |name: &&&str| !names.iter().any(|cell| cell == name.trim());
                let missing: Vec<&&str> = required.iter().filter(is_missing).collect();
                if let Some(first) = missing.first() {
                    // Prefer a line that has some of the columns, else one of many cells.
                    let score = 100 * (required.len() - missing.len()) + names.len().min(99);
                    if score > nearest.as_ref().map_or(0, |(score, ..)| *score) {
                        nearest = Some((score, (**first).to_owned(), names.join(", ")));
                    }
                } else if let Some(columns) = TableColumns::from_header(names, request)? {
                    return Ok(Self { begin, line: number, separator, columns });
                }
            }
            begin += line.len();
        }
        let (column, near) = match nearest {
            Some((_, column, line)) => {
                (column, format!("; the nearest line is: {}", truncate_for_message(&line)))
            }
            None => (request.cell.column.clone(), String::new()),
        };
        Err(RowsError::NoHeader { column, near })
    }
}

/// Checks that each of the columns that are read has a name of its own.
fn reject_duplicate_names(names: &[String], required: &[&str]) -> Result<(), RowsError> {
    for column in required {
        let count = names.iter().filter(|name| *name == column.trim()).count();
        if count > 1 {
            let column = (*column).to_owned();
            return Err(RowsError::SameName { column, count });
        }
    }
    Ok(())
}

/// Returns the cells of a header without a mark before the first: `[0]:transA`, `# model`.
fn without_mark(mut names: Vec<String>, required: &[&str]) -> Vec<String> {
    if let Some(first) = names.first_mut()
        && let Some(at) = first.rfind([':', '#', ']'])
        && required.contains(&first[at + 1..].trim())
    {
        *first = first[at + 1..].trim().to_owned();
    }
    names
}

fn split_cells(line: &[u8], separator: u8) -> Vec<String> {
    let line = &strip_spaces_before_quotes(line, separator)[..];
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(line);
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect(),
        _ => Vec::new(),
    }
}
