//! The events of a batch.

use jiff::Timestamp;
use retrial_document::ErrorText;
use retrial_mlperf::ScenarioName;
use retrial_results::verdict::QualifiedOutcome;
use retrial_store::journal::LiveEvent;
use serde::{Deserialize, Serialize};

use super::cell_failure::CellFailure;

/// Something that happened in a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchEvent {
    pub time: Timestamp,
    #[serde(flatten)]
    pub what: BatchEventKind,
}

impl BatchEvent {
    /// Creates an event with the current time.
    pub fn now(what: BatchEventKind) -> Self {
        let time = Timestamp::now();
        Self { time, what }
    }
}

/// The kind of an event. Trial runs are numbered as the schedule has them, from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum BatchEventKind {
    /// A process started or resumed the batch.
    BatchStarted {
        /// The id of the batch, the name of its directory.
        batch: String,
        trial_runs: usize,
        /// The id of the process.
        pid: u32,
        /// Version of the tool.
        tool: String,
    },
    /// Trial runs that are already complete and are skipped.
    Reused {
        /// The numbers of the trial runs in the schedule, from 1.
        trial_runs: Vec<usize>,
    },
    /// It was detached from its terminal, and continues.
    Detached {
        /// The command that reattaches to it.
        resume: String,
    },
    /// An image was pulled before its trial run.
    ImagePulled {
        /// The image as the recipe names it.
        image: String,
        /// The duration of the pull in seconds, with the wait until nothing was measured.
        seconds: f64,
    },
    /// An image could not be pulled before its trial run; the trial run tries it again.
    ImageFailed {
        /// The image as the recipe names it.
        image: String,
        error: ErrorText,
    },
    /// The engine does not have an image, and the batch is about to pull it: it may remove it.
    ImageMissing {
        /// The image as the recipe names it.
        image: String,
    },
    /// An image that the batch pulled was removed, or is no longer its own, since a container of others uses it.
    ImageRemoved {
        /// The image as the recipe names it.
        image: String,
        /// Whether it was removed.
        removed: bool,
    },
    /// A trial run was started as a run.
    TrialRunStarted {
        trial_run: usize,
        /// The id of the run that the trial run is.
        run: String,
        /// The cell's name.
        cell: String,
        /// The number of the cell's trial, from 1.
        trial: u32,
        /// The number of the attempt, from 1; more than 1 after a failure of the host.
        attempt: u32,
        /// The GPUs that are assigned to it; none if it has the whole host.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gpus: Vec<String>,
        /// The ids of the batch's runs that were under way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        concurrent_runs: Vec<String>,
    },
    /// A run that an earlier process started is followed again.
    TrialRunReattached {
        trial_run: usize,
        /// The id of the run that the trial run is.
        run: String,
    },
    /// The run of a trial run no longer exists, or was made on another host: the trial run is repeated.
    TrialRunLost {
        trial_run: usize,
        /// The id of the run that the trial run is.
        run: String,
    },
    TrialRunEnded {
        trial_run: usize,
        #[serde(flatten)]
        end: TrialRunEnd,
    },
    /// Something that a person should know.
    Warning { text: String },
    Judged {
        /// The verdict in one sentence.
        sentence: String,
    },
    /// A process reached the end of the batch.
    BatchEnded {
        exit_code: u8,
        /// Why it ended early, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The node of the process, by the scheduler's name for it; none without a scheduler.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
    /// Shown to whoever watches now, and not in the journal.
    #[serde(untagged, skip_deserializing)]
    Live(LiveEvent),
}

impl BatchEventKind {
    /// Returns whether it is stored in the journal.
    pub fn is_stored(&self) -> bool {
        !matches!(self, Self::Live(_))
    }

    /// Creates the event that this process started or resumed a batch.
    pub fn batch_started(batch: &str, trial_runs: usize) -> Self {
        Self::BatchStarted {
            batch: batch.to_owned(),
            trial_runs,
            pid: std::process::id(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRunEnd {
    pub exit_code: u8,
    /// The run's id; none if it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The verdict's outcome, if there is a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<QualifiedOutcome>,
    /// The deciding figure of each performance result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<TrialRunFigure>,
    /// Why it ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ErrorText>,
    /// The kind of the failure, if it is the cell's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CellFailure>,
    /// The duration in seconds, over all its processes.
    pub seconds: f64,
}

/// A figure that a trial run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRunFigure {
    /// The scenario's name: `Offline`.
    pub scenario: ScenarioName,
    pub name: String,
    /// The figure's value, in `unit`.
    pub value: f64,
    /// Its unit; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}
