//! `mlperf_log_summary.txt`: a test's summary on one page.
//!
//! The parser takes the file as LoadGen writes it and as guides print it: without the lines of
//! `===`, without indentation, with its whitespace squeezed, with `...` where something was left
//! out, and with the additional stats twice.

mod assemble;
mod parser;
mod stats;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::{EarlyStopping, Parameters, ResultStatus, TestMode, TestScenario};
use retrial_readings::figure::Figures;

/// Real summaries have 3 kB.
pub const MAX_SUMMARY_BYTES: usize = 1 << 20;

/// Reasons why a text is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// Nothing but white space.
    #[error(
        "the summary is empty; LoadGen writes it when a test ends, so the test may have been killed: look at the step's output"
    )]
    Empty,
    /// It has NUL bytes.
    #[error("the summary is a binary file; give the text file mlperf_log_summary.txt")]
    Binary,
    /// Larger than any summary.
    #[error(
        "the summary has {bytes} bytes where real ones have 3 kB; give mlperf_log_summary.txt, not another log"
    )]
    TooLarge {
        /// How large the text is, bytes.
        bytes: usize,
    },
    /// No line of a summary.
    #[error(
        "no line of a LoadGen summary was found; give mlperf_log_summary.txt as LoadGen wrote it"
    )]
    NotASummary,
    /// A line that a summary has once is there twice, with another value.
    #[error(
        "the summary has two different values of `{line}`; it may contain two runs: pass one run's file"
    )]
    Contradiction {
        /// The key of the line that is given twice, in front of its colon.
        line: String,
    },
}

/// Whether the text is the whole summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completeness {
    /// Everything that such a summary has is there.
    #[default]
    Whole,
    /// Parts are omitted and marked with `...`, as guides do.
    Excerpt,
    /// Parts are missing: the file was truncated.
    CutOff,
}

/// The constraints that the test met or not; `None` where the line is missing (only Server prints the first).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Constraints {
    /// `Performance constraints satisfied`: latency.
    pub performance: Option<bool>,
    /// `Min duration satisfied`.
    pub min_duration: Option<bool>,
    /// `Min queries satisfied`.
    pub min_queries: Option<bool>,
    /// `Early stopping satisfied`.
    pub early_stopping: Option<bool>,
}

impl Constraints {
    /// Returns the constraints that both report as met, or those of one where the other has none.
    pub(super) fn combine_with(self, other: Self) -> Self {
        let met = |one: Option<bool>, other| one.min(other).or(one).or(other);
        Self {
            performance: met(self.performance, other.performance),
            min_duration: met(self.min_duration, other.min_duration),
            min_queries: met(self.min_queries, other.min_queries),
            early_stopping: met(self.early_stopping, other.early_stopping),
        }
    }

    /// The constraints that were not met, in words.
    pub fn unmet_names(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.performance, "performance constraints"),
            (self.min_duration, "min duration"),
            (self.min_queries, "min queries"),
            (self.early_stopping, "early stopping"),
        ]
        .into_iter()
        .filter_map(|(met, words)| (met == Some(false)).then_some(words))
    }
}

/// A summary, possibly incomplete.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LoadgenSummary {
    /// The name that the system under test gave `LoadGen` (`SUT name`).
    pub sut_name: Option<String>,
    /// `Scenario`; Interactive runs print `Server`.
    pub scenario: Option<TestScenario>,
    /// `Scenario` where it is none that LoadGen has.
    pub other_scenario: Option<String>,
    /// `Mode`. In accuracy mode the summary has only its two last lines: known by that.
    pub mode: Option<TestMode>,
    /// `LoadGen`'s own result (`Result is`); an accuracy run has none.
    pub result: Option<ResultStatus>,
    /// The constraints that were met or not.
    pub constraints: Constraints,
    /// LoadGen's recommendations where the result is INVALID; there may be none.
    pub recommendations: Vec<String>,
    /// The early-stopping blocks: of queries, TTFT and TPOT.
    pub early_stopping: EarlyStopping,
    /// The figures: the head's, and those of the additional stats.
    pub figures: Figures,
    /// Figures that it prints without a number: each with what stands there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<(String, String)>,
    /// The settings that the test ran with.
    pub parameters: Parameters,
    /// Number of warnings that LoadGen counted.
    pub warnings: Option<u64>,
    /// Number of errors that LoadGen counted.
    pub errors: Option<u64>,
    pub completeness: Completeness,
    /// The parts that are missing, by their first words.
    pub missing: Vec<&'static str>,
    /// Lines that mean nothing to the parser, the first few, shortened.
    pub unread: Vec<String>,
}

/// Reads a summary from bytes that may be anything.
///
/// # Errors
/// If the bytes are no summary: empty, binary, far too large, or two runs in one.
pub fn parse_summary_bytes(bytes: &[u8]) -> Result<LoadgenSummary, SummaryError> {
    parse_summary(&String::from_utf8_lossy(bytes))
}

/// Reads a summary.
///
/// An incomplete summary is read up to its end and marked in [`LoadgenSummary::completeness`].
///
/// # Errors
/// If the text is no summary: empty, binary, far too large, or two runs in one.
pub fn parse_summary(text: &str) -> Result<LoadgenSummary, SummaryError> {
    if text.len() > MAX_SUMMARY_BYTES {
        return Err(SummaryError::TooLarge { bytes: text.len() });
    }
    if text.contains('\0') {
        return Err(SummaryError::Binary);
    }
    if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
        return Err(SummaryError::Empty);
    }
    parser::SummaryParser::default().parse(text)
}
