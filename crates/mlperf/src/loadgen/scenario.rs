//! LoadGen's words for what was run and how it ended.

use retrial_document::words;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

/// Samples in one of MultiStream's queries.
pub const MULTI_STREAM_SAMPLES: u64 = 8;

words! {
    /// MLPerf's scenarios, read in any case.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        Hash,
        PartialOrd,
        Ord,
        Serialize,
        Deserialize,
        Display,
        EnumString,
        IntoStaticStr,
    )]
    #[strum(ascii_case_insensitive)]
    pub enum TestScenario {
        /// All samples in one query; throughput counts.
        Offline = "Offline",
        /// Queries arrive at a rate; throughput within latency limits counts.
        Server = "Server",
        /// Server with tighter limits. LoadGen does not know it: its logs say `Server`.
        Interactive = "Interactive",
        /// One query after the other; latency counts.
        SingleStream = "SingleStream",
        /// Queries of several samples, one after the other; latency counts.
        MultiStream = "MultiStream",
    }
}

impl TestScenario {
    /// Reads LoadGen's word, in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    /// Returns the scenario that LoadGen logs.
    #[must_use]
    pub fn to_logged(self) -> Self {
        match self {
            Self::Interactive => Self::Server,
            other => other,
        }
    }

    /// Returns the name as MLPerf and `LoadGen` write it: `SingleStream`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// LoadGen's test modes, read in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString)]
#[strum(ascii_case_insensitive)]
pub enum TestMode {
    /// `PerformanceOnly`.
    #[serde(rename = "PerformanceOnly")]
    #[strum(serialize = "PerformanceOnly")]
    Performance,
    /// `AccuracyOnly`.
    #[serde(rename = "AccuracyOnly")]
    #[strum(serialize = "AccuracyOnly")]
    Accuracy,
    /// `SubmissionRun`: performance, then accuracy, in one test.
    SubmissionRun,
    /// `FindPeakPerformance`: a search for the rate, no measurement.
    #[serde(rename = "FindPeakPerformance")]
    #[strum(serialize = "FindPeakPerformance")]
    FindPeak,
}

/// LoadGen's own result of a performance test, read in any case; the worse one is greater. It does
/// not count errors: see [`ValidityReport`](super::ValidityReport) for whether a run is valid.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(ascii_case_insensitive)]
pub enum ResultStatus {
    /// `VALID`.
    Valid,
    /// `INVALID`.
    Invalid,
}
