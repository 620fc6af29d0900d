//! LoadGen's data on a run other than its figures, which the rules of a round are checked against.

use jiff::Timestamp;
use serde::Serialize;

use super::summary::Constraints;
use super::{LoadgenRun, Parameters, ResultStatus, TestMode, TestScenario};

/// LoadGen's data on a run other than its figures; values that no log states are `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunSettings {
    /// The scenario. An Interactive run logs `Server`.
    pub scenario: Option<TestScenario>,
    pub mode: Option<TestMode>,
    /// LoadGen's own result: VALID or INVALID.
    pub result: Option<ResultStatus>,
    /// The constraints that were met or not.
    pub constraints: Constraints,
    /// Number of errors that it counted.
    pub errors: Option<u64>,
    /// Number of queries that it issued.
    pub queries: Option<u64>,
    /// The settings that the test ran with.
    pub settings: Parameters,
    /// Samples of the library (`qsl_reported_total_count`).
    pub library_samples: Option<u64>,
    /// The detail log exists: values that it alone states may be required.
    pub has_detail: bool,
    /// LoadGen's version, `5.0.25 @ d6147c7eb7`.
    pub loadgen_version: Option<String>,
    /// The name that the system under test gave itself.
    pub sut_name: Option<String>,
    /// The time at which the log was begun, to the second.
    pub started_at: Option<Timestamp>,
    /// The start of the measurement, to the ms, in the container's local time.
    pub power_begin: Option<String>,
}

impl LoadgenRun {
    /// Returns LoadGen's data on it other than its figures.
    pub fn run_settings(&self) -> RunSettings {
        let (summary, detail) = (self.summary.as_ref(), self.detail.as_ref());
        RunSettings {
            scenario: self.scenario(),
            mode: self.mode(),
            result: self.result(),
            constraints: self.constraints(),
            errors: self.error_count(),
            queries: detail.and_then(|detail| detail.query_count),
            settings: self.parameters(),
            library_samples: detail.and_then(|detail| detail.library_samples),
            has_detail: detail.is_some(),
            loadgen_version: detail.and_then(|detail| detail.loadgen_version.clone()),
            sut_name: detail
                .and_then(|detail| detail.sut_name.clone())
                .or_else(|| summary.and_then(|summary| summary.sut_name.clone())),
            started_at: self.started_at(),
            power_begin: detail.and_then(|detail| detail.power_begin.clone()),
        }
    }
}
