//! Requirements on a benchmark on a system, in addition to those on its results.

use super::JudgeContext;
use super::submission::SubmittedBenchmark;
use crate::verdict::RuleCheck;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::SystemType;

/// Rules of the benchmark as a whole.
pub(crate) fn check_benchmark(
    benchmark: &SubmittedBenchmark,
    system: Option<SystemType>,
    judge_context: &JudgeContext<'_>,
) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    for place in benchmark.scenarios.iter().filter(|place| place.scenario().is_none()) {
        checks.push(RuleCheck::violation(
            "scenario",
            format!("folder {}", place.folder),
            "one of MLPerf's scenarios",
        ));
    }
    let Some(round) = judge_context.round else {
        return checks;
    };
    let named = judge_context.official_name(&benchmark.submitter, &benchmark.name);
    let Some((official, rules)) = round.find_benchmark(named) else {
        checks.push(RuleCheck::violation(
            "benchmark",
            named,
            format!(
                "a benchmark of round {}, or a name that model_mapping.json explains",
                round.round
            ),
        ));
        return checks;
    };
    if benchmark.submitter.is_open() {
        let is_unknown = |scenario: &TestScenario| rules.scenarios.get(*scenario).is_none();
        let required = format!("a scenario of {official} in round {}", round.round);
        let unknown = submitted_scenarios(benchmark).filter(is_unknown);
        checks.extend(unknown.map(|scenario| {
            RuleCheck::warning("scenario", scenario.to_string(), required.clone())
        }));
        return checks;
    }
    let own = &benchmark.name;
    if benchmark.submitter.names.contains_key(own) && round.find_benchmark(own).is_none() {
        let measured = format!("{own}, which model_mapping.json calls {named}");
        let required = "the suite's own name, in the closed division";
        checks.push(RuleCheck::warning("benchmark", measured, required));
    }
    let scenarios: Vec<TestScenario> = submitted_scenarios(benchmark).collect();
    for scenario in &scenarios {
        let is_allowed = rules.scenarios.get(*scenario).is_some_and(|rules| {
            system.is_none_or(|system| {
                rules.required.contains(&system) || rules.optional.contains(&system)
            })
        });
        if !is_allowed {
            checks.push(RuleCheck::violation(
                "scenario",
                scenario.to_string(),
                format!("a scenario of {official} for this type of system"),
            ));
        }
    }
    if let (Some(system), true) = (system, benchmark.has_all_scenarios) {
        for missing in round.missing_scenarios(named, system, &scenarios) {
            checks.push(RuleCheck::violation(
                "required scenario",
                format!("{missing} is missing"),
                missing,
            ));
        }
    }
    checks
}

/// Returns the scenarios of its folders.
fn submitted_scenarios(benchmark: &SubmittedBenchmark) -> impl Iterator<Item = TestScenario> {
    let folders = benchmark.scenarios.iter();
    folders.filter_map(super::ScenarioFolder::scenario)
}
