//! `retrial judge`: a verdict on results that are already there. Needs no engine.

use std::path::{Path, PathBuf};

use super::arguments::{Global, Output, PlanArguments, RecipeArguments};
use super::failure::Failure;
use super::{open, supervise, terminal};
use crate::evidence::folder;
use crate::plan::Plan;
use crate::plan::measurement::MeasurementPlan;
use crate::recipe::model::{Mode, Submission, Trials};
use crate::runner::judge_run;
use crate::store::RunDirectory;
use crate::verdict::{self, Context, Evidence, ExitCode, Verdict};

/// Judges a run by its files, or folders of `LoadGen` results.
pub fn judge(
    global: &Global,
    directory: &str,
    recipe: Option<&str>,
    scenario: Option<&str>,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    let path = Path::new(directory);
    if path.is_dir() && !path.join("plan.json").exists() {
        let verdict = judge_folders(global, path, recipe, scenario, require_accuracy)?;
        print_folders(global, &verdict, path);
        return Ok(verdict.exit_code);
    }
    let run = if path.join("plan.json").exists() {
        let path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("{directory}: {error}")))?;
        RunDirectory::at(path)
    } else {
        open::home(global).find(directory)?
    };
    let verdict = judge_run(&run, require_accuracy)?;
    supervise::print(global, &verdict, &run.path().display().to_string());
    Ok(verdict.exit_code)
}

fn print_folders(global: &Global, verdict: &Verdict, path: &Path) {
    if global.output == Output::Json && verdict.results.len() != 1 {
        terminal::print(&format!(
            "{}\n",
            serde_json::json!({ "results": verdict.results })
        ));
    } else {
        supervise::print(global, verdict, &path.display().to_string());
    }
}

/// Every result in or below a directory.
fn judge_folders(
    global: &Global,
    directory: &Path,
    recipe: Option<&str>,
    scenario: Option<&str>,
    require_accuracy: bool,
) -> Result<Verdict, Failure> {
    let folders = folder::find_all(directory);
    if folders.is_empty() {
        return Err(Failure::usage(format!(
            "{}: neither a run of ours (plan.json) nor a result of LoadGen ({}) is in or below it",
            directory.display(),
            folder::SUMMARY
        )));
    }
    let plan = recipe.map(|recipe| plan_of(global, recipe)).transpose()?;
    let mut evidence: Vec<Evidence> = Vec::new();
    for relative in &folders {
        add(&mut evidence, directory, relative, plan.as_ref(), scenario)?;
    }
    let mut context = Context {
        submission: Submission {
            benchmark: name_of(directory),
            ..Submission::default()
        },
        require_accuracy,
        ..Context::default()
    };
    if let Some(plan) = plan {
        context.submission = plan.submission;
        context.rules = plan.judge;
        context.variant = plan.variant;
    }
    Ok(verdict::judge(&context, &evidence))
}

/// One folder's result: a further trial of a measurement that is there, or a new one.
fn add(
    evidence: &mut Vec<Evidence>,
    directory: &Path,
    relative: &Path,
    plan: Option<&Plan>,
    scenario: Option<&str>,
) -> Result<(), Failure> {
    let shown = directory.join(relative);
    let run = folder::read(&shown)
        .map_err(|error| Failure::usage(format!("{}: {error}", shown.display())))?;
    let mode = match run.mode() {
        Some(crate::logs::loadgen::Mode::Accuracy) => Mode::Accuracy,
        // An accuracy summary holds only its two last lines: then the folder's name tells.
        None if relative
            .components()
            .chain(directory.components())
            .any(|part| part.as_os_str() == "accuracy") =>
        {
            Mode::Accuracy
        }
        _ => Mode::Performance,
    };
    let said = run.scenario().map(|scenario| scenario.as_str().to_owned());
    let name = scenario
        .map(str::to_owned)
        .or_else(|| in_path(&shown))
        .or(said)
        .unwrap_or_else(|| name_of(&shown));
    let measured = plan.and_then(|plan| {
        let folded = |text: &str| text.to_lowercase().replace(['-', '_'], "");
        plan.measurements.iter().find(|one| {
            one.mode == mode
                && (folded(&one.scenario) == folded(&name) || folded(&one.key) == folded(&name))
        })
    });
    let measured = measured
        .cloned()
        .unwrap_or_else(|| unpublished(&name, mode));
    let trials_of = relative.parent().map(Path::to_owned).unwrap_or_default();
    let existing = evidence.iter().position(|one| {
        one.mode == mode && one.scenario == measured.scenario && Path::new(&one.path) == trials_of
    });
    let index = existing.unwrap_or_else(|| {
        let mut one = Evidence::new(measured.scenario.clone(), mode);
        one.path = trials_of.display().to_string();
        one.loadgen = true;
        one.expect.clone_from(&measured.expect);
        one.limits.clone_from(&measured.limits);
        one.published_target_qps = measured.target_qps;
        evidence.push(one);
        evidence.len() - 1
    });
    let one = &mut evidence[index];
    let number = u32::try_from(one.trials.len()).unwrap_or(u32::MAX - 1) + 1;
    let mut trial = verdict::TrialEvidence::finished(number, relative.display().to_string());
    crate::evidence::run::loadgen_evidence(&run, &measured, &mut trial, &mut one.published_metric);
    one.trials.push(trial);
    Ok(())
}

fn plan_of(global: &Global, recipe: &str) -> Result<Plan, Failure> {
    let recipe = RecipeArguments {
        recipe: recipe.to_owned(),
        settings: Vec::new(),
    };
    let arguments = PlanArguments::everything(recipe, Vec::new());
    let opened = open::recipe(&arguments.recipe)?;
    open::plan(global, &arguments, &opened, false)
}

/// The scenario that a path names: MLCommons' layout has it as a folder. An Interactive
/// result's own log says `Server`.
fn in_path(path: &Path) -> Option<String> {
    let known = [
        "Offline",
        "Server",
        "Interactive",
        "SingleStream",
        "MultiStream",
    ];
    path.components().rev().find_map(|part| {
        let part = part
            .as_os_str()
            .to_string_lossy()
            .to_lowercase()
            .replace(['-', '_'], "");
        known
            .iter()
            .find(|name| name.to_lowercase() == part)
            .map(|name| (*name).to_owned())
    })
}

fn name_of(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().map_or_else(
        || "results".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// A measurement of which nothing is published.
fn unpublished(scenario: &str, mode: Mode) -> MeasurementPlan {
    MeasurementPlan {
        key: scenario.to_owned(),
        scenario: scenario.to_owned(),
        loadgen: true,
        mode,
        trials: Trials::default(),
        target_qps: None,
        figures: Vec::new(),
        expect: Vec::new(),
        limits: Vec::new(),
    }
}
