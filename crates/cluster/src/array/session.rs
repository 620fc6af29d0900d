//! The arrays of one session of a batch: a session begins when the batch is submitted or resumed, and has arrays until
//! every task has ended or was submitted again once.

use super::manifest::Array;
use super::resubmission::{TaskState, next_arrays, task_states};
use crate::error::ClusterError;
use crate::slurm;
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind};
use retrial_batch::run::read_journal;
use retrial_store::journal::Journal;
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, StoreError};

/// Begins another session, unless one has begun and not ended.
///
/// # Errors
/// If the batch's records cannot be read or written.
pub fn begin_session(
    directory: &RecordDirectory,
    plan: &BatchPlan,
) -> Result<Option<BatchEvent>, StoreError> {
    let _lock = lock_submission(directory)?;
    let state = read_journal(directory)?;
    if state.sessions > 0 && state.final_exit_code.is_none() {
        return Ok(None);
    }
    let trial_runs = plan.schedule.trial_runs.len();
    let what = BatchEventKind::batch_started(directory.id(), trial_runs);
    Ok(Some(record_event(directory, what)?))
}

/// Returns an event that names the runs of earlier sessions which are not repeated, if there are any.
///
/// # Errors
/// If the batch's records cannot be read or written.
pub fn reused_runs_event(
    directory: &RecordDirectory,
    plan: &BatchPlan,
) -> Result<Option<BatchEvent>, StoreError> {
    let tasks = task_states(directory, plan)?;
    let others = tasks.iter().filter(|task| task.submitted == 0);
    let trial_runs: Vec<usize> = others.flat_map(TaskState::ended_trial_runs).collect();
    let is_resumed = !trial_runs.is_empty();
    Ok(is_resumed.then(|| BatchEvent::now(BatchEventKind::Reused { trial_runs })))
}

/// Creates the arrays to submit next, now that those of this session are over; they are submitted later.
/// Returns how many arrays there are besides those `known`.
///
/// # Errors
/// If the batch's records cannot be read or written, or Slurm does not answer.
pub async fn create_next_arrays(
    directory: &RecordDirectory,
    plan: &BatchPlan,
    known: usize,
) -> Result<usize, ClusterError> {
    if next_arrays(directory, plan, usize::MAX)?.is_empty() {
        return Ok(0);
    }
    let size = slurm::query_max_array_size().await?;
    let _lock = lock_submission(directory)?;
    // Another process may follow the batch, too.
    let others = Array::of_latest_session(directory)?.len().saturating_sub(known);
    if others > 0 {
        return Ok(others);
    }
    let manifests = next_arrays(directory, plan, size as usize)?;
    let count = manifests.len();
    for manifest in manifests {
        Array::create(directory, manifest)?;
    }
    Ok(count)
}

/// Returns the arrays of this session that have a job, with its id.
///
/// # Errors
/// If the batch's records cannot be read or written.
pub fn submitted_arrays(directory: &RecordDirectory) -> Result<Vec<(Array, String)>, StoreError> {
    let with_id = |array: Array| {
        let id = array.submission().ok()??.id?;
        Some((array, id))
    };
    let arrays = Array::of_latest_session(directory)?.into_iter();
    Ok(arrays.filter_map(with_id).collect())
}

/// Takes the lock of whoever submits arrays of a batch, or concludes it.
///
/// # Errors
/// If the batch's files cannot be written, or another process has the lock.
pub fn lock_submission(batch: &RecordDirectory) -> Result<FileLock, StoreError> {
    FileLock::acquire(&batch.join("submit.lock"), batch.id())
}

/// Records an event of a batch, under its lock.
///
/// # Errors
/// If the batch's files cannot be written.
pub fn record_event(
    batch: &RecordDirectory,
    what: BatchEventKind,
) -> Result<BatchEvent, StoreError> {
    let event = BatchEvent::now(what);
    Journal::open(&batch.journal_path())?.write(&event)?;
    Ok(event)
}
