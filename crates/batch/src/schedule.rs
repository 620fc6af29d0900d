//! The order in which the trials of all cells are run.
//!
//! Interleaved goes through the cells there and back: A B C, C B A, A B C. A machine drifts (it
//! warms up, a neighbour's job begins), and plain rounds would have the last cell always the later
//! one; there and back, a drift that is even in time cancels over two rounds. Each round has every
//! cell once, so that the trials of a round are pairs.

use serde::{Deserialize, Serialize};

use super::{Cell, RunOrder};
use retrial_recipe::model::Mode;

/// The trial runs in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The rule by which the trial runs are ordered.
    pub order: RunOrder,
    pub trial_runs: Vec<TrialRun>,
}

/// One trial of a cell: an ordinary run with one trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRun {
    /// The position of the cell in [`super::BatchPlan::cells`].
    pub cell: usize,
    /// The number of the cell's trial, from 1.
    pub trial: u32,
    /// Only these modes; all of the recipe if empty. Accuracy and compliance are measured once.
    pub modes: Vec<Mode>,
}

impl Schedule {
    /// Orders the trial runs of these cells.
    pub fn new(cells: &[Cell], order: RunOrder) -> Self {
        let mut trial_runs = Vec::new();
        match order {
            RunOrder::Grouped => {
                for (position, cell) in cells.iter().enumerate() {
                    trial_runs.extend(
                        (1..=cell.trials).map(|trial| plan_trial_run(cell, position, trial)),
                    );
                }
            }
            RunOrder::Interleaved => {
                let rounds = cells.iter().map(|cell| cell.trials).max().unwrap_or(0);
                for trial in 1..=rounds {
                    let cells = cells.iter().enumerate().filter(|(_, cell)| trial <= cell.trials);
                    let round = cells.map(|(position, cell)| plan_trial_run(cell, position, trial));
                    if trial % 2 == 1 {
                        trial_runs.extend(round);
                    } else {
                        trial_runs.extend(round.rev());
                    }
                }
            }
        }
        Self { order, trial_runs }
    }
}

fn plan_trial_run(cell: &Cell, position: usize, trial: u32) -> TrialRun {
    let measures = |mode| cell.modes.is_empty() || cell.modes.contains(&mode);
    let modes = if trial > 1 && measures(Mode::Performance) {
        vec![Mode::Performance]
    } else {
        cell.modes.clone()
    };
    TrialRun { cell: position, trial, modes }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::tests::build::cell;

    #[rstest]
    #[case(RunOrder::Interleaved, &[3, 3], "A1 B1 B2 A2 A3 B3")]
    #[case(RunOrder::Interleaved, &[2, 2, 2], "A1 B1 C1 C2 B2 A2")]
    #[case(RunOrder::Interleaved, &[1, 3], "A1 B1 B2 B3")]
    #[case(RunOrder::Grouped, &[3, 2], "A1 A2 A3 B1 B2")]
    #[case(RunOrder::Interleaved, &[], "")]
    fn trial_runs_follow_the_order(
        #[case] order: RunOrder,
        #[case] trials: &[u32],
        #[case] expected: &str,
    ) {
        let cells: Vec<Cell> = trials.iter().map(|trials| cell("x", *trials)).collect();
        let letters = Schedule::new(&cells, order).trial_runs.into_iter().map(|trial_run| {
            let letter = ["A", "B", "C"][trial_run.cell];
            format!("{letter}{}", trial_run.trial)
        });
        assert_eq!(letters.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn accuracy_is_measured_once() {
        let mut cells = vec![cell("x", 2)];
        let modes = |cells: &[Cell]| -> Vec<Vec<Mode>> {
            let trial_runs = Schedule::new(cells, RunOrder::Interleaved).trial_runs;
            trial_runs.into_iter().map(|trial_run| trial_run.modes).collect()
        };
        assert_eq!(modes(&cells), [vec![], vec![Mode::Performance]]);
        cells[0].modes = vec![Mode::Accuracy];
        assert_eq!(modes(&cells), [[Mode::Accuracy], [Mode::Accuracy]]);
    }
}
