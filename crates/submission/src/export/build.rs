//! From runs to a submission's files.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use serde_json::{Map, Value};

use super::builder::{ExportBuilder, SubmittedSystem, to_indented_json, trial_file_origin};
use super::choose::RepresentativeTrial;
use super::collect::{BenchmarkResults, ScenarioResults, collect_results};
use super::model::{
    Export, ExportError, ExportRequest, ExportedResult, SourceFile, SourceRun, TreeFileContent,
    Violation,
};
use super::{names, readme, system, user_conf};
use retrial_mlperf::Division;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::{Round, SubmissionLayout};
use retrial_mlperf::submission::fields::MEASUREMENT_FIELDS;
use retrial_mlperf::submission_layout::{
    ACCURACY_FOLDER, BENCHMARK_NAMES_FILE, CALIBRATION_FILE, PERFORMANCE_RUN,
};
use retrial_recipe::model::Submission;
use retrial_results::verdict::{Outcome, trademark_notice};

/// Makes a submission of runs, by a round's layout and rules.
///
/// # Errors
/// If the runs do not fit into one tree, or violate a rule of the requested division.
pub fn build_export(
    runs: &[SourceRun],
    request: &ExportRequest,
    round: &Round,
) -> Result<Export, ExportError> {
    let mut benchmarks = collect_results(runs, request, round)?;
    let mut notes = Vec::new();
    let violations = collect_violations(&benchmarks, round);
    let division = decide_division(runs, request, &benchmarks, &violations, &mut notes)?;
    if division == Division::Closed {
        // Only the open division may have names of its own.
        for benchmark in benchmarks.iter_mut().filter(|one| one.is_mapped(round)) {
            benchmark.folder = benchmark.official.clone().unwrap_or_default();
        }
    }
    let fell_open = request.division.is_none() && !notes.is_empty();
    let submission = Submission {
        suite: round.suite.clone(),
        round: Some(round.round.clone()),
        division: Some(division),
        benchmark: benchmarks.iter().map(|one| &one.folder).join(", "),
        ..Submission::default()
    };
    let tree = submission_tree(runs, request, round, division);
    let reported_violations = violations
        .into_iter()
        .filter(|one| division == Division::Closed || !one.closed_only)
        .map(|one| Violation {
            path: tree.scenario(&benchmarks[one.benchmark].folder, one.scenario.word()).results(),
            rule: one.rule,
        });
    let export = Export {
        round: round.round.clone(),
        division,
        fell_open,
        submitter: tree.submitter.clone(),
        system: tree.system.clone(),
        results: Vec::new(),
        violations: reported_violations.collect(),
        missing: Vec::new(),
        notes,
        files: Vec::new(),
        notice: trademark_notice(&submission),
    };
    let mut builder = ExportBuilder { runs, request, round, tree, export, rows: Vec::new() };
    for benchmark in &benchmarks {
        for (scenario, results) in &benchmark.scenarios {
            builder.add_scenario(benchmark, *scenario, results);
        }
        builder.report_missing_fields(benchmark);
        builder.add_code(benchmark);
        builder.report_missing_parts(benchmark);
    }
    builder.add_shared_files(&benchmarks);
    builder.export.missing.sort();
    builder.export.missing.dedup();
    builder.add_tree_readme();
    let mut export = builder.export;
    export.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(export)
}

impl ExportBuilder<'_> {
    /// Files of a benchmark in one scenario.
    fn add_scenario(
        &mut self,
        benchmark: &BenchmarkResults<'_>,
        scenario: TestScenario,
        runs: &ScenarioResults<'_>,
    ) {
        let (folder, scenario_folder) = (benchmark.folder.as_str(), scenario.word());
        let paths = self.tree.scenario(folder, scenario_folder);
        let layout = self.tree.layout;
        let (results, compliance) = (paths.results(), paths.compliance(layout));
        let measurements = paths.measurements(layout);
        let measurements_file = paths.measurements_file(layout);
        let first_row = self.rows.len();
        if let Some(chosen) = &runs.performance {
            let path = format!("{results}/{PERFORMANCE_RUN}");
            self.add_performance_logs(chosen, &path);
            self.add_result(folder, scenario, chosen, None, path);
        }
        if let Some(chosen) = &runs.accuracy {
            let path = format!("{results}/{ACCURACY_FOLDER}");
            self.add_accuracy_files(chosen, &path);
            self.add_result(folder, scenario, chosen, None, path);
        }
        for (test, (chosen, below)) in &runs.tests {
            let path = format!("{compliance}/{test}");
            self.add_compliance_files(chosen, below, test, &path);
            self.add_result(folder, scenario, chosen, Some(test), path);
        }
        self.add_configuration(&measurements, scenario_folder, runs);
        let title = format!("{folder}, {scenario_folder}");
        let text = readme::render_readme(&title, &self.rows[first_row..]);
        self.add_text(format!("{measurements}/README.md"), text);
        let info = &self.request.info;
        let fields = MEASUREMENT_FIELDS.map(|field| {
            let value = info.measurement_field(folder, field).unwrap_or_default();
            (field.to_owned(), Value::from(value))
        });
        self.add_text(measurements_file, to_indented_json(Map::from_iter(fields)));
    }

    /// `user.conf`, and `mlperf.conf`, which is built into `LoadGen` and not required since v5.0.
    fn add_configuration(&mut self, folder: &str, scenario: &str, runs: &ScenarioResults<'_>) {
        let measured = || runs.performance.iter().chain(&runs.accuracy);
        for name in ["user.conf", "mlperf.conf"] {
            let path = format!("{folder}/{name}");
            if let Some(chosen) = measured().find(|one| one.files.files.contains_key(name)) {
                self.add_file(path, TreeFileContent::Copy(trial_file_origin(chosen, name)));
            } else if name == "mlperf.conf" {
            } else if let Some(text) = measured().find_map(|one| {
                user_conf::reconstruct_user_conf(scenario, &one.run.id, &one.files.parameters)
            }) {
                let note = "reconstructed from the settings that LoadGen logged";
                self.export.notes.push(format!("{path}: {note}"));
                self.add_text(path, text);
            } else {
                let fix =
                    "no log has the settings: let the benchmark keep its user.conf in `results:`";
                self.add_missing(folder, name, fix);
            }
        }
    }

    /// Fields without a value, once for all scenarios.
    fn report_missing_fields(&mut self, benchmark: &BenchmarkResults<'_>) {
        let all_scenarios = self.tree.scenario(&benchmark.folder, "*");
        let path = all_scenarios.measurements_file(self.tree.layout);
        let info = &self.request.info;
        for field in MEASUREMENT_FIELDS {
            if info.measurement_field(&benchmark.folder, field).is_none() {
                let fix = "no run records it; state it under `measurements` in --system-info";
                self.add_missing(&path, field, fix);
            }
        }
    }

    fn add_result(
        &mut self,
        folder: &str,
        scenario: TestScenario,
        chosen: &RepresentativeTrial<'_>,
        test: Option<&String>,
        path: String,
    ) {
        let figure = chosen.figure.clone().filter(|_| test.is_none());
        let result = ExportedResult {
            benchmark: folder.to_owned(),
            scenario,
            mode: chosen.measurement.mode,
            test: test.cloned(),
            path,
            run: chosen.run.id.clone(),
            trial: chosen.files.trial,
            trials: chosen.trials,
            reason: chosen.reason.clone(),
            figures: figure.into_iter().collect(),
        };
        self.rows.push(readme::render_result_row(result.label(), chosen));
        self.export.results.push(result);
    }

    fn add_tree_readme(&mut self) {
        let export = &self.export;
        let title = format!(
            "{}, {}, {} division, layout of {}",
            export.submitter, export.system, export.division, export.round
        );
        let notice = export.notice.as_ref().map(|notice| format!("\n**{notice}**\n"));
        let text = readme::render_readme(&title, &self.rows) + &notice.unwrap_or_default();
        self.add_text("README.md".to_owned(), text);
    }

    /// The recipe and the steps of each run, from which it can be repeated.
    fn add_code(&mut self, benchmark: &BenchmarkResults<'_>) {
        let chosen = benchmark.scenarios.values().flat_map(ScenarioResults::chosen_trials);
        let used: BTreeMap<usize, &SourceRun> =
            chosen.map(|chosen| (chosen.index, &self.runs[chosen.index])).collect();
        let folder = self.tree.paths().code(self.tree.layout, &benchmark.folder);
        for (index, run) in &used {
            let own = format!("{folder}/{}", names::to_folder_name(&run.id));
            let recipe = SourceFile { run: *index, path: "recipe.yaml".to_owned() };
            self.add_file(format!("{own}/recipe.yaml"), TreeFileContent::Copy(recipe));
            self.add_text(
                format!("{own}/run.sh"),
                retrial_plan::shell::render_script(&run.plan, &[]),
            );
        }
    }

    /// Files that a tree has once: the system, calibration, names of benchmarks.
    fn add_shared_files(&mut self, benchmarks: &[BenchmarkResults<'_>]) {
        self.report_missing_submitter();
        self.add_system_file();
        let root = self.tree.paths().root();
        match &self.request.info.calibration_text {
            Some(text) => self.add_text(format!("{root}/{CALIBRATION_FILE}"), text.clone()),
            // Since v6.0 the checker does not look for it.
            None if self.tree.division == Division::Closed
                && self.tree.layout == SubmissionLayout::Separate =>
            {
                let item = "calibration.md: how the weights were quantized";
                self.add_missing(&root, item, "`calibration: FILE` in --system-info");
            }
            None => {}
        }
        let mapped = benchmarks.iter().filter(|one| one.is_mapped(self.round));
        let mapping: Map<String, Value> = mapped
            .filter_map(|one| Some((one.folder.clone(), Value::from(one.official.clone()?))))
            .collect();
        if !mapping.is_empty() {
            self.add_text(format!("{root}/{BENCHMARK_NAMES_FILE}"), to_indented_json(mapping));
        }
    }
}

fn submission_tree(
    runs: &[SourceRun],
    request: &ExportRequest,
    round: &Round,
    division: Division,
) -> SubmittedSystem {
    let first = runs.first();
    let published = || first.and_then(|run| run.plan.submission.submitter.clone());
    let submitter = request.submitter().or_else(published).unwrap_or_default();
    let requested_system = request.system.clone();
    let system =
        requested_system.or_else(|| first.map(system::default_system_name)).unwrap_or_default();
    SubmittedSystem {
        layout: round.layout,
        division,
        submitter: names::to_folder_name(&submitter),
        system: names::to_folder_name(&system),
    }
}

/// A violated rule, before the result's path is known.
struct RuleViolation {
    /// The benchmark's position among those of the export.
    benchmark: usize,
    scenario: TestScenario,
    rule: String,
    /// The open division does not have this rule.
    closed_only: bool,
}

fn collect_violations(benchmarks: &[BenchmarkResults<'_>], round: &Round) -> Vec<RuleViolation> {
    let mut violations = Vec::new();
    for (index, benchmark) in benchmarks.iter().enumerate() {
        let mut add = |scenario: TestScenario, closed_only: bool, rule: String| {
            violations.push(RuleViolation { benchmark: index, scenario, rule, closed_only });
        };
        for (scenario, runs) in &benchmark.scenarios {
            if let Some(official) = &benchmark.official
                && round.benchmark_rules(official, *scenario).is_none()
            {
                add(*scenario, false, format!("{official} has no {scenario} in {}", round.round));
            }
            let mut reported: Vec<(&str, &str)> = Vec::new();
            for (run, verdict) in
                runs.chosen_trials().filter_map(|one| Some((one.run, one.verdict?)))
            {
                // A run of the audit has a verdict for all its tests.
                let result = (run.id.as_str(), verdict.path.as_str());
                if verdict.outcome != Outcome::Invalid || reported.contains(&result) {
                    continue;
                }
                reported.push(result);
                let mode = verdict.mode;
                let violated: Vec<_> = verdict.rules.iter().filter(|rule| !rule.passed).collect();
                for rule in &violated {
                    let trial = rule.trial.map(|trial| format!(", trial {trial}"));
                    let trial_suffix = trial.unwrap_or_default();
                    add(*scenario, false, format!("{mode}{trial_suffix}: {rule}"));
                }
                if violated.is_empty() {
                    add(*scenario, false, format!("{mode}: {}", verdict.sentence));
                }
            }
        }
        if let (None, Some(scenario)) = (&benchmark.official, benchmark.scenarios.keys().next()) {
            let rule = format!("{} is not a benchmark of {}", benchmark.folder, round.round);
            add(*scenario, true, rule);
        }
    }
    violations
}

/// Closed only if no rule is violated: otherwise a request for it is an error, and a recipe's own
/// division becomes open.
fn decide_division(
    runs: &[SourceRun],
    request: &ExportRequest,
    benchmarks: &[BenchmarkResults<'_>],
    violations: &[RuleViolation],
    notes: &mut Vec<String>,
) -> Result<Division, ExportError> {
    let rules = || -> Vec<String> {
        let line = |violation: &RuleViolation| {
            let folder = &benchmarks[violation.benchmark].folder;
            format!("  {folder} {}: {}", violation.scenario, violation.rule)
        };
        violations.iter().map(line).collect()
    };
    let is_closed = |run: &SourceRun| run.plan.submission.division == Some(Division::Closed);
    match (request.division, violations.is_empty()) {
        (Some(Division::Closed), false) => Err(ExportError::NotClosed { violations: rules() }),
        (Some(division), _) => Ok(division),
        (None, true) if runs.iter().all(is_closed) => Ok(Division::Closed),
        (None, false) if runs.iter().all(is_closed) => {
            let listed_rules = rules().join(";");
            notes.push(format!("open, not closed as in the recipe:{listed_rules}"));
            Ok(Division::Open)
        }
        (None, _) => Ok(Division::Open),
    }
}
