//! `retrial export`: a submission tree in `MLCommons`' layout, made of runs.

use std::path::Path;

use super::arguments::ExportArguments;
use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::export::read;
use crate::export::write::{self, SubmissionError};
use crate::export::{self, Division, Export, ExportRequest, SourceRun, SystemInfo};
use crate::plan::Plan;
use crate::report::content;
use crate::results::evidence::run::RunFiles;
use crate::results::evidence::telemetry;
use crate::results::verdict::ExitCode;
use crate::run::judge_files;
use crate::store::journal::Journal;
use crate::store::journal::State;
use crate::store::{RunDirectory, StoreError};
use retrial_mlperf::loadgen::Scenario;
use retrial_mlperf::rounds::Round;
use retrial_recipe::{SIZE_LIMIT, Source};

/// Exports runs; the exit code says whether the tree is complete.
pub fn export(global: &GlobalOptions, arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let rounds = catalog::rounds();
    let Some(round) = rounds.get("mlperf-inference", &arguments.layout) else {
        let known: Vec<&str> = rounds.names().collect();
        return Err(Failure::usage(format!(
            "no layout {}; there are: {}",
            arguments.layout,
            known.join(", ")
        )));
    };
    let home = global.home.clone();
    let directories = arguments
        .runs
        .iter()
        .map(|run| home.find(run))
        .collect::<Result<Vec<RunDirectory>, StoreError>>()?;
    let mut asked = arguments.request.clone();
    if let Some(path) = &arguments.system_info {
        asked.info = info(path)?;
    }
    let mut export = attempt(&directories, &asked, round)?;
    let fell = export.notes.first().cloned();
    if let Some(note) = fell.filter(|_| export.fell_open) {
        // By the open division's own rules, which are fewer.
        asked.division = Some(Division::Open);
        export = attempt(&directories, &asked, round)?;
        export.notes.insert(0, note);
    }
    let to = &arguments.to;
    let replaced = write::write(&export.files, &directories, to, arguments.replace)?;
    if !replaced.is_empty() && !global.quiet {
        let first = replaced.first().map_or("", String::as_str);
        terminal::note(&format!(
            "{}: {} replaced, {first} among them",
            to.display(),
            crate::format::count(replaced.len(), "file")
        ));
    }
    let shown = to.display().to_string();
    match global.output {
        Output::Json => terminal::print(&content::export::json(&export, &shown)),
        _ => terminal::show(&content::export::document(&export, &shown)),
    }
    Ok(exit(&export))
}

fn attempt(
    directories: &[RunDirectory],
    asked: &ExportRequest,
    round: &Round,
) -> Result<Export, Failure> {
    let runs = directories
        .iter()
        .map(|directory| read(directory, asked, round))
        .collect::<Result<Vec<SourceRun>, Failure>>()?;
    export::build(&runs, asked, round).map_err(|refusal| Failure::usage(refusal.to_string()))
}

/// The exit codes of `judge`: a violated rule is invalid, a missing item inconclusive.
fn exit(export: &Export) -> ExitCode {
    if !export.violations.is_empty() {
        ExitCode::NotReproduced
    } else if !export.missing.is_empty() {
        ExitCode::Inconclusive
    } else {
        ExitCode::Success
    }
}

/// Reads a run, judged by the rules of the layout's round: its own may have been another one.
fn read(
    directory: &RunDirectory,
    asked: &ExportRequest,
    round: &Round,
) -> Result<SourceRun, Failure> {
    let mut plan: Plan = directory.read_json("plan.json")?;
    let submission = &plan.submission;
    let benchmark = asked.benchmark.as_ref().unwrap_or(&submission.benchmark);
    let own = submission.division.as_deref().unwrap_or("open");
    let division = asked
        .division
        .map_or_else(|| own.to_owned(), |division| division.to_string());
    for measured in &mut plan.measurements {
        let scenario = Scenario::from_word(&measured.scenario);
        let rules = scenario.and_then(|scenario| round.rules(benchmark, scenario));
        measured.rules = rules.map(|rules| rules.in_division(&division));
    }
    let state = State::of(&Journal::read(&directory.journal())?);
    let files = RunFiles {
        directory,
        plan: &plan,
        state: &state,
        telemetry: telemetry::rows(directory),
    };
    let verdict = judge_files(&files, false);
    Ok(read::read(&files, verdict)?)
}

/// The submitter's own file, and the calibration document that it names, beside it.
fn info(path: &Path) -> Result<SystemInfo, Failure> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::usage(format!("--system-info: {}: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let told = |problems: retrial_recipe::Diagnostics| {
        terminal::note(&problems.render(terminal::error_color()));
        Failure::told(ExitCode::Usage)
    };
    let source = Source::from_bytes(path.display().to_string(), &bytes).map_err(told)?;
    let mut info = SystemInfo::parse(&source).map_err(told)?;
    if let Some(calibration) = &info.calibration {
        let path = path.parent().unwrap_or(Path::new("")).join(calibration);
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        if text.len() > SIZE_LIMIT {
            return Err(unreadable(&path, &"it is larger than 1 MiB"));
        }
        info.calibration_text = Some(text);
    }
    Ok(info)
}

impl From<SubmissionError> for Failure {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::Taken { .. } => Self::usage(error.to_string()),
            SubmissionError::Store(error) => Self::host(error.to_string()),
        }
    }
}
