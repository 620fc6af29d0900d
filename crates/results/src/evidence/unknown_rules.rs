//! Reasons why no round's rules are known for a result, and what to specify so that it can be judged.

use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::rounds::Round;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{Mode, Submission};

/// The suite whose rules are known by round.
const SUITE: &str = "mlperf-inference";

/// Returns the reason for a result without a recipe; `round` is the one that the command line or the seeds name.
pub fn reason_for_result(
    round: Option<&Round>,
    benchmark: &str,
    scenario: &ScenarioName,
) -> String {
    match round {
        None => "its seeds are of no known round (choose one: --round ROUND; add its rules: \
                 --rules FILE)"
            .to_owned(),
        Some(round) if benchmark.is_empty() => format!(
            "its benchmark in round {} is not known (name it: --benchmark NAME)",
            round.round
        ),
        Some(round) => format!(
            "round {} has no rules of {benchmark} in {scenario} (name another: --benchmark NAME)",
            round.round
        ),
    }
}

/// Returns whether a result without rules is one that rules would be asked for: a log that states no
/// seeds, as an accuracy run's summary, tells nothing about its round.
pub fn needs_rules(run: &LoadgenRun, mode: Mode) -> bool {
    mode == Mode::Performance || run.parameters().qsl_rng_seed.is_some()
}

/// Returns the reason for a recipe's measurement; none where its rules are known, or where its suite has none.
pub fn reason_for_recipe(submission: &Submission, measured: &MeasurementPlan) -> Option<String> {
    let is_ruled = submission.suite == SUITE && measured.loadgen;
    if !is_ruled || measured.rules.is_some() || measured.mode == Mode::Compliance {
        return None;
    }
    let (benchmark, scenario) = (&submission.benchmark, &measured.scenario);
    Some(match &submission.round {
        None => "the recipe states no round (add `round:` to `submission`)".to_owned(),
        Some(round) => format!(
            "no rules of {benchmark} in {scenario} are known for {round} (add them: --rules FILE)"
        ),
    })
}
