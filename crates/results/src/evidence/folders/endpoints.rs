//! Results of endpoints, which outside of a submission only a recipe says how to judge.

use super::candidates::Candidate;
use super::found::FoundTrial;
use super::layout::PlanMeasurements;
use crate::evidence::endpoints::{accuracy_file, performance_file, read_performance};
use crate::evidence::unknown_rules;
use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen::TestScenario;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Finds the trials in a folder, of the measurements of its scenario and mode. A folder of no
/// scenario's name is of those that its configuration may be of.
pub(super) fn find_trials(
    measurements: &PlanMeasurements<'_>,
    candidate: &Candidate,
) -> Vec<FoundTrial> {
    let Candidate { folder, place, .. } = candidate;
    let configured = read_performance(folder).ok().and_then(|run| run.scenario);
    // The folder of a scenario has its speed; accuracy may not have been measured.
    let is_whole = place.scenario.is_some() && place.mode.is_none();
    let is_there = |mode: Mode| match mode {
        Mode::Compliance => false,
        Mode::Accuracy => accuracy_file(folder).is_some(),
        Mode::Performance => is_whole || performance_file(folder).is_some(),
    };
    let is_measured = |one: &&MeasurementPlan| {
        one.loadgen
            && place.mode.is_none_or(|mode| mode == one.mode)
            && is_there(one.mode)
            && match &place.scenario {
                Some(name) => one.has_scenario_name(name),
                None => configured.is_none_or(|scenario| may_be_scenario(&one.scenario, scenario)),
            }
    };
    let measured = measurements.selection().filter(is_measured);
    let trials = measured.map(|one| FoundTrial {
        unknown_rules: unknown_rules::reason_for_recipe(&measurements.plan.submission, one),
        ..FoundTrial::new(one.clone(), candidate)
    });
    trials.collect()
}

/// Returns whether a recipe's scenario may be one that is configured: `online` is any but Offline.
fn may_be_scenario(scenario: &ScenarioName, configured: TestScenario) -> bool {
    let is_offline = scenario.test_scenario() == Some(TestScenario::Offline);
    is_offline == (configured == TestScenario::Offline)
}
