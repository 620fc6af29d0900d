//! A submission tree in `MLCommons`' layout, made of runs.

use std::path::Path;

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::judge;
use crate::app::options::{GlobalOptions, JudgeRequest, TreeRequest};
use retrial_document::ErrorText;
use retrial_mlperf::Division;
use retrial_mlperf::rounds::Round;
use retrial_plan::Plan;
use retrial_recipe::{MAX_DOCUMENT_BYTES, Source};
use retrial_results::evidence::other_suite;
use retrial_results::evidence::run::RunFiles;
use retrial_results::verdict::RuleCheck;
use retrial_run::judge_files;
use retrial_store::{RunDirectory, StoreError};
use retrial_submission::export::read;
use retrial_submission::export::write::{self, TreeWriteError};
use retrial_submission::export::{
    self as export, Export, ExportRequest, SourceRun, SystemInfo, Violation,
};

pub struct WrittenTree {
    /// The files of the tree, what it lacks, and the rules that it violates.
    pub export: Export,
    /// Existing files that were replaced, by their path in the tree.
    pub replaced: Vec<String>,
}

/// Exports runs into a directory, by the layout and the rules of a round.
pub fn export_runs(
    global: &GlobalOptions,
    tree_request: &TreeRequest,
) -> Result<WrittenTree, Failure> {
    let mut request = tree_request.tree.clone();
    if let Some(path) = &tree_request.system_info {
        request.info = read_system_info(path)?;
    }
    let rounds = catalog::built_in_rounds();
    let Some(round) = rounds.get("mlperf-inference", &tree_request.layout) else {
        let layouts: Vec<&str> = rounds.round_names().collect();
        return Err(Failure::usage(format!(
            "no layout {}; available: {}",
            tree_request.layout,
            layouts.join(", ")
        )));
    };
    let named_runs = tree_request.runs.iter().map(|run| global.home.find_run(run));
    let runs = named_runs.collect::<Result<Vec<RunDirectory>, StoreError>>()?;
    let mut export = build_export(&runs, &request, round)?;
    let first_note = export.notes.first().cloned();
    if let Some(note) = first_note.filter(|_| export.fell_open) {
        // By the open division's own rules, which are fewer.
        request.division = Some(Division::Open);
        export = build_export(&runs, &request, round)?;
        export.notes.insert(0, note);
    }
    let replaced = write::write_tree(&export.files, &runs, &tree_request.to, tree_request.replace)?;
    if export.is_complete() {
        export.violations = find_violations(&export, &tree_request.to)?;
    }
    Ok(WrittenTree { export, replaced })
}

/// The rules that the written tree violates, as `retrial judge` finds them.
fn find_violations(export: &Export, to: &Path) -> Result<Vec<Violation>, Failure> {
    let request = JudgeRequest { round: Some(export.round.clone()), ..JudgeRequest::default() };
    let Some(trees) = judge::find_trees(to, &request)? else {
        return Ok(Vec::new());
    };
    let mut violations = Vec::new();
    let mut add = |path: &str, rules: &[RuleCheck]| {
        let violated = rules.iter().filter(|rule| !rule.passed);
        violations.extend(
            violated.map(|rule| Violation { path: path.to_owned(), rule: rule.to_string() }),
        );
    };
    let judged = judge::judge_trees(&trees, &request, |judged| {
        add(&judged.benchmark.path, &judged.benchmark.rules);
        for result in &judged.verdict.results {
            add(&result.path, &result.rules);
        }
    })?;
    for fault in judged.faults.iter().filter(|fault| fault.is_violation) {
        let (actual, required) = (&fault.actual, &fault.required);
        add(&fault.path, &[RuleCheck::violation("tree", actual, required)]);
    }
    Ok(violations)
}

fn build_export(
    directories: &[RunDirectory],
    request: &ExportRequest,
    round: &Round,
) -> Result<Export, Failure> {
    let runs = directories
        .iter()
        .map(|directory| read_source_run(directory, request, round))
        .collect::<Result<Vec<SourceRun>, Failure>>()?;
    export::build_export(&runs, request, round)
        .map_err(|refusal| Failure::usage(ErrorText::of(&refusal)))
}

/// Reads a run, judged by the rules of the layout's round, which may differ from the run's own.
fn read_source_run(
    directory: &RunDirectory,
    request: &ExportRequest,
    round: &Round,
) -> Result<SourceRun, Failure> {
    if let Some(other) = other_suite::find_other_suite_summary(&directory.join("results")) {
        return Err(Failure::usage(other.to_string()));
    }
    let mut plan: Plan = directory.read_json("plan.json")?;
    let submission = &plan.submission;
    let benchmark = request.benchmark.as_ref().unwrap_or(&submission.benchmark);
    let own = submission.division.unwrap_or(Division::Open);
    let division = request.division.unwrap_or(own);
    for measured in &mut plan.measurements {
        let scenario = measured.scenario.test_scenario();
        let rules = scenario.and_then(|scenario| round.benchmark_rules(benchmark, scenario));
        measured.rules = rules.map(|rules| rules.in_division(division));
    }
    let state = directory.read_state()?;
    let files = RunFiles::with_telemetry(directory, &plan, &state);
    let verdict = judge_files(&files);
    Ok(read::read_run(&files, verdict)?)
}

/// Reads the submitter's own file, and the calibration document that it names, in the same directory.
fn read_system_info(path: &Path) -> Result<SystemInfo, Failure> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::usage(format!("--system-info: {}: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let source =
        Source::from_bytes(path.display().to_string(), &bytes).map_err(Failure::of_problems)?;
    let mut info = SystemInfo::parse(&source).map_err(Failure::of_problems)?;
    if let Some(calibration) = &info.calibration {
        let calibration_path = path.parent().unwrap_or(Path::new("")).join(calibration);
        let text = std::fs::read_to_string(&calibration_path)
            .map_err(|error| unreadable(&calibration_path, &error))?;
        if text.len() > MAX_DOCUMENT_BYTES {
            return Err(unreadable(&calibration_path, &"it is larger than 1 MiB"));
        }
        info.calibration_text = Some(text);
    }
    Ok(info)
}

impl From<TreeWriteError> for Failure {
    fn from(error: TreeWriteError) -> Self {
        match error {
            TreeWriteError::NotEmpty { .. } => Self::usage(ErrorText::of(&error)),
            TreeWriteError::Store(error) => Self::host(ErrorText::of(&error)),
        }
    }
}
