//! `mlperf_log_detail.txt`: the log from which MLCommons takes the published figures.
//!
//! It has one `:::MLLOG {json}` a line and reaches 5 GB, so it is read as it comes, in bounded
//! memory: [`DetailParser`] takes bytes or lines, and stores the entries that a verdict needs.

mod entry;
mod parser;
#[cfg(test)]
mod tests;
mod usual;
mod values;

use jiff::Timestamp;
use serde::Serialize;

use super::{EarlyStopping, Parameters, ResultStatus, TestMode, TestScenario};
use retrial_readings::figure::Figures;

pub(crate) use entry::{entry_key, is_error_entry};
pub use parser::DetailParser;

/// The first LoadGen of a published log that ends in `num_errors`; 5.0.15 does not.
const FIRST_VERSION_COUNTING_ERRORS: [u32; 3] = [5, 0, 21];
/// The last figure of every performance test.
const LAST_LATENCY: &str = "latency_p99_9_ns";
/// The most errors that are stored with their text.
pub const MAX_ERROR_MESSAGES: usize = 20;

/// The contents of a detail log, possibly incomplete.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LoadgenDetail {
    /// `loadgen_version`, `6.0.17 @ d6147c7eb7`.
    pub loadgen_version: Option<String>,
    /// `loadgen_git_status_message`: LoadGen's files that were changed when it was built, `NA` where
    /// it was not built from a repository.
    pub git_status: Option<String>,
    /// The processes that logged the entries that are stored.
    pub pids: Pids,
    /// Events of the test by its own clock.
    pub own_clock: LoadgenClock,
    /// `sut_name`.
    pub sut_name: Option<String>,
    /// `effective_scenario`.
    pub scenario: Option<TestScenario>,
    /// `effective_scenario` where it is none that LoadGen has.
    pub other_scenario: Option<String>,
    /// `effective_test_mode`.
    pub mode: Option<TestMode>,
    /// `result_validity`; the worst where there are several.
    pub result: Option<ResultStatus>,
    /// `result_perf_constraints_met` and its like.
    pub constraints: super::summary::Constraints,
    /// `result_invalid_reason`, which may be empty.
    pub invalid_reason: Option<String>,
    /// The early-stopping blocks: of queries, TTFT and TPOT.
    pub early_stopping: EarlyStopping,
    /// Every figure that was logged, by name.
    pub figures: Figures,
    /// The settings that the test ran with.
    pub parameters: Parameters,
    /// Those that were asked for, as far as LoadGen logs them under the same name.
    pub requested: Parameters,
    /// The time at which the log was begun: `test_datetime`, UTC, whole seconds. The test's own start may lie up
    /// to a second after it.
    pub started_at: Option<Timestamp>,
    /// `power_begin`: when the measurement began, in the local time of the container, to the ms.
    pub power_begin: Option<String>,
    /// `power_end`: when it ended, likewise.
    pub power_end: Option<String>,
    /// From `power_begin` to `power_end`, ms: how long the measurement took.
    pub measured_ms: Option<i64>,
    /// `generated_query_count`, of the last test where there were several.
    pub generated_query_count: Option<u64>,
    /// The sum of `generated_query_count`: an accuracy test issues its queries for one loaded set after another.
    pub issued_queries: Option<u64>,
    /// `generated_query_duration`: how long the generated queries take at their target rate, ns.
    pub generated_duration_ns: Option<u64>,
    /// The samples of all `loaded_qsl_set`; none where no line has them, or one is too long to be read whole.
    pub loaded_samples: Option<u64>,
    /// `generated_samples_per_query`, likewise.
    pub generated_samples_per_query: Option<u64>,
    /// `result_query_count`.
    pub query_count: Option<u64>,
    /// `result_overlatency_query_count`.
    pub overlatency_query_count: Option<u64>,
    /// The number of lines with `is_error`.
    pub errors: u64,
    /// `num_errors`, LoadGen's own count; the last line of a performance test since 5.0.21.
    pub num_errors: Option<u64>,
    /// The number of lines with `is_warning`.
    pub warnings: u64,
    /// The texts of the first errors, shortened.
    pub error_messages: Vec<String>,
    /// Number of tests in the log; a log that was appended to has more than one.
    pub tests: u64,
    /// Number of `:::MLLOG` lines.
    pub entries: u64,
    /// `:::MLLOG` lines that are no entry, such as the last one of a log that was truncated.
    pub malformed: u64,
    /// The number of the first of them, from 1.
    pub first_malformed_line: Option<u64>,
    /// The first entry whose value is none that LoadGen writes.
    pub unreadable_entry: Option<UnreadableEntry>,
    /// The first entry that was logged before the one above it.
    pub clock_reversal: Option<ClockReversal>,
    /// The number of lines that are not LoadGen's, without blank ones.
    pub foreign: u64,
    /// `qsl_reported_total_count`: the samples of the library.
    pub library_samples: Option<u64>,
}

/// The processes whose entries a log has: one, unless it was assembled from several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pids {
    /// The process that logged the first entry.
    pub first: Option<u64>,
    /// The first that is another.
    pub other: Option<u64>,
}

impl Pids {
    fn add(&mut self, pid: Option<u64>) {
        self.first = self.first.or(pid);
        self.other = self.other.or(pid.filter(|_| pid != self.first));
    }
}

/// An entry whose time lies before that of the one above it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClockReversal {
    /// Its key.
    pub key: String,
    /// The number of its line, from 1.
    pub line: u64,
    /// By how much it is earlier, ms.
    pub by_ms: f64,
}

/// An entry whose value is none that LoadGen writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnreadableEntry {
    /// Its key.
    pub key: String,
    /// The number of its line, from 1.
    pub line: u64,
    /// Its value, shortened.
    pub value: String,
}

/// Readings of the clock by which LoadGen times its entries, ms since the log was begun.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LoadgenClock {
    /// When the test began (`test_datetime`), milliseconds on `LoadGen`'s clock.
    pub begun_ms: Option<f64>,
    /// At `generated_query_count`: LoadGen has made its queries and begins to issue them.
    pub generated_ms: Option<f64>,
    /// At `power_end`, which is logged after the last query.
    pub ended_ms: Option<f64>,
}

impl LoadgenDetail {
    /// Returns whether the log holds a test's end: the last latency of a performance test, and the count of
    /// errors where this LoadGen logs it; the queries' end in an accuracy test.
    pub fn is_complete(&self) -> bool {
        match self.mode {
            Some(TestMode::Accuracy) => self.power_end.is_some(),
            Some(_) => {
                let counts_errors = self
                    .version_numbers()
                    .is_some_and(|own| own.as_slice() >= FIRST_VERSION_COUNTING_ERRORS.as_slice());
                self.result.is_some()
                    && self.figures.contains_key(LAST_LATENCY)
                    && (self.num_errors.is_some() || !counts_errors)
            }
            None => false,
        }
    }

    /// Describes the lines that cannot be read: `3 lines, the first in line 70,`; none where all can.
    pub fn describe_malformed_lines(&self) -> Option<String> {
        let first = self.first_malformed_line?;
        Some(match self.malformed {
            1 => format!("line {first}"),
            lines => format!("{lines} lines, the first of them line {first},"),
        })
    }

    /// LoadGen's version as numbers: `[5, 0, 25]` of `5.0.25 @ d6147c7eb7`.
    pub fn version_numbers(&self) -> Option<Vec<u32>> {
        let number = self.loadgen_version.as_deref()?.split_whitespace().next()?;
        number.split('.').map(|part| part.parse().ok()).collect()
    }
}

/// Reads a log in memory.
pub fn parse_detail_log(bytes: &[u8]) -> LoadgenDetail {
    let mut parser = DetailParser::new();
    parser.push(bytes);
    parser.finish()
}
