//! Executes a search: the next trial run follows from the results of the earlier ones.

use std::collections::BTreeMap;

use super::batch_end::BatchEnd;
use super::session::BatchSession;
use super::trial_run::execute_trial_run;
use crate::BatchPlan;
use crate::journal::BatchState;
use crate::search::{ObservedTrial, RunObservation, SearchPlan, SearchState, observe_run};
use retrial_results::verdict::ExitCode;
use retrial_run::read_complete_evidence;
use retrial_stats::search::SearchStep;
use retrial_store::{Home, RunDirectory, StoreError};

/// The observations of a search's runs, each read once.
#[derive(Debug, Default)]
pub struct RunObservations(BTreeMap<String, RunObservation>);

impl RunObservations {
    /// Returns the trials that ended, in the order in which they started.
    pub fn ended_trials(
        &mut self,
        home: &Home,
        plan: &BatchPlan,
        search: &SearchPlan,
        state: &BatchState,
    ) -> Vec<ObservedTrial> {
        let ended = state.trial_runs.iter().filter(|(number, _)| state.has_ended(**number));
        let mut ended: Vec<_> = ended.collect();
        ended.sort_by_key(|(number, state)| (state.start.map(|start| start.position), **number));
        let trials = ended.into_iter().filter_map(|(number, state)| {
            let cell = plan.trial_run(*number)?.cell;
            let end = state.end.as_ref()?;
            let run = end.run.clone().unwrap_or_default();
            // Without a result, its cell's own failure is all that is known.
            if let Some(failure) = &end.failure
                && (run.is_empty() || state.exit_code() == Some(ExitCode::Host.code()))
            {
                let observed = RunObservation::NotMeasured(failure.to_string());
                return Some(ObservedTrial { cell, run, observed });
            }
            let observed = self.0.entry(run.clone()).or_insert_with(|| {
                let directory = RunDirectory::from_path(home.runs_directory().join(&run));
                match read_complete_evidence(&directory) {
                    Ok((context, evidence)) => observe_run(search, &context, &evidence),
                    Err(error) => RunObservation::NotMeasured(error.to_string()),
                }
            });
            Some(ObservedTrial { cell, observed: observed.clone(), run })
        });
        trials.collect()
    }
}

/// Executes trial runs until the search has ended, or cannot continue.
pub(super) async fn run_search(
    batch: &BatchSession<'_>,
    search: &SearchPlan,
) -> Result<BatchEnd, StoreError> {
    let plan = &batch.job.plan;
    let mut observations = RunObservations::default();
    let ended = |exit, reason| Ok(BatchEnd { exit, reason });
    loop {
        let trials = batch
            .with_state(|state| observations.ended_trials(&batch.job.home, plan, search, state));
        let Ok(SearchStep::Measure(cell)) = SearchState::new(plan, search, &trials).next_step()
        else {
            return ended(ExitCode::Success, None);
        };
        // An interrupted trial of the cell continues.
        let mut numbers = (cell + 1..).step_by(plan.cells.len());
        let open_number =
            batch.with_state(|state| numbers.find(|number| !state.has_ended(*number)));
        let number = open_number.unwrap_or(cell + 1);
        execute_trial_run(batch, number, None).await?;
        let code = batch.with_state(|state| state.exit_code(number));
        // A value that cannot be measured is skipped.
        let has_own_failure = batch.with_state(|state| {
            state.trial_runs.get(&number).is_some_and(|state| state.own_failure().is_some())
        });
        match code.and_then(|code| ExitCode::try_from(code).ok()) {
            None | Some(ExitCode::Interrupted) => {
                let reason = format!("stopped after {} trials", trials.len());
                return ended(ExitCode::Interrupted, Some(reason));
            }
            Some(exit @ (ExitCode::Host | ExitCode::Usage)) if !has_own_failure => {
                let reason = format!("the search needs {}", batch.describe_trial_run(number));
                return ended(exit, Some(reason));
            }
            Some(_) => {}
        }
    }
}
