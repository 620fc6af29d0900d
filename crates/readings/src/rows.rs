//! Figures of CSV: a column by its header, rows by their values in other columns.
//!
//! The header is the first line that has all the requested columns, so that a tool may print other
//! text before it, and a table may be part of a step's output. Separators are commas, semicolons
//! or tabs.

use itertools::join;

use super::accumulator::{Entries, MOST_ENTRIES, entry};
use super::figure::parse_number;
use super::nearest::{listed, shortened};
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
    /// The cell is not a number.
    #[error("the column `{column}` has `{text}`, not a number")]
    NotANumber {
        /// The column.
        column: String,
        /// The cell's text.
        text: String,
    },
    /// A table that is too long.
    #[error("`by` names more than {MOST_ENTRIES} figures; make it narrower")]
    TooManyEntries,
}

/// Returns a table's entries by name; a figure that is not a table has the empty name.
///
/// # Errors
/// Where there is no such column, no such row, or no number.
pub fn read(bytes: &[u8], cell: &CsvCell, by: &[String], take: Take) -> Result<Entries, RowsError> {
    let bytes = &strip_escapes(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))[..];
    let header = Header::find(bytes, cell, by)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(header.separator)
        .has_headers(true)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&bytes[header.begin..]);
    let mut entries = Entries::new();
    let (mut rows, mut matched) = (0_u32, 0_u32);
    let mut rejected: Vec<String> = Vec::new();
    let mut record = csv::ByteRecord::new();
    while let Ok(true) = reader.read_byte_record(&mut record) {
        // A line that is no row of the table (below it, or truncated) is skipped.
        if record.len() != header.columns {
            continue;
        }
        rows = rows.saturating_add(1);
        let at = |column: usize| String::from_utf8_lossy(record.get(column).unwrap_or_default());
        let fits = header
            .filter
            .iter()
            .all(|(column, value)| same(&at(*column), value));
        if !fits {
            let values = join(header.filter.iter().map(|(column, _)| at(*column)), " ");
            if rejected.len() < 50 && !rejected.contains(&values) {
                rejected.push(values);
            }
            continue;
        }
        matched = matched.saturating_add(1);
        if cell.row.is_some_and(|row| row != matched) {
            continue;
        }
        let text = at(header.figure);
        let printed = parse_number(&text).ok_or_else(|| RowsError::NotANumber {
            column: cell.column.clone(),
            text: shortened(&text),
        })?;
        let names: Vec<_> = header.by.iter().map(|column| at(*column)).collect();
        let entry = entry(&mut entries, names.iter().map(AsRef::as_ref), take);
        entry.ok_or(RowsError::TooManyEntries)?.add(printed);
    }
    if entries.is_empty() {
        return Err(no_row(cell, rows, matched, &rejected));
    }
    Ok(entries)
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
    separator: u8,
    columns: usize,
    figure: usize,
    filter: Vec<(usize, String)>,
    by: Vec<usize>,
}

impl Header {
    fn find(bytes: &[u8], cell: &CsvCell, by: &[String]) -> Result<Self, RowsError> {
        let required: Vec<&str> = std::iter::once(cell.column.as_str())
            .chain(cell.filter.iter().map(|(column, _)| column.as_str()))
            .chain(by.iter().map(String::as_str))
            .collect();
        let mut begin = 0;
        let mut nearest: Option<(usize, String, String)> = None;
        for line in bytes
            .split_inclusive(|byte| *byte == b'\n')
            .take(MOST_LINES)
        {
            for separator in [b',', b';', b'\t'] {
                let names = cells(line, separator);
                let at = |name: &str| names.iter().position(|cell| cell == name.trim());
                let missing: Vec<&str> = required
                    .iter()
                    .copied()
                    .filter(|name| at(name).is_none())
                    .collect();
                if missing.is_empty() {
                    let positions: Vec<usize> =
                        required.iter().filter_map(|name| at(name)).collect();
                    let (filter, rest) = positions[1..].split_at(cell.filter.len());
                    return Ok(Self {
                        begin,
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

/// The cells of a line.
fn cells(line: &[u8], separator: u8) -> Vec<String> {
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
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const TABLE: &str = "# GEMM, 200 repetitions\ndtype,shape,\"ms, median\",TFLOP/s\n\
        fp16,8192,1.10,999.5\nbf16,8192,1.09,\"1,008.75\"\nbf16,4096,0.15,nan\n\ntotal: 3 rows\n";

    fn cell(column: &str, filter: &[(&str, &str)], row: Option<u32>) -> CsvCell {
        CsvCell {
            column: column.to_owned(),
            filter: filter
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            row,
        }
    }

    fn figure(text: &str, cell: &CsvCell, take: Take) -> Result<f64, String> {
        let mut entries =
            read(text.as_bytes(), cell, &[], take).map_err(|error| error.to_string())?;
        Ok(entries.remove("").unwrap().one()?.value)
    }

    #[rstest]
    #[case(&[("dtype", "bf16"), ("shape", "8192.0")], None, 1008.75)]
    #[case(&[("shape", "8192")], Some(1), 999.5)]
    #[case(&[("shape", "8192")], Some(2), 1008.75)]
    fn cells_by_column_and_row(
        #[case] filter: &[(&str, &str)],
        #[case] row: Option<u32>,
        #[case] expected: f64,
    ) {
        let cell = cell("TFLOP/s", filter, row);
        assert_eq!(figure(TABLE, &cell, Take::Last), Ok(expected));
        let tabs = TABLE.replace("\"1,008.75\"", "1008.75").replace(',', "\t");
        assert_eq!(
            figure(&format!("\u{feff}{tabs}"), &cell, Take::Last),
            Ok(expected)
        );
        let colored = TABLE.replace("TFLOP/s", "\x1b[1mTFLOP/s\x1b[0m");
        assert_eq!(figure(&colored, &cell, Take::Last), Ok(expected));
        let crlf = TABLE.replace('\n', "\r\n");
        assert_eq!(figure(&crlf, &cell, Take::Last), Ok(expected));
    }

    #[test]
    fn a_table() {
        let by = ["dtype".to_owned(), "shape".to_owned()];
        let text = TABLE.replace("nan", "930");
        let entries = read(
            text.as_bytes(),
            &cell("TFLOP/s", &[], None),
            &by,
            Take::Last,
        )
        .unwrap();
        let names: Vec<&str> = entries.keys().map(String::as_str).collect();
        assert_eq!(names, ["bf16 4096", "bf16 8192", "fp16 8192"]);
    }

    #[rstest]
    #[case(cell("TFLOPS", &[], None), "no line has the column `TFLOPS`; the nearest line is: dtype, shape, ms, median, TFLOP/s")]
    #[case(cell("TFLOP/s", &[("dtype", "fp8")], None), "no row has dtype = fp8; dtype of the 3 there are: fp16, bf16")]
    #[case(cell("TFLOP/s", &[("dtype", "bf16")], Some(3)), "no row has dtype = bf16, number 3; 2 match")]
    #[case(cell("TFLOP/s", &[("shape", "4096")], None), "the column `TFLOP/s` has `nan`, not a number")]
    fn missing_cells_are_reported(#[case] cell: CsvCell, #[case] expected: &str) {
        assert_eq!(figure(TABLE, &cell, Take::Last).unwrap_err(), expected);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes, &cell("a", &[("b", "1")], None), &[], Take::All);
            let headed = [b"a,b\n".as_slice(), &bytes].concat();
            let _ = read(&headed, &cell("a", &[], None), &["b".to_owned()], Take::Mean);
        }
    }
}
