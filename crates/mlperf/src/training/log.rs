//! The contents of one log of a result that the result is judged by.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::check::RuleCheck;
use crate::mllog::TrainingRunIdentity;

const MINUTE_MS: f64 = 60_000.0;

/// The status with which a log's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEnding {
    /// Its status is `success`.
    Converged,
    /// Its status is another one, as `aborted`.
    Aborted,
    /// The log has no `run_stop`: the run failed, or the log is truncated.
    Truncated,
}

/// A seed, by the line of the source that logged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// The source file that logged the seed.
    pub file: String,
    /// The line of the source.
    pub line: i64,
    pub value: i64,
    /// The line of the log.
    pub log_line: u64,
}

impl Seed {
    /// Returns whether both have one value, by the same line of the same source.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.file, self.line, self.value) == (&other.file, other.line, other.value)
    }
}

/// A value that all logs of a result share, and the line that states it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedSetting {
    pub value: Value,
    pub line: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TrainingLog {
    /// The status of its run.
    pub ending: LogEnding,
    /// Minutes from `run_start` to `run_stop`; infinite where the run did not converge.
    pub minutes: Option<f64>,
    /// Samples, or epochs, until the target was met.
    pub converged_after: Option<f64>,
    /// The start of the run, in milliseconds since 1970.
    pub started_ms: Option<f64>,
    /// The line of its `run_start`.
    pub start_line: Option<u64>,
    pub last_event: String,
    /// The line of the last event.
    pub last_line: Option<u64>,
    /// The line of the last evaluation.
    pub last_evaluation_line: Option<u64>,
    /// Lines of it cannot be read: what it lacks may be in these.
    pub is_damaged: bool,
    /// The values that all logs of a result share: its identity and hyperparameters.
    pub settings: BTreeMap<String, LoggedSetting>,
    pub seeds: Vec<Seed>,
    /// The rules of one log that it violates.
    pub violated: Vec<RuleCheck>,
}

impl TrainingLog {
    pub fn identity(&self) -> TrainingRunIdentity {
        TrainingRunIdentity {
            started_ms: self.started_ms,
            elapsed_ms: self.minutes.map(|minutes| minutes * MINUTE_MS),
            seeds: self.seeds.iter().map(|seed| seed.value).collect(),
            offsets_ms: Vec::new(),
        }
    }

    pub fn setting_number(&self, key: &str) -> Option<f64> {
        self.settings.get(key)?.value.as_f64()
    }

    pub fn setting_text(&self, key: &str) -> Option<&str> {
        self.settings.get(key)?.value.as_str()
    }
}
