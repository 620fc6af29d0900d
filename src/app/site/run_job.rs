//! The job of a run that is followed: its state, by Slurm's queue and by the events of the run.

use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::follow::{FollowedJobs, StoppableJob};
use crate::app::display::JobDisplay;
use crate::app::options::GlobalOptions;
use retrial_cluster::job::queries::{JobStatus, query_job};
use retrial_cluster::job::record::{self, JobEventKind};
use retrial_cluster::job::run_events::RunEvents;
use retrial_cluster::job::{JOURNAL_ARRIVAL_TIMEOUT, MISSING_JOB_TIMEOUT};
use retrial_cluster::slurm::{JobPhase, Slurm, SlurmError};
use retrial_store::journal::{AbortReason, EventKind};
use retrial_store::{RunDirectory, StoreError};

/// How the job of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// The run ended by itself, or was stopped.
    Run {
        /// The exit code of Retrial in the job.
        code: u8,
        reason: Option<AbortReason>,
        /// It came to a verdict.
        judged: bool,
    },
    /// The job is over, and the run did not end.
    Job {
        /// Slurm's state of the job: `TIMEOUT`.
        state: String,
    },
    /// Neither the controller nor the accounting lists the job.
    Unknown,
}

/// The job of a run that is followed.
pub struct RunJob<'a> {
    slurm: &'a Slurm,
    run: &'a RunDirectory,
    id: String,
    events: RunEvents,
    /// The first day of the accounting in which the job is searched.
    since: String,
    display: JobDisplay<'a>,
    /// The run began in this job.
    has_begun: bool,
    is_judged: bool,
    /// The phase that events and Slurm have shown last.
    phase: JobPhase,
    missing_since: Option<Instant>,
    over_since: Option<(String, Instant)>,
}

impl<'a> RunJob<'a> {
    /// Follows a job; shows nothing if it is silent.
    pub fn new(
        global: &'a GlobalOptions,
        slurm: &'a Slurm,
        run: &'a RunDirectory,
        id: String,
        is_silent: bool,
    ) -> Result<Self, StoreError> {
        let submission = record::latest_submission(run.record())?.unwrap_or_default();
        let all_output = global.verbose && !is_silent;
        Ok(Self {
            events: RunEvents::open_at(run, submission.journal, all_output),
            since: submission.accounting_start(),
            display: JobDisplay::new(global, run, is_silent),
            slurm,
            run,
            id,
            has_begun: false,
            is_judged: false,
            phase: JobPhase::Pending,
            missing_since: None,
            over_since: None,
        })
    }

    /// Shows new events, and returns how the job ended if it did.
    fn poll_events(&mut self) -> Option<JobOutcome> {
        let mut end = None;
        for event in self.events.poll() {
            match &event.what {
                EventKind::RunStarted { .. } => {
                    self.has_begun = true;
                    self.is_judged = false;
                    self.phase = JobPhase::Running;
                }
                EventKind::Judged { .. } => self.is_judged = true,
                // A process on a node that failed may outlive its job, and end after this one was submitted.
                EventKind::RunEnded { reason: None, .. } if !self.has_begun => {}
                EventKind::RunEnded { exit_code, reason } => {
                    end = Some(JobOutcome::Run {
                        code: *exit_code,
                        reason: reason.clone(),
                        judged: self.is_judged,
                    });
                }
                _ => {}
            }
            self.display.report_event(&event);
        }
        if end.is_some() {
            return end;
        }
        if self.missing_since.is_some_and(|since| since.elapsed() > MISSING_JOB_TIMEOUT) {
            return Some(JobOutcome::Unknown);
        }
        let (state, since) = self.over_since.as_ref()?;
        let state = state.clone();
        (since.elapsed() > JOURNAL_ARRIVAL_TIMEOUT).then_some(JobOutcome::Job { state })
    }
}

impl FollowedJobs for RunJob<'_> {
    type Answer = JobStatus;
    type Outcome = JobOutcome;

    fn poll_files(&mut self, _is_slurm_away: bool) -> Result<Option<JobOutcome>, StoreError> {
        let end = self.poll_events();
        if let Some(JobOutcome::Job { state }) = &end {
            let (id, state) = (self.id.clone(), state.clone());
            record::record_job_event(self.run.record(), JobEventKind::Over { id, state })?;
        }
        Ok(end)
    }

    fn query_slurm(&self) -> BoxFuture<'static, Result<JobStatus, SlurmError>> {
        query_job(self.slurm.clone(), self.id.clone(), self.since.clone()).boxed()
    }

    fn apply_answer(&mut self, answer: JobStatus) -> Result<(), StoreError> {
        let JobStatus::Known(job, position) = answer else {
            self.missing_since.get_or_insert_with(Instant::now);
            return Ok(());
        };
        self.missing_since = None;
        match job.phase() {
            JobPhase::Ended => {
                self.phase = JobPhase::Ended;
                let ended = || (job.state, Instant::now());
                self.over_since.get_or_insert_with(ended);
            }
            // An answer may be older than what the job has written since.
            _ if self.phase == JobPhase::Running => {}
            JobPhase::Pending => self.display.show_waiting(&job, position),
            JobPhase::Running => {
                self.phase = JobPhase::Running;
                let text = format!("job {} runs on {}", job.id, job.nodes);
                self.display.print_note(&text);
            }
        }
        Ok(())
    }

    fn list_jobs_to_stop(&mut self) -> Vec<StoppableJob> {
        vec![StoppableJob {
            slurm: self.slurm.clone(),
            id: self.id.clone(),
            directory: self.run.record().clone(),
        }]
    }

    fn job_phase(&self, _id: &str) -> JobPhase {
        self.phase
    }

    fn print_note(&mut self, text: &str) {
        self.display.print_note(text);
    }

    fn finish_display(&mut self) {
        self.display.finish();
    }
}
