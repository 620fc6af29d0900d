//! How long the steps of runs took, from their journals.

use crate::{RunFilter, RunIndex, RunSummary};
use retrial_plan::Plan;
use retrial_plan::remaining::StepTimes;
use retrial_results::verdict::ExitCode;
use retrial_store::RunDirectory;

/// The latest run of a recipe that was judged on this machine, and how long its steps took.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierRun {
    /// The id of that run.
    pub run: String,
    /// How long each of its completed steps took.
    pub times: StepTimes,
}

impl EarlierRun {
    /// Finds the latest run of the same resolved recipe; none if there is none yet.
    pub fn find(index: &mut RunIndex, plan: &Plan) -> Option<Self> {
        let counts = |row: &RunSummary| {
            let exit = row.exit_code.and_then(|code| ExitCode::try_from(code).ok());
            row.recipe_hash == plan.recipe_hash
                && row.imported_from.is_none()
                && exit.is_some_and(ExitCode::is_judgement)
        };
        let row = index.runs(&RunFilter::default()).into_iter().rfind(counts)?;
        let directory = RunDirectory::from_path(row.path);
        let plan: Plan = directory.read_json("plan.json").ok()?;
        let times = step_times(&directory, &plan);
        Some(Self { run: row.id, times })
    }
}

/// Returns how long the completed steps of a run took; nothing if it has no journal yet.
pub fn step_times(directory: &RunDirectory, plan: &Plan) -> StepTimes {
    let state = directory.read_state().unwrap_or_default();
    let mut times = StepTimes::default();
    for (number, (_, ended)) in state.ended.iter().filter(|(_, (end, _))| end.is_done()) {
        if let Some(started) = state.started.get(number) {
            let seconds = started.duration_until(ended).as_secs_f64();
            times.add(plan, *number, seconds);
        }
    }
    times
}
