//! What happens in a batch.

use jiff::Timestamp;
use retrial_document::ErrorText;
use serde::{Deserialize, Serialize};

/// Something that happened in a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchEvent {
    /// When.
    pub time: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: BatchEventKind,
}

impl BatchEvent {
    /// Something that happens now.
    pub fn now(what: BatchEventKind) -> Self {
        let time = Timestamp::now();
        Self { time, what }
    }
}

/// What happened. Trial runs are numbered as the schedule has them, from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum BatchEventKind {
    /// A process took the batch up.
    BatchStarted {
        /// Its id.
        batch: String,
        /// How many trial runs it has.
        trial_runs: usize,
        /// The process.
        pid: u32,
        /// Version of the tool.
        tool: String,
    },
    /// Trial runs that stand from before and are not done again.
    Reused {
        /// Which.
        trial_runs: Vec<usize>,
    },
    /// It was detached from its terminal, and continues.
    Detached {
        /// How to come back to it.
        resume: String,
    },
    /// An image was pulled before its trial run.
    ImagePulled {
        /// Its reference.
        image: String,
        /// How long that took, with the wait for a moment without a measurement.
        seconds: f64,
    },
    /// An image could not be pulled before its trial run; the trial run tries it again.
    ImageFailed {
        /// Its reference.
        image: String,
        /// Why.
        error: ErrorText,
    },
    /// a trial run began as a run.
    TrialRunStarted {
        /// Which.
        trial_run: usize,
        /// The run's id.
        run: String,
        /// The cell's name.
        cell: String,
        /// Which of the cell's trials.
        trial: u32,
        /// From 1; more where the host failed before.
        attempt: u32,
        /// GPUs that it was given for itself; none where it has the host alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gpus: Vec<String>,
        /// Runs of this batch that went on at that moment.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        concurrent_runs: Vec<String>,
    },
    /// A run that an earlier process started is followed again.
    TrialRunReattached {
        /// Which.
        trial_run: usize,
        /// The run's id.
        run: String,
    },
    /// The run of a trial run is not there any more, or was made on another host: the trial run is done again.
    TrialRunLost {
        /// Which.
        trial_run: usize,
        /// The run's id.
        run: String,
    },
    /// a trial run came to its end.
    TrialRunEnded {
        /// Which.
        trial_run: usize,
        /// How.
        #[serde(flatten)]
        end: TrialRunEnd,
    },
    /// Something that a person should know.
    Warning {
        /// What.
        text: String,
    },
    /// The batch was judged.
    Judged {
        /// In one sentence.
        sentence: String,
    },
    /// The process came to the batch's end.
    BatchEnded {
        /// What it exited with.
        exit_code: u8,
        /// Why it ended early, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The node of the process, by the scheduler's name for it; none without a scheduler.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
}

impl BatchEventKind {
    /// This process takes up a batch with so many trial runs.
    pub fn started(batch: &str, trial_runs: usize) -> Self {
        Self::BatchStarted {
            batch: batch.to_owned(),
            trial_runs,
            pid: std::process::id(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// How a trial run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRunEnd {
    /// The run's exit code.
    pub exit_code: u8,
    /// The run; none where it could not even begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The verdict's outcome, where it came to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The deciding figure of each performance result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<TrialRunFigure>,
    /// Why it ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ErrorText>,
    /// How long it took, in all its processes.
    pub seconds: f64,
}

/// A figure that a trial run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRunFigure {
    /// The scenario.
    pub scenario: String,
    /// The figure's name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}
