//! The requirements for acceptance of a tree: scenarios, modes, tests of the audit, and a submitter.

use super::builder::ExportBuilder;
use super::collect::{BenchmarkResults, ScenarioResults};
use retrial_mlperf::Division;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::SystemType;
use retrial_recipe::model::Mode;

impl ExportBuilder<'_> {
    /// Notes the scenarios, modes and tests that a benchmark does not have.
    pub fn report_missing_parts(&mut self, benchmark: &BenchmarkResults<'_>) {
        let tree = &self.tree;
        let paths = tree.paths();
        let results = paths.benchmark_results(&tree.system, &benchmark.folder);
        let is_open = tree.division == Division::Open;
        let Some(official) = &benchmark.official else {
            let item = format!("the benchmark of {} that it implements", self.round.round);
            let fix = "name it with --benchmark NAME (it is written into model_mapping.json)";
            self.add_missing(&results, item, fix);
            return;
        };
        for (scenario, runs) in &benchmark.scenarios {
            self.report_missing_modes(benchmark, *scenario, runs);
            if !is_open {
                self.report_missing_tests(official, benchmark, *scenario, runs);
            }
        }
        let system = self.request.info.system.get("system_type");
        // An unknown type is reported among the system's fields.
        let Some(system) =
            system.and_then(|text| SystemType::from_description(text).ok()).filter(|_| !is_open)
        else {
            return;
        };
        let chosen =
            benchmark.scenarios.values().find_map(|results| results.chosen_trials().next());
        let recipe = chosen.map_or("RECIPE", |chosen| chosen.run.plan.recipe.as_str());
        let present: Vec<TestScenario> = benchmark.scenarios.keys().copied().collect();
        for scenario in self.round.missing_scenarios(official, system, &present) {
            let scenario_name = scenario.split(' ').next().unwrap_or_default();
            let key = scenario_name.to_lowercase();
            let item = format!("{scenario}: {official} needs it in the closed division");
            let has_it = self.runs.iter().any(|run| {
                let mut measured = run.plan.measurements.iter();
                run.plan.recipe == recipe && measured.any(|one| one.has_scenario_name(&key))
            });
            let fix = if has_it {
                format!("retrial run {recipe} --scenario {key}, and export that run too")
            } else {
                format!(
                    "measure it by a recipe that has it, and export that run too ({recipe} did not)"
                )
            };
            self.add_missing(&results, item, fix);
        }
    }

    /// Performance without accuracy, or accuracy without performance.
    fn report_missing_modes(
        &mut self,
        benchmark: &BenchmarkResults<'_>,
        scenario: TestScenario,
        runs: &ScenarioResults<'_>,
    ) {
        let path = self.tree.scenario(&benchmark.folder, scenario.word()).results();
        let (recipe, key) = runs.chosen_trials().next().map_or(("RECIPE", "SCENARIO"), |one| {
            (one.run.plan.recipe.as_str(), one.measurement.key.as_str())
        });
        for (mode, chosen) in
            [(Mode::Performance, &runs.performance), (Mode::Accuracy, &runs.accuracy)]
        {
            if chosen.is_none() {
                let run = format!("retrial run {recipe} --scenario {key} --mode {mode}");
                let fix = format!("{run}, and export that run too");
                self.add_missing(&path, format!("the {mode} run"), fix);
            }
        }
    }

    fn report_missing_tests(
        &mut self,
        official: &str,
        benchmark: &BenchmarkResults<'_>,
        scenario: TestScenario,
        runs: &ScenarioResults<'_>,
    ) {
        let round = self.round;
        let rules = round.benchmark_rules(official, scenario);
        for (test, _) in rules.iter().flat_map(|rules| &rules.compliance) {
            if runs.tests.contains_key(test) {
                continue;
            }
            let fix = match runs.without_test.first() {
                Some(chosen) => format!(
                    "run {} did the audit but collected no folder {test}: name it in `results:` under `compliance:`",
                    chosen.run.id
                ),
                None => format!(
                    "run the audit's {test} in a `compliance:` mode whose `results:` is its folder {test}"
                ),
            };
            let paths = self.tree.scenario(&benchmark.folder, scenario.word());
            let path = format!("{}/{test}", paths.compliance(self.tree.layout));
            self.add_missing(&path, format!("compliance test {test}"), fix);
        }
    }

    /// A re-run is not the vendor's submission, so the recipe's submitter is not used.
    pub fn report_missing_submitter(&mut self) {
        if self.request.submitter().is_some() {
            return;
        }
        let first = self.runs.first();
        let published = first.and_then(|run| run.plan.submission.submitter.as_deref());
        let fix = match published {
            Some(name) => format!("--submitter NAME ({name} published the recipe's figures)"),
            None => "--submitter NAME".to_owned(),
        };
        self.add_missing(&self.tree.paths().root(), "the submitter", fix);
    }
}
