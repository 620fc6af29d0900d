//! Collects the evidence of a batch's verdict from its directories: of each trial run the run that counts.

use super::tasks::read_state;
use crate::journal::{TrialRunEnd, TrialRunState};
use crate::verdict::{LostRun, RunEvidence, SubjectEvidence};
use crate::{BatchPlan, Cell};
use retrial_results::verdict::{Evidence, ExitCode, RunContext};
use retrial_run::read_complete_evidence;
use retrial_store::{Home, RecordDirectory, RunDirectory, StoreError};

/// The evidence of each cell, its runs in the order of trials; a run without any has the reason.
///
/// # Errors
/// If the batch's journal cannot be read.
pub fn evidence_of_cells(
    home: &Home,
    directory: &RecordDirectory,
    plan: &BatchPlan,
) -> Result<Vec<SubjectEvidence>, StoreError> {
    let state = read_state(directory)?;
    let without_runs = |cell: &Cell| SubjectEvidence { name: cell.name.clone(), runs: Vec::new() };
    let mut cells: Vec<SubjectEvidence> = plan.all_cells().map(without_runs).collect();
    let numbers: Vec<usize> = match plan.search {
        // Those that it chose.
        Some(_) => state.trial_runs.keys().copied().collect(),
        None => (1..=plan.schedule.trial_runs.len()).collect(),
    };
    for number in numbers {
        let Some(trial_run) = plan.trial_run(number) else {
            continue;
        };
        let evidence = trial_run_evidence(home, state.trial_runs.get(&number), trial_run.trial);
        if let Some(cell) = cells.get_mut(trial_run.cell) {
            cell.runs.push(evidence);
        }
    }
    for cell in &mut cells {
        cell.runs.sort_by_key(|run| run.trial);
    }
    Ok(cells)
}

fn trial_run_evidence(home: &Home, state: Option<&TrialRunState>, trial: u32) -> RunEvidence {
    let run = state.and_then(|state| state.run.clone());
    let found = match state.and_then(|state| state.end.as_ref()) {
        Some(end) => evidence_after_end(home, end),
        None if run.is_none() => lost_run("it was not started", ExitCode::Inconclusive),
        None => lost_run("it has not ended", ExitCode::Interrupted),
    };
    let failure = state.and_then(|state| state.own_failure().cloned());
    let start = state.and_then(|state| state.start);
    RunEvidence { run: run.unwrap_or_default(), trial, start, evidence: found, failure }
}

fn evidence_after_end(
    home: &Home,
    end: &TrialRunEnd,
) -> Result<(RunContext, Vec<Evidence>), LostRun> {
    let exit = ExitCode::try_from(end.exit_code).unwrap_or(ExitCode::Host);
    let reason = match exit {
        ExitCode::Interrupted => "it was stopped",
        ExitCode::Host => "the host or its services failed",
        ExitCode::Usage => "it was refused",
        _ if end.run.is_none() => "it was not started",
        _ => {
            let run = end.run.as_deref().unwrap_or_default();
            let evidence =
                read_complete_evidence(&RunDirectory::from_path(home.runs_directory().join(run)));
            return evidence.or_else(|error| lost_run(&error.to_string(), ExitCode::Host));
        }
    };
    let known = end.reason.as_ref();
    lost_run(known.map_or(reason, |error| &error.message), exit)
}

fn lost_run<T>(reason: &str, exit: ExitCode) -> Result<T, LostRun> {
    let reason = reason.to_owned();
    Err(LostRun { reason, exit })
}
