//! What acceptance asks of the whole: scenarios, modes, tests of the audit, and who submits.

use super::choose::Chosen;
use super::gather::{OfBenchmark, OfScenario};
use super::layout::Tree;
use super::model::{Division, ExportRequest, RunRead};
use super::result::Gathered;
use retrial_mlperf::loadgen::Scenario;
use retrial_mlperf::rounds::{Round, SystemType};
use retrial_recipe::model::Mode;

/// Scenarios, modes and tests that a benchmark lacks.
pub(super) fn of_benchmark(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    asked: &ExportRequest,
    round: &Round,
) {
    let results = format!(
        "{}/results/{}/{}",
        tree.root(),
        tree.system,
        benchmark.folder
    );
    let Some(official) = &benchmark.official else {
        gathered.lacks(
            &results,
            format!("the benchmark of {} that it stands for", round.round),
            "say which: --benchmark NAME (it is written into model_mapping.json)",
        );
        return;
    };
    let recipe = benchmark
        .scenarios
        .values()
        .find_map(|one| one.chosen().next())
        .map_or("RECIPE", |one| one.run.plan.recipe.as_str());
    for (scenario, of) in &benchmark.scenarios {
        modes(gathered, tree, benchmark, *scenario, of);
        if tree.division == Division::Closed {
            tests(gathered, tree, benchmark, *scenario, of, round);
        }
    }
    if tree.division == Division::Open {
        return;
    }
    let system = asked.info.system.get("system_type");
    let Some(system) = system.and_then(|text| text.parse::<SystemType>().ok()) else {
        // That it is not known is told among the fields; which scenarios it asks for is not known then.
        return;
    };
    let found: Vec<Scenario> = benchmark.scenarios.keys().copied().collect();
    for scenario in round.missing_scenarios(official, system, &found) {
        let key = scenario
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        gathered.lacks(
            &results,
            format!("{scenario}: {official} needs it in the closed division"),
            format!("retrial run {recipe} --scenario {key}, and export that run too"),
        );
    }
}

/// Performance without accuracy, and the other way round.
fn modes(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    scenario: Scenario,
    of: &OfScenario<'_>,
) {
    let place = tree.results(&benchmark.folder, scenario.as_str());
    let other = of.chosen().next();
    for (mode, found) in [
        (Mode::Performance, &of.performance),
        (Mode::Accuracy, &of.accuracy),
    ] {
        if found.is_none() {
            gathered.lacks(&place, format!("the {mode} run"), run_it(other, mode));
        }
    }
}

fn run_it(other: Option<&Chosen<'_>>, mode: Mode) -> String {
    let (recipe, key) = other.map_or(("RECIPE", "SCENARIO"), |one| {
        (one.run.plan.recipe.as_str(), one.measured.key.as_str())
    });
    format!("retrial run {recipe} --scenario {key} --mode {mode}, and export that run too")
}

fn tests(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    scenario: Scenario,
    of: &OfScenario<'_>,
    round: &Round,
) {
    let Some(rules) = benchmark
        .official
        .as_ref()
        .and_then(|name| round.rules(name, scenario))
    else {
        return;
    };
    for (test, _) in &rules.compliance {
        if of.tests.contains_key(test) {
            continue;
        }
        let advice = match of.without_test.first() {
            Some(chosen) => format!(
                "run {} did the audit and kept no folder {test}: collect it, `results:` under `compliance:`",
                chosen.run.id
            ),
            None => format!(
                "run the audit's {test} in a `compliance:` mode whose `results:` is its folder {test}"
            ),
        };
        let place = tree.compliance(&benchmark.folder, scenario.as_str(), test);
        gathered.lacks(&place, format!("compliance test {test}"), advice);
    }
}

/// A re-run is not the vendor's submission.
pub(super) fn submitter(
    gathered: &mut Gathered,
    tree: &Tree,
    asked: &ExportRequest,
    runs: &[RunRead],
) {
    if asked.submitter.is_some() || asked.info.system.contains_key("submitter") {
        return;
    }
    let published = runs
        .first()
        .and_then(|run| run.plan.submission.submitter.as_deref());
    let advice = match published {
        Some(name) => format!("--submitter NAME: {name} is who published the recipe's figures"),
        None => "--submitter NAME".to_owned(),
    };
    gathered.lacks(&tree.root(), "who submits", advice);
}
