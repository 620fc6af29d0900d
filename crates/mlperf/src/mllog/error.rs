//! Errors of a training log, of its runs, and of their events. Pure.

use thiserror::Error;

/// No log of a submission has more runs.
pub(super) const MAX_RUNS: usize = 1000;

/// Reasons why an event does not have the figure that it announces.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EventError {
    #[error("an event {key} has `{text}`, not a number")]
    NotANumber {
        /// The key, or its member.
        key: String,
        /// The value, as text.
        text: String,
    },
    /// The event was cut, or is no JSON.
    #[error("an event {key} was cut, or is not JSON: `{text}`")]
    Broken {
        key: String,
        /// The text of the event, shortened.
        text: String,
    },
}

/// Reasons why a run has no time to train, or no samples to converge.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainingRunError {
    /// The clock never started.
    #[error("the log has no run_start")]
    NoStart,
    /// The log is truncated, its end cannot be read, or another run begins before it.
    #[error("its run_start has no run_stop: the last event of the run is {last_key}")]
    NoStop { last_key: String },
    /// Its ranks log different statuses.
    #[error("its ranks disagree on the status of run_stop")]
    RanksDisagree,
    /// An end without `success` or `aborted`.
    #[error("run_stop has no status")]
    NoStatus,
    /// A success without an evaluation to compare with the target.
    #[error("it reports success, but the log has no eval_accuracy")]
    NoEvaluation,
    /// A success whose last evaluation cannot be read.
    #[error("it reports success, but its last eval_accuracy, line {line}, was cut, or is not JSON")]
    BrokenEvaluation {
        /// The line of the evaluation, from 1.
        line: u64,
    },
    /// A success whose last evaluation has no number.
    #[error("it reports success, but its last eval_accuracy is not a number (NaN)")]
    EvaluationNotANumber,
    /// A success whose last evaluation does not reach the target.
    #[error("it reports success, but its last eval_accuracy {value} misses the target")]
    TargetMissed {
        /// The accuracy, or the loss.
        value: f64,
    },
    /// A clock that ran backwards.
    #[error("its run_stop is not after its run_start")]
    StopNotAfterStart,
}

/// Reasons why a log has no runs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrainingLogError {
    /// More runs than any submission has.
    #[error("the log has more than {MAX_RUNS} runs")]
    TooManyRuns,
    /// No line of `MLLOG`.
    #[error("no line has :::MLLOG and an event")]
    NoEvents,
    /// Events, and none of them begins a run.
    #[error("the log has no run_start; its events are {keys}")]
    NoRuns {
        /// The keys of the first events.
        keys: String,
    },
}
