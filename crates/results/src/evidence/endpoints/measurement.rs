//! The results of an endpoint as trials of a recipe's measurements.

use std::path::Path;

use super::{has_accuracy, performance_file, read_accuracy, read_performance};
use crate::evidence::identity::text_log;
use crate::evidence::result_path::ResultPath;
use crate::evidence::texts::TextFile;
use crate::verdict::{Evidence, FigureValue, StepOutcome, TrialEvidence};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::endpoints::{EndpointAccuracy, EndpointPerformance};
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::InferenceRules;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Scores up to this are shares, and limits up to this are of shares.
const MAX_SHARE: f64 = 1.5;

/// Adds the results of a folder, `relative` to a directory, to the evidence of the recipe's
/// measurements: those of the folder's scenario and mode. A folder of no scenario's name is of those that
/// its configuration may be of. `named` is the only scenario that the user wants.
pub fn add_endpoint_evidence(
    evidence: &mut Vec<Evidence>,
    plan: &Plan,
    named: Option<&ScenarioName>,
    (directory, relative): (&Path, &Path),
    place: &ResultPath,
) {
    let folder = directory.join(relative);
    let configured = read_performance(&folder).ok().and_then(|run| run.scenario);
    // The folder of a scenario has its speed; accuracy may not have been measured.
    let is_whole = place.scenario.is_some() && place.mode.is_none();
    let is_measured = |one: &&MeasurementPlan| {
        let is_there = if one.mode == Mode::Accuracy {
            has_accuracy(&folder)
        } else {
            is_whole || performance_file(&folder).is_some()
        };
        one.loadgen
            && one.mode != Mode::Compliance
            && place.mode.is_none_or(|mode| mode == one.mode)
            && is_there
            && named.is_none_or(|name| one.has_scenario_name(name))
            && match &place.scenario {
                Some(name) => one.has_scenario_name(name),
                None => {
                    configured.is_none_or(|configured| may_be_scenario(&one.scenario, configured))
                }
            }
    };
    for measured in plan.measurements.iter().filter(is_measured) {
        let trials_of = relative.parent().filter(|_| place.is_trial);
        let path = trials_of.unwrap_or(relative).display().to_string();
        let result = Evidence::find_or_add(evidence, measured, path, |_| {});
        let number = result.next_trial_number();
        let mut trial = TrialEvidence::new_finished(number, relative.display().to_string());
        read_trial(&folder, measured, result, &mut trial);
        result.trials.push(trial);
    }
}

/// Returns whether a recipe's scenario may be one that is configured: `online` is any but Offline.
fn may_be_scenario(scenario: &ScenarioName, configured: TestScenario) -> bool {
    let is_offline = scenario.test_scenario() == Some(TestScenario::Offline);
    is_offline == (configured == TestScenario::Offline)
}

/// Reads the results in a folder as a trial of a measurement: its figures, those that the recipe
/// names, and whether the rules of its round were followed. They are in place of `LoadGen`'s, whose
/// statement on validity an endpoint does not have.
pub fn read_trial(
    folder: &Path,
    measured: &MeasurementPlan,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    evidence.plan.loadgen = false;
    evidence.plan.rules = None;
    let rules = measured.rules.as_ref();
    let read = match measured.mode {
        Mode::Accuracy => {
            read_accuracy(folder).map(|results| add_accuracy(&results, measured, evidence, trial))
        }
        Mode::Performance | Mode::Compliance => {
            read_performance(folder).map(|run| add_performance(&run, rules, evidence, trial))
        }
    };
    if let Err(error) = read {
        let reason = error.to_string();
        trial.outcome = StepOutcome::NoNewResult { reason };
        return;
    }
    if let Some(file) = performance_file(folder).filter(|_| measured.mode != Mode::Accuracy) {
        let text = TextFile { directory: folder.to_owned(), file: file.into() };
        let figures: Vec<_> = trial.figures.values().map(|figure| (figure, false)).collect();
        trial.logs.extend(text_log(&text, &figures));
    }
}

fn add_performance(
    run: &EndpointPerformance,
    rules: Option<&InferenceRules>,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    for (name, figure) in &run.figures {
        let value = FigureValue::new(figure.value, figure.unit.clone());
        trial.figures.insert(name.to_string(), value);
    }
    for name in evidence.required_figures() {
        if let Some(figure) = run.resolve_figure(name) {
            let value = FigureValue::new(figure.value, figure.unit);
            trial.figures.insert(name.clone(), value);
        }
    }
    let checks = rules
        .map_or_else(|| run.contradictions.clone(), |rules| rules.check_endpoint(run))
        .into_iter();
    evidence.checks.extend(checks.map(|check| check.for_trial(Some(trial.trial))));
    if let Some(rules) = rules {
        evidence.published_metric = Some(run.published_metric(&rules.metric).published_name());
    }
    trial.run_settings = Some(run.run_settings());
}

fn add_accuracy(
    results: &EndpointAccuracy,
    measured: &MeasurementPlan,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    let rules = measured.rules.as_ref();
    let figures = if let Some(rules) = rules.filter(|rules| !rules.accuracy.is_empty()) {
        rules.endpoint_accuracy_figures(results)
    } else {
        // The recipe names what the round does not: a score that is one number has no name of its own.
        let mut expectations = measured.expect.iter();
        let expected =
            expectations.find_map(|(name, all)| Some((name.as_str(), all.first()?.value)));
        let (name, value) = expected.unwrap_or(("accuracy", 0.0));
        results.published_figures(name, value > MAX_SHARE)
    };
    for (name, value) in figures {
        trial.figures.insert(name, FigureValue::new(value, ""));
    }
    if let Some(rules) = rules {
        let checks = rules.check_endpoint_accuracy(results).into_iter();
        evidence.checks.extend(checks.map(|check| check.for_trial(Some(trial.trial))));
        evidence.published_metric = rules.accuracy.first().map(|(name, _)| name.clone());
        let all_limits = rules.accuracy.iter().chain(&rules.endpoint_accuracy);
        let limits = all_limits.filter(|(name, _)| trial.figures.contains_key(name));
        let own: Vec<_> = limits.cloned().collect();
        evidence.plan.limits.retain(|(name, _)| own.iter().all(|(other, _)| other != name));
        evidence.plan.limits.extend(own);
    }
}
