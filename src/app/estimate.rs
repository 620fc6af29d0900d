//! How long runs will take, by the runs of this home.

use crate::app::options::{GlobalOptions, OutputFormat};
use retrial_history::earlier_run::{EarlierRun, step_times};
use retrial_history::{RunIndex, entry};
use retrial_plan::Plan;
use retrial_plan::remaining::{RemainingSteps, StepTimes};
use retrial_report::progress::remaining_time::RemainingTime;
use retrial_store::RunDirectory;

/// The remaining time of a run, for its reporter; empty if the progress is not shown as text.
pub fn estimate_run(global: &GlobalOptions, directory: &RunDirectory) -> RemainingTime {
    if global.quiet || global.output == OutputFormat::Json {
        return RemainingTime::default();
    }
    let Ok(plan) = directory.read_json::<Plan>("plan.json") else {
        return RemainingTime::default();
    };
    let own = step_times(directory, &plan);
    estimate_plan(&mut entry::open_index(&global.home), plan, own)
}

/// The remaining time of a plan whose completed steps are `own`.
pub fn estimate_plan(index: &mut RunIndex, plan: Plan, own: StepTimes) -> RemainingTime {
    let earlier = EarlierRun::find(index, &plan);
    let (run, times) = earlier.map(|one| (one.run, one.times)).unzip();
    RemainingTime::new(RemainingSteps::new(plan, own, times.unwrap_or_default()), run)
}
