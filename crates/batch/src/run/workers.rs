//! The trial runs that each worker executes one after the other.
//!
//! A worker has GPUs of its own. With several trials a worker takes whole rounds: the trials of a round
//! are compared as pairs, so all of them run on the same GPUs. With one trial the cells are dealt.

use crate::{BatchPlan, TrialRun};

/// The trial runs of each worker, numbered from 1, in the order of the schedule.
pub type WorkerQueues = Vec<Vec<usize>>;

/// Deals the trial runs of a batch to at most as many workers as its options allow; none is empty.
pub fn assign_workers(plan: &BatchPlan) -> WorkerQueues {
    deal_trial_runs(plan, plan.execution.parallel as usize)
}

/// The tasks of a batch, each for a node: a round each, or a cell if there is one trial.
pub fn assign_tasks(plan: &BatchPlan) -> WorkerQueues {
    deal_trial_runs(plan, usize::MAX)
}

fn deal_trial_runs(plan: &BatchPlan, at_once: usize) -> WorkerQueues {
    let trial_runs = &plan.schedule.trial_runs;
    let has_rounds = trial_runs.iter().any(|trial_run| trial_run.trial > 1);
    // Its round, or its cell.
    let share = |trial_run: &TrialRun| {
        if has_rounds { trial_run.trial as usize - 1 } else { trial_run.cell }
    };
    let last = trial_runs.iter().map(share).max();
    let count = at_once.min(last.map_or(1, |last| last + 1)).max(1);
    let mut workers = vec![Vec::new(); count];
    for (number, trial_run) in (1..).zip(trial_runs) {
        workers[share(trial_run) % count].push(number);
    }
    workers
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::RunOrder;
    use crate::tests::build::{cell, plan_of};

    fn plan(cells: usize, trials: u32, parallel: u32) -> BatchPlan {
        let cells = (0..cells).map(|number| cell(&format!("c{number}"), trials));
        let mut plan = plan_of(cells.collect(), RunOrder::Interleaved);
        plan.execution.parallel = parallel;
        plan
    }

    #[test]
    fn a_task_is_a_round_or_a_cell() {
        assert_eq!(assign_tasks(&plan(2, 3, 1)), [[1, 2], [3, 4], [5, 6]]);
        assert_eq!(assign_tasks(&plan(3, 1, 1)), [[1], [2], [3]]);
    }

    #[rstest]
    #[case::one(2, 2, 1, vec![vec![1, 2, 3, 4]])]
    #[case::a_round_each(2, 2, 2, vec![vec![1, 2], vec![3, 4]])]
    #[case::no_more_than_rounds(2, 2, 8, vec![vec![1, 2], vec![3, 4]])]
    #[case::rounds_are_dealt(1, 3, 2, vec![vec![1, 3], vec![2]])]
    #[case::one_trial_deals_cells(3, 1, 2, vec![vec![1, 3], vec![2]])]
    fn trial_runs_are_dealt_to_workers(
        #[case] cells: usize,
        #[case] trials: u32,
        #[case] parallel: u32,
        #[case] expected: Vec<Vec<usize>>,
    ) {
        assert_eq!(assign_workers(&plan(cells, trials, parallel)), expected);
    }
}
