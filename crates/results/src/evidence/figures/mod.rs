//! A recipe's own figures: patterns, JSON and CSV over a step's output or a file of its results.

mod each_file;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{Read, Seek, SeekFrom};

use self::each_file::read_each_file;
use super::scan;
use super::texts::TextError;
pub use super::texts::TextFile;
use crate::verdict::{FigureLocation, FigureValue, MarkedLine, RepeatedValues, Skipped};
use retrial_readings::accumulator::{Accumulator, FigureEntries};
use retrial_readings::decode::Utf8Blocks;
use retrial_readings::json::{self, JsonError};
use retrial_readings::lines::{DEFAULT_LINE_LIMIT_BYTES, LineSplitter};
use retrial_readings::nearest::NearestLine;
use retrial_readings::pattern::{Pattern, PatternError, describe_loosened};
use retrial_readings::place::{RecordLocation, TextPosition};
use retrial_readings::rows::{self, RowsError, TableRequest};
use retrial_readings::units;
use retrial_recipe::model::{FigureLocator, FigureSource, OrderedMap};
use retrial_store::blocks;

/// The largest JSON or CSV file that is read.
const MAX_DOCUMENT_BYTES: u64 = 256 << 20;
/// Size of the end of an output that is searched for the nearest line, bytes.
const MAX_NEAREST_BYTES: u64 = 4 << 20;

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
    pub fn absent(reason: impl Display) -> Self {
        Self::Absent(reason.to_string())
    }

    pub fn fault(reason: impl Display) -> Self {
        Self::Fault(reason.to_string())
    }

    /// Returns the reason, as a lower-case fragment.
    pub fn into_reason(self) -> String {
        match self {
            Self::Absent(reason) | Self::Fault(reason) => reason,
        }
    }

    pub fn with_path(self, path: &str) -> Self {
        match self {
            Self::Absent(reason) => Self::Absent(format!("{path}: {reason}")),
            Self::Fault(reason) => Self::Fault(format!("{path}: {reason}")),
        }
    }
}

/// The patterns of the recipe's other figures of the same file.
#[derive(Debug, Default)]
pub(super) struct OtherPatterns<'a> {
    /// The headings below which figures of the same pattern stand; each ends the text below another.
    headings: Vec<&'a str>,
    /// The other patterns.
    expressions: Vec<&'a str>,
}

impl<'a> OtherPatterns<'a> {
    /// Returns those of the other figures that are read of the file of this one.
    pub fn of_figures(figures: &'a OrderedMap<FigureSource>, source: &FigureSource) -> Self {
        let FigureLocator::Pattern { expression: own, .. } = &source.find else {
            return Self::default();
        };
        let mut others = Self::default();
        for (_, other) in figures.iter().filter(|(_, other)| other.file == source.file) {
            match &other.find {
                FigureLocator::Pattern { expression, below, .. } if expression == own => {
                    others.headings.extend(below.as_deref());
                }
                FigureLocator::Pattern { expression, .. } => others.expressions.push(expression),
                _ => {}
            }
        }
        others
    }
}

/// Finds a figure in the first of the texts that announces it.
///
/// # Errors
/// The places that were searched, the reason, and the nearest line.
pub(super) fn find_figure(
    name: &str,
    source: &FigureSource,
    others: &OtherPatterns<'_>,
    texts: &[TextFile],
) -> Result<FigureReadings, FigureReadError> {
    let mut first = None;
    for text in texts {
        match find_figure_in(name, source, others, text) {
            // The first text's reason counts: the others are only fallbacks.
            Err(FigureReadError::Absent(reason)) => drop(first.get_or_insert(reason)),
            found_or_fault => return found_or_fault,
        }
    }
    let none = || "there is no output to search".to_owned();
    Err(FigureReadError::Absent(first.unwrap_or_else(none)))
}

fn find_figure_in(
    name: &str,
    source: &FigureSource,
    others: &OtherPatterns<'_>,
    text: &TextFile,
) -> Result<FigureReadings, FigureReadError> {
    let files = text.matching_files().map_err(FigureReadError::absent)?;
    let target = FigureExtraction { name, source, files: &files };
    let found = match &source.find {
        FigureLocator::Pattern { expression, below, until } => {
            let block = PatternScope { below: below.as_deref(), until: until.as_deref(), others };
            read_pattern_figure(source, expression, &block, &files)
                .map(|entries| target.collect_figures(entries))
        }
        FigureLocator::Json { path, value } => {
            read_json_figure(source, path, value.as_deref(), &files)
                .map(|entries| target.collect_figures(entries))
        }
        FigureLocator::Csv(_) => {
            read_csv_figure(source, &files).map(|entries| target.collect_figures(entries))
        }
        FigureLocator::Mllog(_) => {
            Err(FigureReadError::fault("figures of a training log are read run by run"))
        }
    };
    found.map_err(|unread| unread.with_path(&text.file.display().to_string()))
}

/// A figure and the files that it was read of.
struct FigureExtraction<'a> {
    name: &'a str,
    source: &'a FigureSource,
    files: &'a [TextFile],
}

impl FigureExtraction<'_> {
    fn collect_figures<E: Display>(&self, entries: FigureEntries<E>) -> FigureReadings {
        let mut found = FigureReadings::default();
        let unit = self.source.unit.clone().unwrap_or_default();
        for (entry, accumulator) in entries {
            let name = if self.source.by.is_empty() {
                self.name.to_owned()
            } else {
                format!("{}[{entry}]", self.name)
            };
            let mut origin = self.locate_number(accumulator.deciding_place());
            let passed_over = skipped_records(self.files, &accumulator);
            let repeated = repeated_values(self.source, &accumulator);
            let below_zero = accumulator
                .smallest_value()
                .filter(|(least, _)| *least < 0.0 && units::is_never_negative(&unit));
            let number = match below_zero {
                Some((least, place)) => {
                    origin = locate_origin(self.files, place);
                    let least = format!("{least} {unit}");
                    Err(format!("it is {least}, and none of this unit is below zero"))
                }
                None => accumulator.into_single_value().map_err(|error| error.to_string()),
            };
            match number {
                Ok(printed) => {
                    origin.passed_over = passed_over;
                    origin.repeated = repeated;
                    let value = FigureValue::new(printed.value, unit.clone());
                    let figure = value.with_half_digit(printed.half_digit).with_origin(origin);
                    found.figures.insert(name, figure);
                }
                Err(reason) => drop(found.missing.insert(name, format!("{origin}: {reason}"))),
            }
        }
        found
    }

    /// Returns where a number was read, with its line.
    fn locate_number(&self, place: RecordLocation) -> FigureLocation {
        let origin = locate_origin(self.files, place);
        match self.files.get(place.file).and_then(|file| self.find_line(file, place)) {
            Some(NumberLine { skipped_lines, text, columns }) => FigureLocation {
                line: origin.line.map(|line| line + skipped_lines),
                columns: Some(columns),
                text: MarkedLine::from_columns(&text, columns),
                ..origin
            },
            None => origin,
        }
    }

    /// Finds the line of a number: of a value of JSON, from the line on which its document begins.
    fn find_line(&self, file: &TextFile, place: RecordLocation) -> Option<NumberLine> {
        let line = match place.position {
            TextPosition::Offset(offset) => file.line_at(offset)?,
            TextPosition::Line(line) => file.text_from_line(line)?,
        };
        let (FigureLocator::Json { path, value }, Some(number)) = (&self.source.find, place.value)
        else {
            let text = line.lines().next()?.to_owned();
            return Some(NumberLine { skipped_lines: 0, text, columns: place.columns? });
        };
        let range = json::locate_value(&line, path, value.as_deref(), number)?;
        let begin = line[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let text = line[begin..].lines().next()?.to_owned();
        let columns =
            place.with_columns(&text, &(range.start - begin..range.end - begin)).columns?;
        let skipped_lines = line[..begin].matches('\n').count() as u64;
        Some(NumberLine { skipped_lines, text, columns })
    }
}

/// The line of a number, so many lines below that of its record.
struct NumberLine {
    skipped_lines: u64,
    text: String,
    columns: (u32, u32),
}

pub(super) fn locate_origin(files: &[TextFile], place: RecordLocation) -> FigureLocation {
    let file = files.get(place.file);
    let line = match place.position {
        TextPosition::Line(line) => Some(line),
        TextPosition::Offset(offset) => file.and_then(|file| file.line_number_at(offset)),
    };
    FigureLocation {
        file: file.map_or(String::new(), |file| file.file.display().to_string()),
        line,
        columns: place.columns,
        ..FigureLocation::default()
    }
}

/// Returns the differing values of a figure if the recipe does not choose among them, so that the last is used.
pub(super) fn repeated_values<E: Display>(
    source: &FigureSource,
    accumulator: &Accumulator<E>,
) -> Option<RepeatedValues> {
    let (least, greatest) = accumulator.differing_values().filter(|_| source.take.is_none())?;
    Some(RepeatedValues { count: accumulator.count(), least, greatest })
}

pub(super) fn skipped_records<E: Display>(
    files: &[TextFile],
    accumulator: &Accumulator<E>,
) -> Option<Skipped> {
    let passed_over = accumulator.superseded_announcements();
    let (place, reason) = passed_over.first.as_ref()?;
    let first = locate_origin(files, *place);
    let first = match first.line {
        Some(line) => format!("line {line}: {reason}"),
        None => reason.clone(),
    };
    let count = passed_over.count;
    Some(Skipped { count, first })
}

fn read_csv_figure(
    source: &FigureSource,
    files: &[TextFile],
) -> Result<FigureEntries<RowsError>, FigureReadError> {
    let FigureLocator::Csv(cell) = &source.find else {
        return Ok(FigureEntries::new());
    };
    read_each_file(source, files, |number, file| {
        let bytes = file.read_bytes(MAX_DOCUMENT_BYTES).map_err(FigureReadError::absent)?;
        let unit = source.unit.as_deref().unwrap_or_default();
        let request = TableRequest { cell, entry_columns: &source.by, unit };
        let entries = rows::read_csv_entries(&bytes, request, source.match_selection(), number);
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
    others: &'a OtherPatterns<'a>,
}

impl PatternScope<'_> {
    fn restrict_pattern(&self, pattern: Pattern) -> Result<Pattern, PatternError> {
        let pattern = pattern.with_others(&self.others.expressions);
        let Some(heading) = self.below else {
            return Ok(pattern);
        };
        let pattern_below = pattern.below_heading(heading)?;
        match self.until {
            Some(end) => pattern_below.until_line(end),
            None => pattern_below.with_headings(&self.others.headings),
        }
    }
}

fn read_pattern_figure(
    source: &FigureSource,
    expression: &str,
    block: &PatternScope<'_>,
    files: &[TextFile],
) -> Result<FigureEntries<PatternError>, FigureReadError> {
    let unit = source.unit.clone().unwrap_or_default();
    let take = source.match_selection();
    let pattern = Pattern::new(expression, take, unit)
        .map(|pattern| match source.take {
            None => pattern.with_every_match(),
            Some(_) => pattern,
        })
        .and_then(|pattern| pattern.with_entry_groups(&source.by))
        .and_then(|pattern| block.restrict_pattern(pattern))
        .map_err(FigureReadError::fault)?;
    read_each_file(source, files, |number, file| {
        let opened = file.open().map_err(FigureReadError::absent)?;
        let scanned = scan::scan_file(&pattern, &opened, number);
        let read = scanned
            .map_err(|error| FigureReadError::Fault(format!("it cannot be read: {error}")))?;
        read.into_entries().map_err(|error| match error {
            PatternError::NoMatch { .. } | PatternError::NoMatchBelow { .. } => {
                FigureReadError::Absent(format!("{error}{}", describe_nearest_line(&pattern, file)))
            }
            error => FigureReadError::fault(error),
        })
    })
}

fn read_json_figure(
    source: &FigureSource,
    path: &str,
    value: Option<&str>,
    files: &[TextFile],
) -> Result<FigureEntries<JsonError>, FigureReadError> {
    read_each_file(source, files, |number, file| {
        let unit = source.unit.as_deref().unwrap_or_default();
        let mut reader = json::JsonReader::new(path, &source.by, value, source.take)
            .map_err(FigureReadError::fault)?
            .with_unit(unit);
        reader.begin_file(number);
        if source.file.is_some() {
            reader
                .read_file(&file.read_bytes(MAX_DOCUMENT_BYTES).map_err(FigureReadError::absent)?);
        } else {
            let mut opened = file.open().map_err(FigureReadError::absent)?;
            let feed = |line: &str| reader.feed_line(line);
            for_each_long_line(&mut opened, json::MAX_DOCUMENT_BYTES, feed)
                .map_err(FigureReadError::fault)?;
            reader.finish_log();
        }
        reader.into_entries().map_err(|error| match error {
            JsonError::Empty | JsonError::NoMatch { .. } | JsonError::OnlyBroken { .. } => {
                FigureReadError::absent(error)
            }
            error => FigureReadError::fault(error),
        })
    })
}

/// Hands every line of a file to `feed`, as UTF-8.
pub(crate) fn for_each_line(file: &mut impl Read, feed: impl FnMut(&str)) -> Result<(), TextError> {
    for_each_long_line(file, DEFAULT_LINE_LIMIT_BYTES, feed)
}

/// Hands every line of a file to `feed`; longer ones than the limit in pieces.
fn for_each_long_line(
    file: &mut impl Read,
    limit: usize,
    mut feed: impl FnMut(&str),
) -> Result<(), TextError> {
    let mut splitter = LineSplitter::with_limit(limit);
    let mut utf8 = Utf8Blocks::default();
    blocks::for_each_block(file, |block| {
        utf8.push(block, |block| splitter.push(block, |line| feed(&line.text)));
    })?;
    splitter.finish(|line| feed(&line.text));
    Ok(())
}

/// Describes the line near the end of a file that is most like the pattern, and the pattern that reads it if only
/// white space or case is in the way.
fn describe_nearest_line(pattern: &Pattern, file: &TextFile) -> String {
    let mut nearest = NearestLine::for_pattern(pattern.expression());
    let Ok(mut file) = file.open() else {
        return String::new();
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let begin = length.saturating_sub(MAX_NEAREST_BYTES);
    if file.seek(SeekFrom::Start(begin)).is_err() || length == 0 {
        return "; it is empty".to_owned();
    }
    // What cannot be read has no nearest line.
    let _ = for_each_line(&mut file, |line| nearest.consider_line(line));
    let remedy = nearest.line().and_then(|line| pattern.find_loosened(line));
    nearest.into_hint() + &describe_loosened(remedy.as_deref())
}
