//! LoadGen's words for what was run and how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// MLPerf's scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scenario {
    /// All samples in one query; throughput counts.
    Offline,
    /// Queries arrive at a rate; throughput within latency limits counts.
    Server,
    /// Server with tighter limits. LoadGen does not know it: its logs say `Server`.
    Interactive,
    /// One query after the other; latency counts.
    SingleStream,
    /// Queries of several samples, one after the other; latency counts.
    MultiStream,
}

impl Scenario {
    /// Reads LoadGen's word, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Offline,
            Self::Server,
            Self::Interactive,
            Self::SingleStream,
            Self::MultiStream,
        ];
        all.into_iter()
            .find(|scenario| word.eq_ignore_ascii_case(scenario.as_str()))
    }

    /// MLPerf's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "Offline",
            Self::Server => "Server",
            Self::Interactive => "Interactive",
            Self::SingleStream => "SingleStream",
            Self::MultiStream => "MultiStream",
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// LoadGen's test modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// `PerformanceOnly`.
    #[serde(rename = "PerformanceOnly")]
    Performance,
    /// `AccuracyOnly`.
    #[serde(rename = "AccuracyOnly")]
    Accuracy,
    /// `SubmissionRun`: performance, then accuracy, in one test.
    SubmissionRun,
    /// `FindPeakPerformance`: a search for the rate, no measurement.
    #[serde(rename = "FindPeakPerformance")]
    FindPeak,
}

impl Mode {
    /// Reads LoadGen's word, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Performance,
            Self::Accuracy,
            Self::SubmissionRun,
            Self::FindPeak,
        ];
        all.into_iter()
            .find(|mode| word.eq_ignore_ascii_case(mode.as_str()))
    }

    /// LoadGen's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Performance => "PerformanceOnly",
            Self::Accuracy => "AccuracyOnly",
            Self::SubmissionRun => "SubmissionRun",
            Self::FindPeak => "FindPeakPerformance",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// LoadGen's own word on a performance test. It does not count errors: see
/// [`ValidityReport`](super::ValidityReport) for whether a run is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ResultWord {
    /// `VALID`.
    Valid,
    /// `INVALID`.
    Invalid,
}

impl ResultWord {
    /// Reads LoadGen's word, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        if word.eq_ignore_ascii_case("VALID") {
            Some(Self::Valid)
        } else if word.eq_ignore_ascii_case("INVALID") {
            Some(Self::Invalid)
        } else {
            None
        }
    }
}
