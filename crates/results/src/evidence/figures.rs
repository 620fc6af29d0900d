//! A recipe's own figures: patterns, JSON and CSV over a step's output or a file of its results.

mod each_file;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{Read, Seek, SeekFrom};

use self::each_file::in_each_file;
use super::scan;
pub use super::texts::Text;
use crate::verdict::{FigureValue, Origin, Skipped};
use retrial_readings::accumulator::{Accumulator, Entries};
use retrial_readings::decode::Utf8Blocks;
use retrial_readings::json::{self, JsonError};
use retrial_readings::lines::{DEFAULT_LIMIT, LineSplitter};
use retrial_readings::nearest::NearestLine;
use retrial_readings::pattern::{Pattern, PatternError};
use retrial_readings::place::{Place, Position};
use retrial_readings::rows::{self, RowsError};
use retrial_readings::units;
use retrial_recipe::model::{FigureSource, Find};
use retrial_store::blocks;

/// The largest JSON or CSV file that is read.
const DOCUMENT_CAP: u64 = 256 << 20;
/// Size of the end of an output that is searched for the nearest line, bytes.
const NEAREST_CAP: u64 = 4 << 20;

/// Figures by name, and why others are not among them; the entries of a table each by its own name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The figures that were read, by name.
    pub figures: BTreeMap<String, FigureValue>,
    /// Why a figure that is announced is not among them, by name.
    pub missing: BTreeMap<String, String>,
}

/// Reasons why a text gives no figure.
#[derive(Debug)]
pub(super) enum Unread {
    /// The text does not have it: another may.
    Absent(String),
    /// The text has it, and it cannot be read: no other text takes its place.
    Fault(String),
}

impl Unread {
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
    texts: &[Text],
) -> Result<Found, Unread> {
    let mut first = None;
    for text in texts {
        match find_in(name, source, headings, text) {
            // The first text's reason counts: the others are only fallbacks.
            Err(Unread::Absent(reason)) => drop(first.get_or_insert(reason)),
            found_or_fault => return found_or_fault,
        }
    }
    let none = || "there is no output to search".to_owned();
    Err(Unread::Absent(first.unwrap_or_else(none)))
}

fn find_in(
    name: &str,
    source: &FigureSource,
    headings: &[&str],
    text: &Text,
) -> Result<Found, Unread> {
    let files = text.files().map_err(Unread::Absent)?;
    let target = Target {
        name,
        source,
        files: &files,
    };
    let found = match &source.find {
        Find::Pattern {
            expression,
            below,
            until,
        } => {
            let block = Block {
                below: below.as_deref(),
                until: until.as_deref(),
                headings,
            };
            by_pattern(source, expression, &block, &files).map(|entries| target.figures(entries))
        }
        Find::Json { path, value } => {
            by_json(source, path, value.as_deref(), &files).map(|entries| target.figures(entries))
        }
        Find::Csv(_) => by_csv(source, &files).map(|entries| target.figures(entries)),
        Find::Mllog(_) => Err(Unread::fault(
            "figures of a training log are read run by run",
        )),
    };
    found.map_err(|unread| unread.prefixed(&text.file.display().to_string()))
}

/// A figure and the files that it was read of.
struct Target<'a> {
    name: &'a str,
    source: &'a FigureSource,
    files: &'a [Text],
}

impl Target<'_> {
    fn figures<E: Display>(&self, entries: Entries<E>) -> Found {
        let mut found = Found::default();
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
pub(super) fn origin(files: &[Text], place: Place) -> Origin {
    let file = files.get(place.file);
    let line = match place.position {
        Position::Line(line) => Some(line),
        Position::Offset(offset) => file.and_then(|file| file.line_at(offset)),
    };
    Origin {
        file: file.map_or(String::new(), |file| file.file.display().to_string()),
        line,
        passed_over: None,
    }
}

/// Returns the records that were skipped.
pub(super) fn passed_over<E: Display>(
    files: &[Text],
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

fn by_csv(source: &FigureSource, files: &[Text]) -> Result<Entries<RowsError>, Unread> {
    let Find::Csv(cell) = &source.find else {
        return Ok(Entries::new());
    };
    in_each_file(source, files, |number, file| {
        let bytes = file.read(DOCUMENT_CAP).map_err(Unread::Absent)?;
        let entries = rows::read(&bytes, cell, &source.by, source.take, number);
        entries.map_err(|error| match error {
            RowsError::NoHeader { .. } | RowsError::NoRow { .. } => Unread::absent(error),
            error => Unread::fault(error),
        })
    })
}

/// The lines between which a pattern is searched.
struct Block<'a> {
    below: Option<&'a str>,
    until: Option<&'a str>,
    headings: &'a [&'a str],
}

impl Block<'_> {
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
    block: &Block<'_>,
    files: &[Text],
) -> Result<Entries<PatternError>, Unread> {
    let unit = source.unit.clone().unwrap_or_default();
    let pattern = Pattern::new(expression, source.take, unit)
        .and_then(|pattern| pattern.by(&source.by))
        .and_then(|pattern| block.limit(pattern))
        .map_err(Unread::fault)?;
    in_each_file(source, files, |number, file| {
        let opened = file.open().map_err(Unread::Absent)?;
        let read = scan::file(&pattern, &opened, number);
        let read = read.map_err(|error| Unread::Fault(format!("it cannot be read: {error}")))?;
        read.entries().map_err(|error| match error {
            PatternError::NoMatch { .. } | PatternError::NoMatchBelow { .. } => {
                Unread::Absent(format!("{error}{}", nearest_line(expression, file)))
            }
            error => Unread::fault(error),
        })
    })
}

fn by_json(
    source: &FigureSource,
    path: &str,
    value: Option<&str>,
    files: &[Text],
) -> Result<Entries<JsonError>, Unread> {
    in_each_file(source, files, |number, file| {
        let mut reader =
            json::Reader::new(path, &source.by, value, source.take).map_err(Unread::fault)?;
        reader.begin_file(number);
        if source.file.is_some() {
            reader.read(&file.read(DOCUMENT_CAP).map_err(Unread::Absent)?);
        } else {
            let mut opened = file.open().map_err(Unread::Absent)?;
            let feed = |line: &str| reader.feed_line(line);
            each_long_line(&mut opened, json::MAX_LENGTH, feed).map_err(Unread::Fault)?;
            reader.end_of_log();
        }
        reader.entries().map_err(|error| match error {
            JsonError::Empty | JsonError::NoMatch { .. } | JsonError::OnlyBroken { .. } => {
                Unread::absent(error)
            }
            error => Unread::fault(error),
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
    blocks::each(file, |block| {
        utf8.push(block, |block| splitter.push(block, |line| feed(&line.text)));
    })
    .map_err(|error| format!("it cannot be read: {error}"))?;
    splitter.finish(|line| feed(&line.text));
    Ok(())
}

/// Describes the line near the end of a file that is most like the pattern.
fn nearest_line(expression: &str, file: &Text) -> String {
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
