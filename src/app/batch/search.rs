//! The verdict on a search: its cells as a batch's, the pair of neighbours, and what differs between
//! the two environments.

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_batch::BatchPlan;
use retrial_batch::run::{RunObservations, evidence_of_cells, read_state};
use retrial_batch::search::{self, SearchPlan, SearchState, SearchVerdict};
use retrial_batch::verdict::{BatchVerdict, judge_batch};
use retrial_recipe::model::Mode;
use retrial_results::evidence::environment;
use retrial_results::verdict::comparison::{
    EnvironmentGroup, Fact, FactGroup, compare_fact_groups,
};
use retrial_store::{Home, RecordDirectory, RunDirectory};

/// Judges the current evidence of a search.
pub fn judge_search_directory(
    global: &GlobalOptions,
    directory: &RecordDirectory,
    plan: &BatchPlan,
    search: &SearchPlan,
) -> Result<BatchVerdict, Failure> {
    let home = &global.home;
    let state = read_state(directory)?;
    let trials = RunObservations::default().ended_trials(home, plan, search, &state);
    let mut outcome = search::judge_search(plan, &SearchState::new(plan, search, &trials));
    outcome.changes = environment_changes(home, &outcome);
    // A cell without measurements has no row.
    let mut cells = evidence_of_cells(home, directory, plan)?;
    cells.retain(|cell| !cell.runs.is_empty());
    let mut measured = plan.clone();
    measured.cells.retain_mut(|cell| {
        let evidence = cells.iter().find(|one| one.name == cell.name);
        cell.trials = evidence.map_or(0, |one| u32::try_from(one.runs.len()).unwrap_or(u32::MAX));
        cell.trials > 0
    });
    let mut verdict = judge_batch(Some(directory.id()), &measured, &cells, &[]);
    // The figure that is searched is the one to show.
    let verdicts = verdict.cells.iter_mut().flat_map(|cell| &mut cell.verdict);
    for result in verdicts.flat_map(|verdict| &mut verdict.results) {
        if result.mode == Mode::Performance && result.figures.contains_key(&outcome.figure) {
            result.deciding = Some(outcome.figure.clone());
        }
    }
    verdict.sentence.clone_from(&outcome.sentence);
    verdict.exit_code = outcome.exit_code;
    verdict.search = Some(outcome);
    Ok(verdict)
}

/// The differences between the environments of the two neighbours, in their latest runs. Telemetry is
/// of one run only, and the runs' own parameters are the axis.
fn environment_changes(home: &Home, outcome: &SearchVerdict) -> Vec<EnvironmentGroup> {
    let facts = |value: &Option<String>| -> Option<Vec<Fact>> {
        let mut trials = outcome.trials.iter().rev();
        let trial = trials.find(|trial| Some(&trial.value) == value.as_ref())?;
        let all = environment::facts_of_run(&RunDirectory::from_path(
            home.runs_directory().join(&trial.run),
        ));
        let lasting = all.into_iter().filter(|fact| fact.group != FactGroup::Telemetry);
        Some(lasting.collect())
    };
    let (Some(before), Some(after)) = (facts(&outcome.before), facts(&outcome.after)) else {
        return Vec::new();
    };
    let names = [&outcome.before, &outcome.after].map(|value| value.clone().unwrap_or_default());
    compare_fact_groups(&names, &[&before, &after])
}
