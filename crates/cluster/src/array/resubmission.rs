//! Selects the tasks of a batch to submit: at first all with unfinished trial runs, and once more, on another node,
//! those that a node has failed.

use std::collections::BTreeMap;

use super::manifest::{Array, ArrayManifest, TaskEntry};
use retrial_batch::BatchPlan;
use retrial_batch::journal::BatchState;
use retrial_batch::run::{assign_tasks, read_journal, task_directory};
use retrial_results::verdict::ExitCode;
use retrial_store::{RecordDirectory, StoreError};

/// The node that a task must not run on, if any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ExcludedNode(Option<String>);

/// The state of a task at the end of the latest session of its batch.
pub struct TaskState {
    entry: TaskEntry,
    trial_runs: Vec<usize>,
    state: BatchState,
    /// The number of arrays of this session that contain it.
    pub submitted: usize,
}

/// Returns the arrays to submit next, each with at most `max_tasks` tasks; none if this session has nothing left to do.
/// All arrays of the session must be over.
///
/// # Errors
/// If the manifests or the journals of tasks cannot be read.
pub fn next_arrays(
    batch: &RecordDirectory,
    plan: &BatchPlan,
    max_tasks: usize,
) -> Result<Vec<ArrayManifest>, StoreError> {
    let session = read_journal(batch)?.sessions;
    let mut groups: BTreeMap<ExcludedNode, Vec<TaskEntry>> = BTreeMap::new();
    for task in task_states(batch, plan)? {
        if let Some(exclude) = task.next_submission(plan.execution.retries) {
            groups.entry(exclude).or_default().push(task.entry);
        }
    }
    let cut = groups.iter().flat_map(|(exclude, tasks)| {
        tasks.chunks(max_tasks.max(1)).map(|tasks| ArrayManifest {
            session,
            tasks: tasks.to_vec(),
            exclude: exclude.0.clone(),
        })
    });
    Ok(cut.collect())
}

/// Returns the state of each task of a batch at the end of its latest session.
///
/// # Errors
/// If the manifests or the journals of tasks cannot be read.
pub fn task_states(
    batch: &RecordDirectory,
    plan: &BatchPlan,
) -> Result<Vec<TaskState>, StoreError> {
    let arrays = Array::of_latest_session(batch)?;
    let entries = arrays.iter().flat_map(|array| &array.manifest.tasks);
    let submitted: Vec<usize> = entries.map(|entry| entry.task).collect();
    let task = |(number, trial_runs)| {
        let directory = task_directory(batch, number);
        Ok(TaskState {
            entry: TaskEntry {
                task: number,
                journal: std::fs::metadata(directory.journal_path())
                    .map_or(0, |journal| journal.len()),
            },
            trial_runs,
            state: read_journal(&directory)?,
            submitted: submitted.iter().filter(|task| **task == number).count(),
        })
    };
    (1..).zip(assign_tasks(plan)).map(task).collect()
}

impl TaskState {
    /// Returns its trial runs that have ended and are not repeated.
    pub fn ended_trial_runs(&self) -> impl Iterator<Item = usize> {
        let all = self.trial_runs.iter().copied();
        all.filter(|one| self.state.has_ended(*one))
    }

    /// Returns the node that its next submission excludes; none if it is not submitted again.
    fn next_submission(&self, retries: u32) -> Option<ExcludedNode> {
        let failed = self.state.final_exit_code == Some(ExitCode::Host.code());
        match self.submitted {
            _ if self.ended_trial_runs().count() == self.trial_runs.len() => None,
            0 => Some(ExcludedNode(None)),
            1 if failed && retries > 0 => Some(ExcludedNode(self.state.node.clone())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use jiff::Timestamp;
    use retrial_batch::journal::{BatchEvent, BatchEventKind, TrialRunEnd};

    fn task(submitted: usize, code: Option<u8>) -> TaskState {
        let ended = |exit_code| {
            let end = TrialRunEnd { exit_code, ..TrialRunEnd::default() };
            let trial_run = BatchEventKind::TrialRunEnded { trial_run: 1, end };
            let batch =
                BatchEventKind::BatchEnded { exit_code, reason: None, node: Some("n2".to_owned()) };
            [trial_run, batch].map(|what| BatchEvent { time: Timestamp::UNIX_EPOCH, what })
        };
        let events: Vec<BatchEvent> = code.into_iter().flat_map(ended).collect();
        TaskState {
            entry: TaskEntry { task: 1, journal: 0 },
            trial_runs: vec![1],
            state: BatchState::from_events(&events),
            submitted,
        }
    }

    #[rstest]
    #[case::new(0, None, 1, true, None)]
    #[case::of_an_earlier_session(0, Some(130), 1, true, None)]
    #[case::complete(1, Some(0), 1, false, None)]
    #[case::failed_by_its_node(1, Some(3), 1, true, Some("n2"))]
    #[case::no_retries(1, Some(3), 0, false, None)]
    #[case::failed_twice(2, Some(3), 1, false, None)]
    #[case::stopped(1, Some(130), 1, false, None)]
    fn tasks_are_submitted_again(
        #[case] submitted: usize,
        #[case] code: Option<u8>,
        #[case] retries: u32,
        #[case] is_submitted: bool,
        #[case] exclude: Option<&str>,
    ) {
        let expected = is_submitted.then(|| ExcludedNode(exclude.map(str::to_owned)));
        assert_eq!(task(submitted, code).next_submission(retries), expected);
    }
}
