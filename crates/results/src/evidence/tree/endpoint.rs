//! A scenario that was measured at an endpoint: no `LoadGen` logs, but its configuration and results
//! as YAML and JSON (v6.1 and later).

use super::submission::ScenarioFolder;
use crate::evidence::endpoints;
use crate::evidence::folder::{DETAIL, SUMMARY};
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};
use retrial_mlperf::rounds::Rules;
use retrial_readings::units;
use retrial_recipe::model::Mode;

/// Whether a place is one of an endpoint, and not of `LoadGen`: accuracy scripts leave an
/// `accuracy_results.json` next to `LoadGen`'s logs, too.
pub(crate) fn is_one(place: &ScenarioFolder) -> bool {
    let folder = place.results_folder();
    let has_logs = ["performance/run_1", "accuracy"].iter().any(|run| {
        let logs = [SUMMARY, DETAIL].map(|log| folder.join(run).join(log));
        logs.iter()
            .any(|log| std::fs::symlink_metadata(log).is_ok())
    });
    !has_logs && endpoints::is_there(&folder)
}

/// Reads its performance.
pub(crate) fn performance(
    place: &ScenarioFolder,
    rules: Option<&Rules>,
    allowed: bool,
) -> Evidence {
    let run = endpoints::performance(&place.results_folder());
    let (mut evidence, run) = begun(place, Mode::Performance, allowed, run);
    let Some(run) = run else {
        return evidence;
    };
    let mut trial = TrialEvidence::finished(1, evidence.path.clone());
    for (name, figure) in &run.figures {
        let value = FigureValue::new(figure.value, figure.unit.clone());
        trial.figures.insert(name.to_string(), value);
    }
    if let Some(rules) = rules {
        let logged = run.metric(&rules.metric.figure);
        let name = logged.strip_suffix("_ns").map_or_else(
            || logged.to_owned(),
            |stem| format!("{stem}_{}", rules.metric.unit),
        );
        if let Some(figure) = run.figures.get(logged) {
            // Rates keep their value: what is published as queries is logged as samples.
            let factor = units::factor(&figure.unit, &rules.metric.unit).unwrap_or(1.0);
            let value = FigureValue::new(figure.value * factor, rules.metric.unit.clone());
            trial.figures.insert(name.clone(), value);
        }
        evidence.published_metric = Some(name);
        evidence.checks.extend(rules.check_endpoint(&run));
    }
    trial.run_settings = Some(run.run_settings());
    evidence.trials.push(trial);
    evidence
}

/// Reads its accuracy.
pub(crate) fn accuracy(place: &ScenarioFolder, rules: Option<&Rules>, allowed: bool) -> Evidence {
    let results = endpoints::accuracy(&place.results_folder());
    let (mut evidence, results) = begun(place, Mode::Accuracy, allowed, results);
    let Some(results) = results else {
        return evidence;
    };
    let mut trial = TrialEvidence::finished(1, evidence.path.clone());
    if let Some(rules) = rules {
        let checks = rules.check_endpoint_accuracy(&results);
        if !place.submitter.is_open() {
            evidence.checks.extend(checks);
        }
        for (name, value) in rules.endpoint_accuracy(&results) {
            trial.figures.insert(name, FigureValue::new(value, ""));
        }
        evidence.published_metric = rules.accuracy.first().map(|(name, _)| name.clone());
        // That its limits were checked is what lets its performance count.
        evidence.limits.clone_from(&rules.accuracy);
        evidence
            .limits
            .retain(|(name, _)| trial.figures.contains_key(name));
        if place.submitter.is_open() {
            evidence.limits.clear();
        }
    } else {
        for score in &results.scores {
            let value = score.value.map(|value| FigureValue::new(value, ""));
            trial
                .figures
                .extend(value.map(|value| (score.dataset.clone(), value)));
        }
    }
    evidence.trials.push(trial);
    evidence
}

/// The evidence of a mode without its trial, and its results where they can be read.
fn begun<Results>(
    place: &ScenarioFolder,
    mode: Mode,
    allowed: bool,
    results: Result<Results, String>,
) -> (Evidence, Option<Results>) {
    let mut evidence = place.evidence(mode, &place.results().join(mode.to_string()));
    evidence.loadgen = false;
    if !allowed {
        evidence.checks.push(RuleCheck::failed(
            "LoadGen's logs",
            "an endpoint's results",
            "LoadGen's logs, which this round requires",
        ));
    }
    let unreadable = |reason: &String| {
        let required = "config.yaml, and the results of its runs";
        RuleCheck::failed("endpoint's files", reason, required)
    };
    evidence
        .checks
        .extend(results.as_ref().err().map(unreadable));
    (evidence, results.ok())
}
