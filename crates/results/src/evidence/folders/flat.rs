//! Results that no folder distinguishes: the own figures of a recipe, in one directory.

use std::collections::BTreeMap;
use std::path::Path;

use itertools::{Itertools as _, join};

use super::found::FoundTrial;
use super::layout::PlanMeasurements;
use crate::evidence::folder::SUMMARY;
use crate::evidence::result_path::ResultPath;
use crate::evidence::script;
use crate::verdict::Evidence;
use retrial_mlperf::ScenarioName;
use retrial_mlperf::mllog::TIME_TO_TRAIN;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureLocator, FigureSource, Mode};

/// The suite for whose results submitters have different programs.
const TRAINING_SUITE: &str = "mlperf-training";

/// Finds the trial of every measurement whose files are in a directory. Where other results
/// were found, an output alone does not show that a measurement was run: `is_alone` is whether none
/// were.
pub(super) fn find_trials<'a>(
    directory: &'a Path,
    measurements: &PlanMeasurements<'a>,
    is_alone: bool,
) -> impl Iterator<Item = FoundTrial> + 'a {
    let plan = measurements.plan;
    let is_run = move |measured: &&MeasurementPlan| {
        if is_alone && script::is_main_mode(measured, plan) {
            script::has_files(directory, measured)
        } else {
            script::has_figures(directory, measured)
        }
    };
    let own = measurements.selection().filter(|one| has_own_figures(one));
    own.filter(is_run).map(|measured| {
        let path = directory.display().to_string();
        FoundTrial {
            measured: measured.clone(),
            unknown_rules: None,
            place: ResultPath::from_group(directory),
            results: path.clone(),
            folder: directory.to_owned(),
            path,
            number: None,
            is_warmup: false,
        }
    })
}

/// Completes the evidence of these trials, and returns remarks for the reader of the verdict.
pub(super) fn complete(evidence: &mut [Evidence], plan: &Plan) -> Vec<String> {
    let mut warnings = Vec::new();
    if plan.submission.suite.starts_with(TRAINING_SUITE) {
        let removed = evidence.iter_mut().flat_map(remove_unlogged_figures);
        let reason = "no log has it: it is not an MLCommons event and was not compared";
        warnings.extend(removed.map(|name| format!("{name}: {reason}")));
    }
    warnings.extend(warn_of_shared_files(evidence));
    warnings
}

/// Returns why a directory has none of the figures of a plan, by measurement and figure; `has_endpoint` is whether it
/// has results of an endpoint.
pub(super) fn missing_figures(
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
    has_endpoint: bool,
) -> BTreeMap<String, String> {
    let missing = measurements.selection().flat_map(|measured| {
        if measured.loadgen {
            let reason = if has_endpoint {
                "the results of an endpoint in or below it are of another scenario".to_owned()
            } else {
                format!("no {SUMMARY} in or below it")
            };
            return vec![(measurement_label(measured), reason)];
        }
        let readings = script::read_figures(directory, measured);
        let reasons = readings.into_iter().flat_map(|reading| reading.missing);
        let missing = reasons
            .map(|(name, reason)| (format!("{} {name}", measurement_label(measured)), reason));
        missing.collect()
    });
    missing.collect()
}

/// Returns a measurement's name for messages: `short`, `short accuracy`.
fn measurement_label(measured: &MeasurementPlan) -> String {
    match measured.mode {
        Mode::Performance => measured.scenario.to_string(),
        mode => format!("{} {mode}", measured.scenario),
    }
}

fn has_own_figures(measured: &MeasurementPlan) -> bool {
    !measured.loadgen && !measured.figures.is_empty()
}

/// Says that scenarios were read from the same files, if one of them has no figure there.
fn warn_of_shared_files(evidence: &[Evidence]) -> Option<String> {
    let is_empty = |one: &Evidence| one.trials.iter().all(|trial| trial.figures.is_empty());
    let scenarios: Vec<&ScenarioName> =
        evidence.iter().map(|one| &one.plan.scenario).unique().collect();
    (scenarios.len() > 1 && evidence.iter().any(is_empty)).then(|| {
        let scenarios = join(scenarios, ", ");
        format!("{scenarios} are read from the same folder; choose what was run: --scenario NAME")
    })
}

/// Removes the figures that are not `MLCommons` events if no training log has them: another submitter's
/// program does not print or track them. If some logs have them, or announce them without a number, the others are
/// incomplete. Returns their names.
fn remove_unlogged_figures(evidence: &mut Evidence) -> Vec<String> {
    let is_timed = |figure: &FigureSource| matches!(&figure.find, FigureLocator::Mllog(figure) if figure.key == TIME_TO_TRAIN);
    let is_of_program = |figure: &FigureSource| match &figure.find {
        FigureLocator::Mllog(figure) => figure.key.starts_with("tracked_stats"),
        FigureLocator::Pattern { .. } => true,
        FigureLocator::Json { .. } | FigureLocator::Csv(_) => false,
    };
    if !evidence.plan.figures.iter().any(|(_, figure)| is_timed(figure)) {
        return Vec::new();
    }
    let trials = &evidence.trials;
    let nowhere = |name: &str| {
        trials.iter().all(|trial| trial.figure(name).is_none() && !trial.announced.contains(name))
    };
    let own = evidence.plan.figures.iter().filter(|(_, figure)| is_of_program(figure));
    let names: Vec<String> =
        own.map(|(name, _)| name.clone()).filter(|name| nowhere(name)).collect();
    let is_logged = |name: &String| !names.contains(name);
    let plan = &mut evidence.plan;
    plan.figures.retain(|(name, _)| is_logged(name));
    plan.expect.retain(|(name, _)| is_logged(name));
    for trial in &mut evidence.trials {
        trial.missing.retain(|name, _| is_logged(name));
    }
    names
}
