//! A recipe's own figures: patterns, JSON and CSV over a step's output or a file of its results.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use itertools::Itertools as _;

use super::scan;
pub use super::texts::Text;
use crate::verdict::FigureValue;
use retrial_readings::accumulator::Accumulator;
use retrial_readings::json::{self, JsonError};
use retrial_readings::lines::LineSplitter;
use retrial_readings::nearest::NearestLine;
use retrial_readings::pattern::{Pattern, PatternError};
use retrial_readings::rows;
use retrial_recipe::model::{FigureSource, Find};
use retrial_store::blocks;

/// The largest JSON or CSV file that is read.
const DOCUMENT_CAP: u64 = 256 << 20;
/// How much of an output's end is searched for the nearest line.
const NEAREST_CAP: u64 = 4 << 20;

/// A figure by its name; the entries of a table each by its own.
pub type FigureValues = BTreeMap<String, FigureValue>;

/// Finds a figure in the first of the texts that has it.
///
/// # Errors
/// A sentence: where it was searched, why there is none, and the nearest line.
pub fn find(name: &str, source: &FigureSource, texts: &[Text]) -> Result<FigureValues, String> {
    let found = texts.iter().map(|text| find_in(name, source, text));
    // The first text's error counts: the others are only fallbacks.
    found
        .find_or_first(Result::is_ok)
        .unwrap_or_else(|| Err("there is no output to search".to_owned()))
}

fn find_in(name: &str, source: &FigureSource, text: &Text) -> Result<FigureValues, String> {
    let files = text.files()?;
    let path = text.file.display().to_string();
    let entries = entries(source, &files).map_err(|reason| format!("{path}: {reason}"))?;
    let unit = source.unit.clone().unwrap_or_default();
    entries
        .into_iter()
        .map(|(entry, accumulator)| {
            let full = if source.by.is_empty() {
                name.to_owned()
            } else {
                format!("{name}[{entry}]")
            };
            match accumulator.one() {
                Ok(printed) => {
                    let figure = FigureValue::new(printed.value, unit.clone());
                    Ok((full, figure.printed(printed.half_digit)))
                }
                Err(reason) => Err(format!("{path}: {full}: {reason}")),
            }
        })
        .collect()
}

fn entries(source: &FigureSource, files: &[Text]) -> Result<BTreeMap<String, Accumulator>, String> {
    match &source.find {
        Find::Pattern { expression, below } => {
            by_pattern(source, expression, below.as_deref(), files)
        }
        Find::Json { path, value } => by_json(source, path, value.as_deref(), files),
        Find::Csv(cell) => {
            let mut all: BTreeMap<String, Accumulator> = BTreeMap::new();
            for file in files {
                let by_entry = rows::read(&file.read(DOCUMENT_CAP)?, cell, &source.by, source.take)
                    .map_err(|error| error.to_string())?;
                join(&mut all, by_entry);
            }
            Ok(all)
        }
        Find::Mllog(_) => Err("figures of a training log are read run by run".to_owned()),
    }
}

fn join(all: &mut BTreeMap<String, Accumulator>, after: BTreeMap<String, Accumulator>) {
    for (name, accumulator) in after {
        match all.get_mut(&name) {
            Some(before) => before.join(accumulator),
            None => drop(all.insert(name, accumulator)),
        }
    }
}

fn by_pattern(
    source: &FigureSource,
    expression: &str,
    below: Option<&str>,
    files: &[Text],
) -> Result<BTreeMap<String, Accumulator>, String> {
    let unit = source.unit.clone().unwrap_or_default();
    let pattern = Pattern::new(expression, source.take, unit)
        .and_then(|pattern| pattern.by(&source.by))
        .and_then(|pattern| match below {
            Some(heading) => pattern.below(heading),
            None => Ok(pattern),
        })
        .map_err(|error| error.to_string())?;
    let mut reader = pattern.reader();
    for file in files {
        let read = scan::file(&pattern, &file.open()?);
        reader.join(read.map_err(|error| format!("it cannot be read: {error}"))?);
    }
    reader.entries().map_err(|error| match error {
        PatternError::NoMatch { .. } | PatternError::NoMatchBelow { .. } => {
            format!("{error}{}", nearest_line(expression, files))
        }
        error => error.to_string(),
    })
}

fn by_json(
    source: &FigureSource,
    path: &str,
    value: Option<&str>,
    files: &[Text],
) -> Result<BTreeMap<String, Accumulator>, String> {
    let text = |error: JsonError| error.to_string();
    let mut reader = json::Reader::new(path, &source.by, value, source.take).map_err(text)?;
    for file in files {
        if source.file.is_some() {
            reader.read(&file.read(DOCUMENT_CAP)?);
        } else {
            let mut opened = file.open()?;
            each_line(&mut opened, |line| reader.feed_line(line))?;
        }
    }
    reader.entries().map_err(text)
}

/// Every line of a file.
pub(crate) fn each_line(file: &mut impl Read, mut feed: impl FnMut(&str)) -> Result<(), String> {
    let mut splitter = LineSplitter::new();
    blocks::each(file, |block| splitter.push(block, |line| feed(&line.text)))
        .map_err(|error| format!("it cannot be read: {error}"))?;
    splitter.finish(|line| feed(&line.text));
    Ok(())
}

/// What may have been meant, near the end of the last of the files.
fn nearest_line(expression: &str, files: &[Text]) -> String {
    let mut nearest = NearestLine::to(expression);
    let Some(mut file) = files.last().and_then(|file| file.open().ok()) else {
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
