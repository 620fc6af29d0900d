//! `accuracy.txt`: the output of MLPerf Inference's accuracy scripts, of any round.
//!
//! Each benchmark's script prints in a pattern of its own: a Python dictionary in one line or in many,
//! with numbers bare, in quotes or as `np.float64(44.5)`; JSON; `accuracy=76.034%, good=38017,
//! total=50000`; words. The figures come out under the names that `MLCommons` publishes them by
//! (`ROUGE1`, `acc`, `DICE`, …), whatever the script calls them. Warnings, progress bars and
//! any other text is skipped.

mod patterns;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::check::{Rule, RuleCheck};
pub use reader::{AccuracyReader, parse_accuracy};
use retrial_readings::number::{format_grouped, to_f64};

/// The most values of one figure that are stored in addition to the last one.
pub const MAX_OTHER_VALUES: usize = 8;

/// The file that MLPerf Inference's accuracy scripts write next to the log.
pub const ACCURACY_FILE: &str = "accuracy.txt";

/// The contents of an `accuracy.txt`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accuracy {
    /// The figures, by the names that they are published by.
    pub figures: BTreeMap<&'static str, AccuracyFigure>,
    /// The hash of the accuracy log before it was cut short: the line `hash=…`.
    pub hash: Option<String>,
    /// Number of samples that were judged, where it is stated.
    pub samples: Option<u64>,
    /// The correct ones of them, and the accuracy of the same line: `accuracy=76.034%, good=38017, total=50000`.
    pub correct: Option<CorrectSamples>,
    /// Figures that were printed as something else than a number, as they were: `nan`.
    pub not_numbers: BTreeMap<&'static str, String>,
    /// Figures that are truncated with the text: their remaining digits are no value.
    pub cut: Vec<&'static str>,
}

/// The counts of a line with its accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectSamples {
    pub good: u64,
    pub total: u64,
    /// The accuracy as printed, percent.
    pub percent: f64,
    /// Half of its last printed digit.
    pub half_digit: f64,
    /// The number of the line, from 1.
    pub line: u64,
}

/// A figure that was printed.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyFigure {
    /// The value; where several were printed, the last.
    pub value: f64,
    /// The unit: `%`, or empty.
    pub unit: &'static str,
    /// Half of the last printed digit.
    pub half_digit: f64,
    /// Other values that were printed before it, at most [`MAX_OTHER_VALUES`]: the file does not state
    /// which one counts.
    pub others: Vec<f64>,
}

impl Accuracy {
    /// Warns of a number of judged samples that is smaller than the data set's, and checks the accuracy of a line
    /// against its counts; `samples` are those of the data set, where it is known.
    pub fn check_counts(&self, samples: Option<u64>) -> Vec<RuleCheck> {
        let fewer = self.samples.zip(samples).filter(|(judged, whole)| judged < whole);
        let fewer = fewer.map(|(judged, whole)| {
            let [judged, whole] = [judged, whole].map(|count| format_grouped(to_f64(count)));
            RuleCheck::warning(
                Rule::of_text("samples of accuracy.txt", ACCURACY_FILE, "total="),
                judged,
                format!("all {whole} of the data set"),
            )
        });
        let counts = self.correct.filter(|counts| counts.total > 0);
        let counts = counts.map(|counts| {
            let share = to_f64(counts.good) / to_f64(counts.total) * 100.0;
            // Scripts round, or cut off.
            let passed = (share - counts.percent).abs() <= counts.half_digit * 2.000_001;
            RuleCheck::new(
                Rule::of_text("accuracy of accuracy.txt by its counts", ACCURACY_FILE, "total="),
                format!("{} % in line {}", counts.percent, counts.line),
                format!("{} %: {} of {}", format_grouped(share), counts.good, counts.total),
                passed,
            )
        });
        fewer.into_iter().chain(counts).collect()
    }

    /// Checks the rules for a submission's `file`: it has the hash of the accuracy log, and each figure once.
    pub fn check_prints(&self, file: &str) -> Vec<RuleCheck> {
        let rule = Rule::of_text("accuracy log's hash", ACCURACY_FILE, "hash=");
        let required = format!("a line hash=… in {file}");
        let hash = self.hash.as_ref();
        let measured =
            hash.map_or_else(|| format!("no line hash=… in {file}"), |hash| format!("hash={hash}"));
        let hashed = RuleCheck::new(rule, measured, required, hash.is_some());
        let repeated = self.figures.iter().filter(|(_, figure)| !figure.others.is_empty());
        let repeated = repeated.map(|(name, figure)| {
            let values = figure.others.iter().chain([&figure.value]);
            let values: Vec<String> = values.map(f64::to_string).collect();
            let rule = Rule::of_figure(format!("{name} in {file}"), name);
            RuleCheck::violation(rule, values.join(", then "), "one value")
        });
        std::iter::once(hashed).chain(repeated).collect()
    }

    /// A figure by its name in any case: recipes write `rouge1` as the script does.
    pub fn figure(&self, name: &str) -> Option<&AccuracyFigure> {
        let exact = self.figures.get(name);
        exact.or_else(|| {
            let mut all = self.figures.iter();
            let (_, figure) = all.find(|(other, _)| other.eq_ignore_ascii_case(name))?;
            Some(figure)
        })
    }
}
