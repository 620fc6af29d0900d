//! The parts of a batch that is distributed over nodes: each task has a directory with a journal of its own,
//! so that no two processes append to one file.

use crate::journal::{BatchEvent, BatchState, TrialRunState};
use retrial_store::files::list_directory;
use retrial_store::journal::Journal;
use retrial_store::{RecordDirectory, StoreError};

/// The directories of the tasks.
const TASKS: &str = "tasks";

/// The directory of a task of a batch, by its number from 1.
pub fn task_directory(batch: &RecordDirectory, task: usize) -> RecordDirectory {
    batch.subrecord(&format!("{TASKS}/{task}"))
}

/// Returns the state of a batch, by its journal and by those of its tasks.
///
/// # Errors
/// If a journal cannot be read.
pub fn read_state(batch: &RecordDirectory) -> Result<BatchState, StoreError> {
    let mut state = read_journal(batch)?;
    let tasks = batch.join(TASKS);
    for task in list_directory(&tasks)? {
        let task = read_journal(&RecordDirectory::from_path(tasks.join(task)))?;
        // Tasks have no order among each other.
        let trial_runs = task.trial_runs.into_iter();
        let unordered =
            trial_runs.map(|(number, run)| (number, TrialRunState { start: None, ..run }));
        state.trial_runs.extend(unordered);
    }
    Ok(state)
}

/// Returns the state of a batch or of one of its tasks, by its own journal.
///
/// # Errors
/// If it cannot be read.
pub fn read_journal(record: &RecordDirectory) -> Result<BatchState, StoreError> {
    let path = record.journal_path();
    if !path.exists() {
        return Ok(BatchState::default());
    }
    let events: Vec<BatchEvent> = Journal::read(&path)?;
    Ok(BatchState::from_events(&events))
}
