//! LoadGen's words for what was run and how it ended.

use retrial_document::words;

/// Samples in one of MultiStream's queries.
pub const MULTI_STREAM_SAMPLES: u64 = 8;

words! {
    /// MLPerf's scenarios, read in any case.
    pub enum TestScenario: any case {
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
}

words! {
    /// LoadGen's test modes, read in any case.
    pub enum TestMode: any case {
        /// The speed is measured.
        Performance = "PerformanceOnly",
        /// All samples are answered, and logged.
        Accuracy = "AccuracyOnly",
        /// Performance, then accuracy, in one test.
        SubmissionRun = "SubmissionRun",
        /// A search for the rate, no measurement.
        FindPeak = "FindPeakPerformance",
    }
}

words! {
    /// LoadGen's own result of a performance test, read in any case; the worse one is greater. It does
    /// not count errors: see [`ValidityReport`](super::ValidityReport) for whether a run is valid.
    pub enum ResultStatus: any case {
        /// All of its limits are met.
        Valid = "VALID",
        /// One of its limits is not met.
        Invalid = "INVALID",
    }
}
