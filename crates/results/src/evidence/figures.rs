//! A recipe's own figures: patterns, JSON and CSV over a step's output or a file of its results.

mod each_file;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{Read, Seek, SeekFrom};

use self::each_file::in_each_file;
use super::scan;
pub use super::texts::TextFile;
use crate::verdict::{FigureLocation, FigureValue, Skipped};
use retrial_readings::accumulator::{Accumulator, FigureEntries};
use retrial_readings::decode::Utf8Blocks;
use retrial_readings::json::{self, JsonError};
use retrial_readings::lines::{DEFAULT_LIMIT, LineSplitter};
use retrial_readings::nearest::NearestLine;
use retrial_readings::pattern::{Pattern, PatternError};
use retrial_readings::place::{RecordLocation, TextPosition};
use retrial_readings::rows::{self, RowsError};
use retrial_readings::units;
use retrial_recipe::model::{FigureLocator, FigureSource};
use retrial_store::blocks;

/// The largest JSON or CSV file that is read.
const DOCUMENT_CAP: u64 = 256 << 20;
/// Size of the end of an output that is searched for the nearest line, bytes.
const NEAREST_CAP: u64 = 4 << 20;

/// Figures by name, and why others are not among them; the entries of a table each by its own name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureReadings {
    /// The figures that were read, by name.
    pub figures: BTreeMap<String, FigureValue>,
    /// Why a figure that is announced is not among them, by name.
    pub missing: BTreeMap<String, String>,
}

/// Reasons why a text gives no figure.
#[derive(Debug)]
pub(super) enum FigureReadError {
    /// The text does not have it: another may.
    Absent(String),
    /// The text has it, and it cannot be read: no other text takes its place.
    Fault(String),
}

impl FigureReadError {
    fn absent(reason: impl Display) -> Self {
        Self::Absent(reason.to_string())
    }

    fn fault(reason: impl Display) -> Self {
        Self::Fault(reason.to_string())
    }

    /// Returns the reason, as a lower-case fragment.
    pub fn reason(self) -> String {
        match self {
            Self::Absent(reason) | Self::Fault(reason) => reason,
        }
    }

    pub fn prefixed(self, path: &str) -> Self {
        match self {
            Self::Absent(reason) => Self::Absent(format!("{path}: {reason}")),
            Self::Fault(reason) => Self::Fault(format!("{path}: {reason}")),
        }
    }
}

/// Finds a figure in the first of the texts that announces it. The other headings of the recipe end
/// the text below its own.
///
/// # Errors
/// The places that were searched, the reason, and the nearest line.
pub(super) fn find(
    name: &str,
    source: &FigureSource,
    headings: &[&str],
    texts: &[TextFile],
) -> Result<FigureReadings, FigureReadError> {
    let mut first = None;
    for text in texts {
        match find_in(name, source, headings, text) {
            // The first text's reason counts: the others are only fallbacks.
            Err(FigureReadError::Absent(reason)) => drop(first.get_or_insert(reason)),
            found_or_fault => return found_or_fault,
        }
    }
    let none = || "there is no output to search".to_owned();
    Err(FigureReadError::Absent(first.unwrap_or_else(none)))
}

fn find_in(
    name: &str,
    source: &FigureSource,
    headings: &[&str],
    text: &TextFile,
) -> Result<FigureReadings, FigureReadError> {
    let files = text.files().map_err(FigureReadError::Absent)?;
    let target = FigureExtraction {
        name,
        source,
        files: &files,
    };
    let found = match &source.find {
        FigureLocator::Pattern {
            expression,
            below,
            until,
        } => {
            let block = PatternScope {
                below: below.as_deref(),
                until: until.as_deref(),
                headings,
            };
            by_pattern(source, expression, &block, &files).map(|entries| target.figures(entries))
        }
        FigureLocator::Json { path, value } => {
            by_json(source, path, value.as_deref(), &files).map(|entries| target.figures(entries))
        }
        FigureLocator::Csv(_) => by_csv(source, &files).map(|entries| target.figures(entries)),
        FigureLocator::Mllog(_) => Err(FigureReadError::fault(
            "figures of a training log are read run by run",
        )),
    };
    found.map_err(|unread| unread.prefixed(&text.file.display().to_string()))
}

/// A figure and the files that it was read of.
struct FigureExtraction<'a> {
    name: &'a str,
    source: &'a FigureSource,
    files: &'a [TextFile],
}

impl FigureExtraction<'_> {
    fn figures<E: Display>(&self, entries: FigureEntries<E>) -> FigureReadings {
        let mut found = FigureReadings::default();
        let unit = self.source.unit.clone().unwrap_or_default();
        for (entry, accumulator) in entries {
            let name = if self.source.by.is_empty() {
                self.name.to_owned()
            } else {
                format!("{}[{entry}]", self.name)
            };
            let mut origin = origin(self.files, accumulator.place());
            let passed_over = passed_over(self.files, &accumulator);
            let below_zero = accumulator
                .least()
                .filter(|(least, _)| *least < 0.0 && units::is_never_negative(&unit));
            let number = match below_zero {
                Some((least, place)) => {
                    origin = self::origin(self.files, place);
                    let least = format!("{least} {unit}");
                    Err(format!(
                        "it is {least}, and none of this unit is below zero"
                    ))
                }
                None => accumulator.one(),
            };
            match number {
                Ok(printed) => {
                    origin.passed_over = passed_over;
                    let figure = FigureValue::new(printed.value, unit.clone());
                    let figure = figure.printed(printed.half_digit).read_at(origin);
                    found.figures.insert(name, figure);
                }
                Err(reason) => drop(found.missing.insert(name, format!("{origin}: {reason}"))),
            }
        }
        found
    }
}

/// Returns where a record stands.
pub(super) fn origin(files: &[TextFile], place: RecordLocation) -> FigureLocation {
    let file = files.get(place.file);
    let line = match place.position {
        TextPosition::Line(line) => Some(line),
        TextPosition::Offset(offset) => file.and_then(|file| file.line_at(offset)),
    };
    FigureLocation {
        file: file.map_or(String::new(), |file| file.file.display().to_string()),
        line,
        passed_over: None,
    }
}

/// Returns the records that were skipped.
pub(super) fn passed_over<E: Display>(
    files: &[TextFile],
    accumulator: &Accumulator<E>,
) -> Option<Skipped> {
    let passed_over = accumulator.passed_over();
    let (place, reason) = passed_over.first.as_ref()?;
    let first = origin(files, *place);
    let first = match first.line {
        Some(line) => format!("line {line}: {reason}"),
        None => reason.clone(),
    };
    let count = passed_over.count;
    Some(Skipped { count, first })
}

fn by_csv(
    source: &FigureSource,
    files: &[TextFile],
) -> Result<FigureEntries<RowsError>, FigureReadError> {
    let FigureLocator::Csv(cell) = &source.find else {
        return Ok(FigureEntries::new());
    };
    in_each_file(source, files, |number, file| {
        let bytes = file.read(DOCUMENT_CAP).map_err(FigureReadError::Absent)?;
        let entries = rows::read(&bytes, cell, &source.by, source.take, number);
        entries.map_err(|error| match error {
            RowsError::NoHeader { .. } | RowsError::NoRow { .. } => FigureReadError::absent(error),
            error => FigureReadError::fault(error),
        })
    })
}

/// The lines between which a pattern is searched.
struct PatternScope<'a> {
    below: Option<&'a str>,
    until: Option<&'a str>,
    headings: &'a [&'a str],
}

impl PatternScope<'_> {
    fn limit(&self, pattern: Pattern) -> Result<Pattern, PatternError> {
        let Some(heading) = self.below else {
            return Ok(pattern);
        };
        let pattern = pattern.below(heading)?;
        match self.until {
            Some(end) => pattern.until(end),
            None => pattern.with_headings(self.headings),
        }
    }
}

fn by_pattern(
    source: &FigureSource,
    expression: &str,
    block: &PatternScope<'_>,
    files: &[TextFile],
) -> Result<FigureEntries<PatternError>, FigureReadError> {
    let unit = source.unit.clone().unwrap_or_default();
    let pattern = Pattern::new(expression, source.take, unit)
        .and_then(|pattern| pattern.by(&source.by))
        .and_then(|pattern| block.limit(pattern))
        .map_err(FigureReadError::fault)?;
    in_each_file(source, files, |number, file| {
        let opened = file.open().map_err(FigureReadError::Absent)?;
        let read = scan::file(&pattern, &opened, number);
        let read =
            read.map_err(|error| FigureReadError::Fault(format!("it cannot be read: {error}")))?;
        read.entries().map_err(|error| match error {
            PatternError::NoMatch { .. } | PatternError::NoMatchBelow { .. } => {
                FigureReadError::Absent(format!("{error}{}", nearest_line(expression, file)))
            }
            error => FigureReadError::fault(error),
        })
    })
}

fn by_json(
    source: &FigureSource,
    path: &str,
    value: Option<&str>,
    files: &[TextFile],
) -> Result<FigureEntries<JsonError>, FigureReadError> {
    in_each_file(source, files, |number, file| {
        let mut reader = json::JsonReader::new(path, &source.by, value, source.take)
            .map_err(FigureReadError::fault)?;
        reader.begin_file(number);
        if source.file.is_some() {
            reader.read(&file.read(DOCUMENT_CAP).map_err(FigureReadError::Absent)?);
        } else {
            let mut opened = file.open().map_err(FigureReadError::Absent)?;
            let feed = |line: &str| reader.feed_line(line);
            each_long_line(&mut opened, json::MAX_LENGTH, feed).map_err(FigureReadError::Fault)?;
            reader.end_of_log();
        }
        reader.entries().map_err(|error| match error {
            JsonError::Empty | JsonError::NoMatch { .. } | JsonError::OnlyBroken { .. } => {
                FigureReadError::absent(error)
            }
            error => FigureReadError::fault(error),
        })
    })
}

/// Hands every line of a file to `feed`, as UTF-8.
pub(crate) fn each_line(file: &mut impl Read, feed: impl FnMut(&str)) -> Result<(), String> {
    each_long_line(file, DEFAULT_LIMIT, feed)
}

/// Hands every line of a file to `feed`; longer ones than the limit in pieces.
fn each_long_line(
    file: &mut impl Read,
    limit: usize,
    mut feed: impl FnMut(&str),
) -> Result<(), String> {
    let mut splitter = LineSplitter::with_limit(limit);
    let mut utf8 = Utf8Blocks::default();
    blocks::for_each_block(file, |block| {
        utf8.push(block, |block| splitter.push(block, |line| feed(&line.text)));
    })
    .map_err(|error| format!("it cannot be read: {error}"))?;
    splitter.finish(|line| feed(&line.text));
    Ok(())
}

/// Describes the line near the end of a file that is most like the pattern.
fn nearest_line(expression: &str, file: &TextFile) -> String {
    let mut nearest = NearestLine::to(expression);
    let Ok(mut file) = file.open() else {
        return String::new();
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let begin = length.saturating_sub(NEAREST_CAP);
    if file.seek(SeekFrom::Start(begin)).is_err() || length == 0 {
        return "; it is empty".to_owned();
    }
    // What cannot be read has no nearest line.
    let _ = each_line(&mut file, |line| nearest.feed(line));
    nearest.words()
}
