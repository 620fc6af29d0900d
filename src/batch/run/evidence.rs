//! What a batch's verdict is made of, from its directories alone: of each trial run the run that counts.

use super::tasks::read_state;
use crate::batch::journal::TrialRunState;
use crate::batch::verdict::{LostRun, RunEvidence, SubjectEvidence};
use crate::batch::{BatchPlan, Cell};
use crate::results::verdict::ExitCode;
use crate::run::evidence_of;
use crate::store::{Home, Record, RunDirectory, StoreError};

/// The evidence of each cell, its runs in the order of trials; a run without any says why.
///
/// # Errors
/// Where the batch's journal cannot be read.
pub fn evidence_of_cells(
    home: &Home,
    directory: &Record,
    plan: &BatchPlan,
) -> Result<Vec<SubjectEvidence>, StoreError> {
    let state = read_state(directory)?;
    let without_runs = |cell: &Cell| SubjectEvidence {
        name: cell.name.clone(),
        runs: Vec::new(),
    };
    let mut cells: Vec<SubjectEvidence> = plan.cells.iter().map(without_runs).collect();
    let numbers: Vec<usize> = match plan.search {
        // Those that it chose.
        Some(_) => state.trial_runs.keys().copied().collect(),
        None => (1..=plan.schedule.trial_runs.len()).collect(),
    };
    for number in numbers {
        let Some(trial_run) = plan.trial_run(number) else {
            continue;
        };
        let evidence = of_trial_runs(home, state.trial_runs.get(&number), trial_run.trial);
        if let Some(cell) = cells.get_mut(trial_run.cell) {
            cell.runs.push(evidence);
        }
    }
    for cell in &mut cells {
        cell.runs.sort_by_key(|run| run.trial);
    }
    Ok(cells)
}

fn of_trial_runs(home: &Home, trial_run: Option<&TrialRunState>, trial: u32) -> RunEvidence {
    let run = trial_run
        .and_then(|trial_run| trial_run.run.clone())
        .unwrap_or_default();
    let lost = |because: &str, exit| {
        Err(LostRun {
            because: because.to_owned(),
            exit,
        })
    };
    let ended = trial_run.and_then(|trial_run| trial_run.end.as_ref());
    let found = match ended {
        _ if run.is_empty() && ended.is_none() => {
            lost("it was not started", ExitCode::Inconclusive)
        }
        None => lost("it has not ended", ExitCode::Interrupted),
        Some((end, _)) => {
            let exit = ExitCode::try_from(end.exit_code).unwrap_or(ExitCode::Host);
            match exit {
                ExitCode::Interrupted | ExitCode::Host | ExitCode::Usage => {
                    let because = match exit {
                        ExitCode::Interrupted => "it was stopped",
                        ExitCode::Host => "the host or its services failed",
                        _ => "it was refused",
                    };
                    lost(end.because.as_deref().unwrap_or(because), exit)
                }
                _ => {
                    let directory = RunDirectory::at(home.runs().join(&run));
                    evidence_of(&directory, false).map_err(|error| LostRun {
                        because: error.to_string(),
                        exit: ExitCode::Host,
                    })
                }
            }
        }
    };
    RunEvidence { run, trial, found }
}
