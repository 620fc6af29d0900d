//! Follows a run's job to its end, through the queue and the files that it writes. Stops it on
//! Ctrl-C, and leaves it alone when the terminal goes away.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::display::JobDisplay;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::signals::{SignalRequest, Signals};
use retrial_cluster::job::events::JobEvents;
use retrial_cluster::job::queries::{JobStatus, RepeatedQuery};
use retrial_cluster::job::record::{self, JobEventKind};
use retrial_cluster::job::stopper::JobStopper;
use retrial_cluster::job::{JOURNAL_ARRIVAL_TIMEOUT, MISSING_JOB_TIMEOUT};
use retrial_cluster::slurm::{JobPhase, Slurm};
use retrial_store::journal::{AbortReason, EventKind};
use retrial_store::{RunDirectory, StoreError};

/// The time between two polls of the shared directory, each of which opens two files.
pub const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How a job was followed to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// The run ended by itself, or was stopped.
    Run {
        /// The exit code of Retrial in the job.
        code: u8,
        /// Why it ended early.
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
    /// The terminal was closed, or a second signal came: the job continues.
    Detached,
}

/// A job that is followed.
pub struct JobFollower<'a> {
    slurm: &'a Slurm,
    run: &'a RunDirectory,
    id: String,
    events: JobEvents,
    questions: RepeatedQuery<JobStatus>,
    display: JobDisplay<'a>,
    stopping: Option<JobStopper>,
    /// The run began in this job.
    has_begun: bool,
    is_judged: bool,
    /// The phase that events and Slurm have shown last.
    phase: JobPhase,
    missing_since: Option<Instant>,
    over_since: Option<(String, Instant)>,
}

impl<'a> JobFollower<'a> {
    /// Follows a job; shows nothing if it is silent.
    pub fn new(
        global: &'a GlobalOptions,
        slurm: &'a Slurm,
        run: &'a RunDirectory,
        id: String,
        is_silent: bool,
    ) -> Result<Self, StoreError> {
        let submission = record::latest_submission(run)?.unwrap_or_default();
        let all_output = global.verbose && !is_silent;
        Ok(Self {
            events: JobEvents::open_at(run, submission.journal, all_output),
            questions: RepeatedQuery::for_job(
                slurm.clone(),
                id.clone(),
                submission.accounting_start(),
            ),
            display: JobDisplay::new(global, run, is_silent),
            slurm,
            run,
            id,
            stopping: None,
            has_begun: false,
            is_judged: false,
            phase: JobPhase::Pending,
            missing_since: None,
            over_since: None,
        })
    }

    /// Follows it until it has ended.
    pub async fn follow_to_end(mut self) -> Result<JobOutcome, Failure> {
        let mut signals = listen_for_signals()?;
        let end = loop {
            if let Some(end) = self.poll_events() {
                break end;
            }
            let note = |text: &str| self.display.print_note(text);
            if let Some(answer) = self.questions.poll_answer(note).await {
                self.apply_answer(answer);
            }
            if let Some(stopping) = &mut self.stopping {
                let note = |text: &str| self.display.print_note(text);
                stopping.advance(self.phase, note).await?;
            }
            match timeout(POLL_INTERVAL, signals.next()).await {
                Ok(SignalRequest::Detach) => break JobOutcome::Detached,
                Ok(SignalRequest::Stop) if self.stop_job()? => break JobOutcome::Detached,
                _ => {}
            }
        };
        self.display.finish();
        if let JobOutcome::Job { state } = &end {
            let (id, state) = (self.id.clone(), state.clone());
            record::record_job_event(self.run, JobEventKind::Over { id, state })?;
        }
        Ok(end)
    }

    /// Stops the job. Returns whether that was requested before.
    pub fn stop_job(&mut self) -> Result<bool, StoreError> {
        if self.stopping.is_some() {
            return Ok(true);
        }
        let note = |text: &str| self.display.print_note(text);
        let (slurm, id) = (self.slurm.clone(), self.id.clone());
        self.stopping = Some(JobStopper::start(slurm, id, self.run, note)?);
        self.questions.query_now();
        Ok(false)
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
        if self
            .missing_since
            .is_some_and(|since| since.elapsed() > MISSING_JOB_TIMEOUT)
        {
            return Some(JobOutcome::Unknown);
        }
        let (state, since) = self.over_since.as_ref()?;
        let state = state.clone();
        (since.elapsed() > JOURNAL_ARRIVAL_TIMEOUT).then_some(JobOutcome::Job { state })
    }

    fn apply_answer(&mut self, answer: JobStatus) {
        let JobStatus::Known(job, position) = answer else {
            self.missing_since.get_or_insert_with(Instant::now);
            return;
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
    }
}

/// Listens for signals from now on.
pub fn listen_for_signals() -> Result<Signals, Failure> {
    Signals::new().map_err(|error| Failure::host(format!("failed to listen for signals: {error}")))
}
