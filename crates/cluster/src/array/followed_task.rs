//! A followed task of an array, as its journal and Slurm show it.

use std::time::{Duration, Instant};

use super::manifest::TaskEntry;
use crate::job::incoming_file::IncomingFile;
use crate::job::{JOURNAL_ARRIVAL_TIMEOUT, MISSING_JOB_TIMEOUT};
use crate::slurm::{Job, JobPhase};
use retrial_batch::journal::{BatchEvent, BatchEventKind, TrialRunEnd};
use retrial_batch::run::{read_journal, task_directory};
use retrial_document::ErrorText;
use retrial_results::verdict::ExitCode;
use retrial_store::journal::Journal;
use retrial_store::lock::{FileLock, LockAttempt};
use retrial_store::{RecordDirectory, StoreError};

pub struct FollowedTask {
    directory: RecordDirectory,
    incoming: IncomingFile,
    /// Whether its process has written an event.
    started: bool,
    /// The phase that its journal and Slurm have shown last.
    pub phase: JobPhase,
    /// Whether its process has ended, or is lost.
    pub is_settled: bool,
    /// When Slurm first reported it as ended, or did not list it.
    missing_since: Option<Instant>,
}

impl FollowedTask {
    pub fn new(batch: &RecordDirectory, entry: &TaskEntry) -> Self {
        let directory = task_directory(batch, entry.task);
        Self {
            incoming: IncomingFile::open_at(directory.journal_path(), entry.journal),
            directory,
            started: false,
            phase: JobPhase::Pending,
            is_settled: false,
            missing_since: None,
        }
    }

    /// Returns the events of its journal since the last call.
    pub fn poll_journal(&mut self) -> Vec<BatchEvent> {
        let events: Vec<BatchEvent> = self.incoming.poll();
        for event in &events {
            match event.what {
                BatchEventKind::BatchStarted { .. } => self.is_settled = false,
                BatchEventKind::BatchEnded { .. } => self.is_settled = true,
                _ => {}
            }
        }
        self.started |= !events.is_empty();
        if self.is_settled {
            self.phase = JobPhase::Ended;
        }
        events
    }

    /// Applies Slurm's state of the task, after its journal was read. Returns whether its process is lost.
    pub fn update_from_slurm(&mut self, row: Option<&Job>, is_stopping: bool) -> bool {
        if self.is_settled {
            return false;
        }
        if let Some(row) = row.filter(|row| row.phase() != JobPhase::Ended) {
            self.phase = row.phase();
            self.missing_since = None;
            return false;
        }
        // A task that was withdrawn before it started has no row.
        let grace_period = match row {
            None if is_stopping => Duration::ZERO,
            None => MISSING_JOB_TIMEOUT,
            Some(_) => JOURNAL_ARRIVAL_TIMEOUT,
        };
        if self.missing_since.get_or_insert_with(Instant::now).elapsed() < grace_period {
            return false;
        }
        self.is_settled = true;
        self.phase = JobPhase::Ended;
        true
    }

    /// Writes how it ended into its journal, for its process, which is lost.
    ///
    /// # Errors
    /// If its journal cannot be written.
    pub fn record_end(
        &self,
        row: Option<&Job>,
        trial_runs: &[usize],
        job: &str,
    ) -> Result<(), StoreError> {
        let slurm_state = row.map(|row| row.state.as_str());
        let exit = match slurm_state {
            Some("CANCELLED" | "TIMEOUT" | "DEADLINE" | "PREEMPTED") => ExitCode::Interrupted,
            Some(_) => ExitCode::Host,
            None if self.started => ExitCode::Host,
            // It never started: no node is known to be at fault.
            None => return Ok(()),
        };
        let state = slurm_state.unwrap_or("Slurm has no record of it");
        let job_nodes = row.map(|row| row.nodes.clone());
        let node = job_nodes.filter(|node| !node.is_empty());
        let on = node.as_ref().map(|node| format!(" on {node}"));
        let reason = ErrorText::new(format!(
            "job {job}{} ended before its task did: {state}",
            on.unwrap_or_default()
        ));
        std::fs::create_dir_all(self.directory.path())
            .map_err(StoreError::io("create", self.directory.path()))?;
        end_task(&self.directory, trial_runs, exit, &reason, node)
    }
}

/// Writes the end of a task into its journal, unless a process has it: if the host failed, also that of each of
/// its trial runs that has no other one.
///
/// # Errors
/// If its journal cannot be read or written.
pub fn end_task(
    task: &RecordDirectory,
    trial_runs: &[usize],
    exit: ExitCode,
    reason: &ErrorText,
    node: Option<String>,
) -> Result<(), StoreError> {
    let lock = FileLock::try_acquire(&task.lock_path(), "")?;
    let LockAttempt::Acquired(_lock) = lock else {
        return Ok(());
    };
    let state = read_journal(task)?;
    let mut journal = Journal::open(&task.journal_path())?;
    let mut write = |what| journal.write(&BatchEvent::now(what));
    for trial_run in trial_runs.iter().copied() {
        let entry = state.trial_runs.get(&trial_run);
        // A run that was stopped can still be resumed.
        let is_open = entry.is_none_or(|entry| entry.end.is_none() || entry.host_failed());
        if exit != ExitCode::Host || !is_open {
            continue;
        }
        let end = TrialRunEnd {
            exit_code: exit.code(),
            run: entry.and_then(|entry| entry.run.clone()),
            reason: Some(reason.clone()),
            ..TrialRunEnd::default()
        };
        write(BatchEventKind::TrialRunEnded { trial_run, end })?;
    }
    write(BatchEventKind::BatchEnded {
        exit_code: exit.code(),
        reason: Some(reason.message.clone()),
        node,
    })
}
