//! Executes a search: the next trial run follows from the results of the earlier ones.

use std::collections::BTreeMap;

use super::batch_end::BatchEnd;
use super::session::BatchSession;
use super::trial_run::execute_trial_run;
use crate::BatchPlan;
use crate::journal::BatchState;
use crate::search::{ObservedTrial, RunObservation, SearchPlan, SearchState, observe_run};
use retrial_results::verdict::ExitCode;
use retrial_run::read_evidence;
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
        let all_states = state.trial_runs.iter();
        let ended_states = all_states.filter(|(number, _)| state.has_ended(**number));
        let mut ended: Vec<_> = ended_states.collect();
        ended.sort_by_key(|(number, state)| (state.started, **number));
        let trials = ended.into_iter().filter_map(|(number, state)| {
            let run = state.run.clone()?;
            let cell = plan.trial_run(*number)?.cell;
            let observed = self.0.entry(run.clone()).or_insert_with(|| {
                let directory = RunDirectory::from_path(home.runs_directory().join(&run));
                match read_evidence(&directory) {
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
        match code.and_then(|code| ExitCode::try_from(code).ok()) {
            None | Some(ExitCode::Interrupted) => {
                let reason = format!("stopped after {} trials", trials.len());
                return ended(ExitCode::Interrupted, Some(reason));
            }
            Some(exit @ (ExitCode::Host | ExitCode::Usage)) => {
                let reason = format!("the search needs {}", batch.describe_trial_run(number));
                return ended(exit, Some(reason));
            }
            Some(_) => {}
        }
    }
}
