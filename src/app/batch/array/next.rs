//! Which tasks of a batch are to be submitted: at first all that have something left, and once more those that
//! a node has failed, on another one.

use std::collections::BTreeMap;

use super::manifest::{Array, Manifest, TaskEntry};
use crate::app::failure::Failure;
use crate::batch::BatchPlan;
use crate::batch::journal::BatchState;
use crate::batch::run::{read_journal, task_directory, tasks};
use crate::results::verdict::ExitCode;
use crate::store::Record;

/// The node that a task is to be kept from, if any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Exclude(Option<String>);

/// What is known of a task.
struct Known {
    entry: TaskEntry,
    state: BatchState,
    /// All of its trial runs have an end that is not done again.
    is_complete: bool,
    /// How many arrays of this session had it.
    submitted: usize,
}

/// The arrays that are to be submitted, each with no more tasks than `most`; none if nothing is left for this
/// session. All arrays of the session are over.
pub fn next(
    batch: &Record,
    plan: &BatchPlan,
    session: usize,
    most: usize,
) -> Result<Vec<Manifest>, Failure> {
    let arrays = Array::all(batch)?;
    let mut groups: BTreeMap<Exclude, Vec<TaskEntry>> = BTreeMap::new();
    for (number, trial_runs) in (1..).zip(tasks(plan)) {
        let known = known(batch, number, &trial_runs, &arrays, session)?;
        if let Some(exclude) = known.again(plan.execution.retries) {
            groups.entry(exclude).or_default().push(known.entry);
        }
    }
    let cut = groups.iter().flat_map(|(exclude, tasks)| {
        tasks.chunks(most.max(1)).map(|tasks| Manifest {
            session,
            tasks: tasks.to_vec(),
            exclude: exclude.0.clone(),
        })
    });
    Ok(cut.collect())
}

fn known(
    batch: &Record,
    number: usize,
    trial_runs: &[usize],
    arrays: &[Array],
    session: usize,
) -> Result<Known, Failure> {
    let directory = task_directory(batch, number);
    let state = read_journal(&directory)?;
    let of_session = arrays.iter().filter(|one| one.manifest.session == session);
    let submitted = of_session.filter(|array| {
        let mut tasks = array.manifest.tasks.iter();
        tasks.any(|entry| entry.task == number)
    });
    Ok(Known {
        entry: TaskEntry {
            task: number,
            journal: std::fs::metadata(directory.journal()).map_or(0, |journal| journal.len()),
        },
        is_complete: trial_runs.iter().all(|one| state.has_ended(*one)),
        submitted: submitted.count(),
        state,
    })
}

impl Known {
    /// Whether it is to be submitted, and without which node.
    fn again(&self, retries: u32) -> Option<Exclude> {
        let failed = matches!(self.state.over, Some((code, _)) if code == ExitCode::Host.code());
        match self.submitted {
            _ if self.is_complete => None,
            0 => Some(Exclude(None)),
            1 if failed && retries > 0 => Some(Exclude(self.state.node.clone())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::batch::journal::{BatchEvent, BatchWhat};
    use jiff::Timestamp;

    fn known(submitted: usize, code: Option<u8>) -> Known {
        let ended = code.map(|exit_code| BatchEvent {
            time: Timestamp::UNIX_EPOCH,
            what: BatchWhat::BatchEnded {
                exit_code,
                because: None,
                node: Some("n2".to_owned()),
            },
        });
        Known {
            entry: TaskEntry {
                task: 1,
                journal: 0,
            },
            state: BatchState::of(&Vec::from_iter(ended)),
            is_complete: code == Some(0),
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
        let expected = is_submitted.then(|| Exclude(exclude.map(str::to_owned)));
        assert_eq!(known(submitted, code).again(retries), expected);
    }
}
