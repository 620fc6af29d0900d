//! Records of jobs in the directory of a run or of a batch's array: the request, and a journal of submissions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::run_events::RunEvents;
use retrial_plan::PlanOptions;
use retrial_recipe::model::Recipe;
use retrial_store::journal::{Event, EventKind, Journal};
use retrial_store::{RecordDirectory, RunDirectory, StoreError};

/// The request, for the node that completes the plan.
pub const REQUEST_FILE: &str = "site-request.json";
/// The journal of submissions.
const JOBS_JOURNAL: &str = "jobs.jsonl";
/// The script that was submitted last.
pub const SCRIPT_FILE: &str = "job.sh";
pub const SITE_COPY_FILE: &str = "site.yaml";

/// The request on the login host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SiteRequest {
    /// The name of the site: its file's name without the ending.
    pub site: String,
    /// The recipe, pinned to its lock.
    pub recipe: Recipe,
    pub options: PlanOptions,
    /// Whether unmet requirements were allowed by `--force`.
    pub force: bool,
}

/// Something that happened to the jobs of a run or an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEvent {
    /// The time of writing, by the clock of the host that wrote it.
    pub time: Timestamp,
    #[serde(flatten)]
    pub what: JobEventKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JobEventKind {
    /// A job is about to be submitted.
    Intended {
        /// The name by which the job is found in the queue.
        name: String,
        time_limit_s: u64,
        /// The length of the run's journal: what follows was written by this job.
        journal: u64,
    },
    /// The job was submitted, or found in the queue.
    Submitted {
        /// The id that Slurm gave it: `1234`.
        id: String,
    },
    /// The scheduler refused it.
    Refused {
        /// The message of sbatch.
        message: String,
    },
    /// A user requested its end.
    StopRequested,
    /// Slurm states that the job has ended.
    Over {
        id: String,
        /// The scheduler's word for how it ended.
        state: String,
    },
}

/// The latest submission of a run or an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobSubmission {
    /// When it was intended.
    pub time: Timestamp,
    /// The job's id, once it is known.
    pub id: Option<String>,
    pub time_limit_s: u64,
    /// The length of the run's journal when the job was submitted, bytes: later events are of this job.
    pub journal: u64,
    /// A user requested its end.
    pub stop_requested: bool,
}

/// Returns whether a run is one of a site's.
pub fn is_submitted(run: &RunDirectory) -> bool {
    run.join(REQUEST_FILE).exists()
}

/// Writes an event, synced, before anything else is done.
///
/// # Errors
/// If the journal cannot be written.
pub fn record_job_event(run: &RecordDirectory, what: JobEventKind) -> Result<(), StoreError> {
    let time = Timestamp::now();
    Journal::append(&run.join(JOBS_JOURNAL), &JobEvent { time, what })
}

/// Writes an event of the run as a whole into its journal.
///
/// # Errors
/// If the journal cannot be written.
pub fn write_run_event(run: &RunDirectory, what: EventKind) -> Result<(), StoreError> {
    Journal::open(&run.journal_path())?.write(&Event::new("local", None, what))
}

/// The latest submission of a run or an array; none if there was none.
///
/// # Errors
/// If the journal exists and cannot be read.
pub fn latest_submission(run: &RecordDirectory) -> Result<Option<JobSubmission>, StoreError> {
    let path = run.join(JOBS_JOURNAL);
    if !path.exists() {
        return Ok(None);
    }
    Ok(JobSubmission::from_events(&Journal::read(&path)?))
}

/// The id of the run's latest job, if it had one.
///
/// # Errors
/// If the journal exists and cannot be read.
pub fn latest_job_id(run: &RunDirectory) -> Result<Option<String>, StoreError> {
    Ok(latest_submission(run.record())?.and_then(|submission| submission.id))
}

/// Returns whether the run ended in its latest job, as the job wrote it.
///
/// # Errors
/// If the journal of submissions cannot be read.
pub fn has_ended(run: &RunDirectory) -> Result<bool, StoreError> {
    let Some(latest) = latest_submission(run.record())? else {
        return Ok(false);
    };
    let mut events = RunEvents::open_at(run, latest.journal, false).poll().into_iter();
    Ok(events.any(|event| matches!(event.what, EventKind::RunEnded { .. })))
}

impl JobSubmission {
    /// The latest of these events.
    fn from_events(events: &[JobEvent]) -> Option<Self> {
        let is_new = |event: &JobEvent| matches!(event.what, JobEventKind::Intended { .. });
        let start = events.iter().rposition(is_new)?;
        let mut latest = Self { time: events[start].time, ..Self::default() };
        for event in &events[start..] {
            match &event.what {
                JobEventKind::Intended { time_limit_s, journal, .. } => {
                    latest.time_limit_s = *time_limit_s;
                    latest.journal = *journal;
                }
                JobEventKind::Submitted { id } => latest.id = Some(id.clone()),
                JobEventKind::StopRequested => latest.stop_requested = true,
                JobEventKind::Refused { .. } | JobEventKind::Over { .. } => {}
            }
        }
        Some(latest)
    }

    /// The day before it, for the accounting: `2026-11-22`. Clocks differ.
    pub fn accounting_start(&self) -> String {
        let before = self.time - jiff::SignedDuration::from_hours(24);
        before.strftime("%Y-%m-%d").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_submission_is_used() {
        let event = |what| JobEvent { time: Timestamp::UNIX_EPOCH, what };
        let intended = |journal| {
            event(JobEventKind::Intended {
                name: "retrial-r".to_owned(),
                time_limit_s: 60,
                journal,
            })
        };
        let id = |id: &str| event(JobEventKind::Submitted { id: id.to_owned() });
        let over = event(JobEventKind::Over { id: "7".to_owned(), state: "TIMEOUT".to_owned() });
        let stop = event(JobEventKind::StopRequested);
        assert_eq!(JobSubmission::from_events(&[]), None);
        let events = [intended(0), id("7"), stop, over, intended(90)];
        let latest = JobSubmission::from_events(&events).unwrap();
        assert_eq!((latest.id, latest.journal), (None, 90));
        assert!(!latest.stop_requested);
        let first = JobSubmission::from_events(&events[..4]).unwrap();
        assert_eq!(first.id.as_deref(), Some("7"));
        assert!(first.stop_requested);
        assert_eq!(first.accounting_start(), "1969-12-31");
    }
}
