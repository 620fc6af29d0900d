//! A measured figure, and where it was read.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number;
use retrial_readings::{sanitize, units};

/// Rates and times of this many digits do not agree by chance: trials of the quietest benchmarks scatter by
/// 0.05 %.
pub(crate) const EXACT_DIGITS: i32 = 7;

// The figure of a log (`retrial_readings::Figure`) is another type: it is used without verdicts, its precision is a part
// of it, and it has no origin.
/// A figure's value and unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureValue {
    /// The value, in `unit`.
    pub value: f64,
    /// Its unit, for example `tokens/s`; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Half of the last digit that was printed; 0: not known. A verdict's own figures have none.
    #[serde(skip)]
    pub half_digit: f64,
    /// Where a recipe's own figure was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FigureLocation>,
}

/// The place where a figure was read, and the records that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureLocation {
    /// The file, below the results or the run's directory.
    pub file: String,
    /// The line, from 1; of several whose mean or sum it is, the last. None in a log of more than 64 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The number's first and last column in that line, from 1, without escape sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<(u32, u32)>,
    /// The line, shortened, around the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<MarkedLine>,
    /// Records that announce the figure, cannot be read, and do not count, since a later one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<Skipped>,
    /// Different values, of which the last is used although the recipe has no `take`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<RepeatedValues>,
}

/// A line, shortened, and the number that was read in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkedLine {
    /// The text before the number.
    pub before: String,
    /// The number, as it was printed.
    pub number: String,
    /// The text behind the number.
    pub behind: String,
}

impl MarkedLine {
    /// The most characters before and behind the number.
    const MAX_CHARS_AROUND: usize = 60;

    /// Returns a line around the number in these columns, from 1; none if it has no such columns.
    pub fn from_columns(line: &str, (first, last): (u32, u32)) -> Option<Self> {
        let letters: Vec<char> = sanitize(line).chars().collect();
        let (first, last) = (first as usize, last as usize);
        if first == 0 || first > last || last > letters.len() {
            return None;
        }
        let (before, behind) = (&letters[..first - 1], &letters[last..]);
        let skipped = before.len().saturating_sub(Self::MAX_CHARS_AROUND);
        let kept = behind.len().min(Self::MAX_CHARS_AROUND);
        let cut = |is_cut: bool| if is_cut { "…" } else { "" };
        let text = |letters: &[char]| letters.iter().collect::<String>();
        Some(Self {
            before: format!("{}{}", cut(skipped > 0), text(&before[skipped..]).trim_start()),
            number: text(&letters[first - 1..last]),
            behind: format!("{}{}", text(&behind[..kept]).trim_end(), cut(kept < behind.len())),
        })
    }

    /// Returns the text of the line without a mark, and without the word at which it was shortened.
    pub fn whole_words(&self) -> String {
        let Self { before, number, behind } = self;
        let before = match before.strip_prefix('…') {
            Some(cut) => cut.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
            None => before,
        };
        let behind = match behind.strip_suffix('…') {
            Some(cut) => cut.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words),
            None => behind,
        };
        format!("{before}{number}{behind}")
    }
}

/// Writes the line with its number marked: rate: `812.5` items/s.
impl fmt::Display for MarkedLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}`{}`{}", self.before, self.number, self.behind)
    }
}

/// Different values of one figure in one output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedValues {
    /// How often the figure is printed.
    pub count: u64,
    /// The least value, in the figure's unit.
    pub least: f64,
    /// The greatest value, in the figure's unit.
    pub greatest: f64,
}

/// Writes them for a sentence: `printed 3 times with different values, the last is taken`.
impl fmt::Display for RepeatedValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "printed {} times with different values, the last is taken", self.count)
    }
}

// Not `SkippedRecords`: the file and the line, which are stored, are known where texts are read.
/// Records that do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The number of skipped records.
    pub count: u64,
    /// The first: where it stands, and why it cannot be read.
    pub first: String,
}

/// Writes the location as a sentence has it: `output.log, line 12`.
impl fmt::Display for FigureLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ", line {line}")?;
        }
        if let Some(Skipped { count, first }) = &self.passed_over {
            let records = if *count == 1 { "record" } else { "records" };
            write!(formatter, "; passed over {count} {records}: {first}")?;
        }
        Ok(())
    }
}

impl FigureLocation {
    /// Returns the location with the line, in which the number is marked.
    pub fn describe_with_text(&self) -> String {
        match &self.text {
            Some(text) => format!("{self}: {text}"),
            None => self.to_string(),
        }
    }
}

impl FigureValue {
    pub fn new(value: f64, unit: impl Into<String>) -> Self {
        Self { value, unit: unit.into(), half_digit: 0.0, origin: None }
    }

    /// Returns the figure with the location where it was read.
    #[must_use]
    pub fn with_origin(self, origin: FigureLocation) -> Self {
        Self { origin: Some(origin), ..self }
    }

    pub fn is_read_from(&self, file: &str) -> bool {
        let mut origin = self.origin.iter();
        origin.any(|origin| origin.file == file)
    }

    /// Returns the number of the line of a file that it is read from.
    pub(crate) fn line_in(&self, file: &str) -> Option<u64> {
        let origin = self.origin.as_ref()?;
        origin.line.filter(|_| origin.file == file)
    }

    /// Returns whether it is a rate or a time, which are never below zero.
    pub(crate) fn is_rate_or_time(&self) -> bool {
        let unit = self.unit.as_str();
        unit.contains('/')
            || units::is_time(unit)
            || units::conversion_factor("flops", unit).is_some()
    }

    /// Returns whether it is a rate or a time that was printed so finely that no other run has the same.
    /// Accuracies and losses may be the same in every run.
    pub(crate) fn is_exact(&self) -> bool {
        let resolution = self.half_digit * 2.0 / self.value.abs();
        let is_fine = if resolution > 0.0 {
            resolution < 10_f64.powi(1 - EXACT_DIGITS)
        } else {
            // JSON does not say how finely it was printed: as many digits as the value needs.
            let scientific = format!("{:e}", self.value);
            let digits = scientific.chars().take_while(|digit| *digit != 'e');
            digits.filter(char::is_ascii_digit).count() >= EXACT_DIGITS.unsigned_abs() as usize
        };
        is_fine && self.is_rate_or_time()
    }

    /// Returns the figure with this half of its last printed digit.
    #[must_use]
    pub fn with_half_digit(self, half_digit: f64) -> Self {
        Self { half_digit, ..self }
    }
}

/// Writes the figure for readers: `103,480 tokens/s`.
impl fmt::Display for FigureValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&number::format_figure(self.value, &self.unit))
    }
}
