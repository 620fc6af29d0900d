//! Reads an `accuracy.txt` incrementally, a line at a time.

use std::ops::Range;

use super::patterns::{PATTERNS, PatternValue, lowercase_if_relevant};
use super::{Accuracy, AccuracyFigure, CorrectSamples, MAX_OTHER_VALUES};
use retrial_readings::lexer::{parse_number, read_number_from};
use retrial_readings::lines::{LineSplitter, StreamLine};
use retrial_readings::nearest::truncate_for_message;

/// Lines are long where a script prints a whole result; this does not truncate figures.
const MAX_LINE_BYTES: usize = 1 << 20;

/// An incremental reader; memory is bounded by one line whatever the length of the file.
#[derive(Debug, Clone)]
pub struct AccuracyReader {
    splitter: LineSplitter,
    requested: Vec<String>,
    accuracy: Accuracy,
    /// The number of the line that is read, from 1.
    line: u64,
}

impl Default for AccuracyReader {
    /// Returns a reader for every figure.
    fn default() -> Self {
        Self {
            splitter: LineSplitter::with_limit(MAX_LINE_BYTES),
            requested: Vec::new(),
            accuracy: Accuracy::default(),
            line: 0,
        }
    }
}

impl AccuracyReader {
    /// Sets the requested figures, which decide between two figures where a printed line may
    /// be either.
    #[must_use]
    pub fn with_requested_figures<Name: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = Name>,
    ) -> Self {
        self.requested = names.into_iter().map(Into::into).collect();
        self
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        // A progress bar's carriage return ends a line here, as it does for the checker (Python's
        // universal newlines), so that it does not overwrite a figure before it.
        let mut splitter = std::mem::take(&mut self.splitter);
        for (index, part) in bytes.split(|byte| *byte == b'\r').enumerate() {
            if index > 0 {
                splitter.push(b"\n", |line| self.read_line(&line, true));
            }
            splitter.push(part, |line| self.read_line(&line, true));
        }
        self.splitter = splitter;
    }

    /// Returns the figures, after the last byte.
    pub fn finish(mut self) -> Accuracy {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.finish(|line| self.read_line(&line, false));
        self.accuracy
    }

    fn read_line(&mut self, line: &StreamLine<'_>, ended: bool) {
        self.line += 1;
        let text = line.text.as_ref();
        let Some(small) = lowercase_if_relevant(text) else {
            return;
        };
        if small.contains("good=")
            && let Some(counts) = parse_counts(&small, self.line)
        {
            self.accuracy.correct = Some(counts);
        }
        for pattern in PATTERNS.iter() {
            let Some(value) = pattern.find_last_value(text, &small) else {
                continue;
            };
            let open = text.contains('{') && !text.contains('}');
            let cut = value.end == text.len() && (line.continues || (!ended && open));
            self.store_value(pattern.gives, text, value, cut);
        }
    }

    fn store_value(&mut self, gives: PatternValue, line: &str, place: Range<usize>, cut: bool) {
        let after = &line[place.end..];
        // Of `1,234` the pattern finds 1.
        let read = read_number_from(line, place.start);
        let (name, usual) = match gives {
            PatternValue::Hash => {
                self.accuracy.hash = Some(truncate_for_message(&line[place]));
                return;
            }
            PatternValue::Samples => {
                let samples = read.ok().map(|printed| printed.value);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "in range, and whole"
                )]
                if let Some(samples) = samples
                    .filter(|count| (0.0..1e15).contains(count) && count.fract() == 0.0 && !cut)
                {
                    self.accuracy.samples = Some(samples as u64);
                }
                return;
            }
            PatternValue::F1 => (self.choose_f1_figure(line), ""),
            PatternValue::Figure(name, usual) => (name, usual),
        };
        if cut {
            self.accuracy.cut.push(name);
            return;
        }
        let printed = match read {
            Ok(printed) => printed,
            Err(reason) => {
                let text = reason.text().unwrap_or(&line[place]);
                self.accuracy.not_numbers.insert(name, truncate_for_message(text));
                return;
            }
        };
        self.accuracy.not_numbers.remove(name);
        let has_sign = after.trim_start_matches(['\'', '"', ')']).starts_with('%');
        let unit = if has_sign || name == "F1" { "%" } else { usual };
        let next = AccuracyFigure {
            value: printed.value,
            unit,
            half_digit: printed.half_digit,
            others: Vec::new(),
        };
        match self.accuracy.figures.get_mut(name) {
            Some(before) => before.merge_later_print(&next),
            None => drop(self.accuracy.figures.insert(name, next)),
        }
    }

    /// BERT prints `{"exact_match": 83.9, "f1": 90.9}`, Qwen3-VL `{"f1": 0.7877}`.
    fn choose_f1_figure(&self, line: &str) -> &'static str {
        let is_requested = |name: &str| {
            self.requested.iter().any(|requested| requested.eq_ignore_ascii_case(name))
        };
        match (is_requested("F1"), is_requested("F1_HIERARCHICAL")) {
            (true, false) => "F1",
            (false, true) => "F1_HIERARCHICAL",
            _ if line.contains("exact_match") => "F1",
            _ => "F1_HIERARCHICAL",
        }
    }
}

impl AccuracyFigure {
    /// Takes a later print: the same value, perhaps printed finer or coarser, or another.
    fn merge_later_print(&mut self, next: &Self) {
        let same =
            (self.value - next.value).abs() <= self.half_digit.max(next.half_digit) * 1.000_001;
        if same {
            if next.half_digit <= self.half_digit {
                self.value = next.value;
                self.half_digit = next.half_digit;
                self.unit = next.unit;
            }
            return;
        }
        let mut others = std::mem::take(&mut self.others);
        if others.len() < MAX_OTHER_VALUES && !others.contains(&self.value) {
            others.push(self.value);
        }
        others.retain(|other| (other - next.value).abs() > 0.0);
        *self = Self { others, ..next.clone() };
    }
}

/// Reads the counts of a line, `accuracy=76.034%, good=38017, total=50000`.
fn parse_counts(line: &str, number: u64) -> Option<CorrectSamples> {
    let value = |name: &str| {
        let (_, rest) = line.rsplit_once(name)?;
        rest.split([',', ' ', '%']).next()
    };
    let count = |name: &str| value(name)?.parse().ok();
    let printed = parse_number(value("accuracy=")?)?;
    Some(CorrectSamples {
        good: count("good=")?,
        total: count("total=")?,
        percent: printed.value,
        half_digit: printed.half_digit,
        line: number,
    })
}

/// Reads a whole file.
pub fn parse_accuracy(bytes: &[u8]) -> Accuracy {
    let mut reader = AccuracyReader::default();
    reader.push(bytes);
    reader.finish()
}
