//! The results of an endpoint as a trial of a measurement.

use std::path::Path;

use super::{accuracy_file, performance_file, published_figure, read_accuracy, read_performance};
use crate::verdict::{Evidence, FigureValue, LogIdentity, StepOutcome, TrialEvidence, TrialLog};
use retrial_mlperf::endpoints::{EndpointAccuracy, EndpointPerformance};
use retrial_mlperf::rounds::InferenceRules;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Scores up to this are shares, and limits up to this are of shares.
const MAX_SHARE: f64 = 1.5;

/// Reads the results in a folder as a trial of a measurement: its figures, those that the recipe
/// names, and whether the rules of its round were followed. They are in place of `LoadGen`'s, whose
/// statement on validity an endpoint does not have. Returns the file that was read, if that tells its run from others.
pub fn read_trial(
    folder: &Path,
    measured: &MeasurementPlan,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) -> Option<TrialLog> {
    evidence.plan.loadgen = false;
    // The rules of its division; the measurement has those by which figures are named.
    let rules = evidence.plan.rules.take();
    let read = match measured.mode {
        Mode::Accuracy => read_accuracy(folder).map(|results| {
            add_accuracy(&results, rules.as_ref(), measured, evidence, trial);
            (accuracy_file(folder), results.digest())
        }),
        Mode::Performance | Mode::Compliance => read_performance(folder).map(|run| {
            add_performance(&run, rules.as_ref(), evidence, trial);
            (performance_file(folder), run.digest())
        }),
    };
    match read {
        Ok((file, digest)) => Some(TrialLog {
            directory: folder.display().to_string(),
            file: file?.to_owned(),
            identity: LogIdentity::Endpoint(digest?),
        }),
        Err(error) => {
            trial.outcome = StepOutcome::NoNewResult { reason: error.to_string() };
            None
        }
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
    let checks = match rules {
        Some(rules) => {
            let (metric, figure) = published_figure(run, rules);
            let value = figure.map(|figure| FigureValue::new(figure.value, figure.unit));
            trial.figures.extend(value.map(|value| (metric.clone(), value)));
            evidence.published_metric = Some(metric);
            rules.check_endpoint(run)
        }
        None => run.contradictions.clone(),
    };
    let trial_checks = checks.into_iter().map(|check| check.for_trial(Some(trial.trial)));
    evidence.checks.extend(trial_checks);
    trial.run_settings = Some(run.run_settings());
}

fn add_accuracy(
    results: &EndpointAccuracy,
    rules: Option<&InferenceRules>,
    measured: &MeasurementPlan,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    let round_rules = measured.rules.as_ref().filter(|rules| !rules.accuracy.is_empty());
    let figures = if let Some(round_rules) = round_rules {
        evidence.published_metric = round_rules.accuracy.first().map(|(name, _)| name.clone());
        round_rules.endpoint_accuracy_figures(results)
    } else {
        // The recipe names what the round does not: a score that is one number has no name of its own.
        let mut expectations = measured.expect.iter();
        let expected =
            expectations.find_map(|(name, all)| Some((name.as_str(), all.first()?.value)));
        let (name, value) = expected.unwrap_or(("accuracy", 0.0));
        results.published_figures(name, value > MAX_SHARE)
    };
    let values = figures.into_iter().map(|(name, value)| (name, FigureValue::new(value, "")));
    trial.figures.extend(values);
    if let Some(rules) = rules {
        let checks = rules.check_endpoint_accuracy(results).into_iter();
        evidence.checks.extend(checks.map(|check| check.for_trial(Some(trial.trial))));
        // That its limits were checked is what lets its performance count.
        let limits = rules.accuracy.iter().chain(&rules.endpoint_accuracy);
        let limits = limits.filter(|(name, _)| trial.figures.contains_key(name));
        let own: Vec<_> = limits.cloned().collect();
        evidence.plan.limits.retain(|(name, _)| own.iter().all(|(other, _)| other != name));
        evidence.plan.limits.extend(own);
    }
}
