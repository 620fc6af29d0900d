//! A scenario that was measured at an endpoint: no `LoadGen` logs, but its configuration and results
//! as YAML and JSON (v6.1 and later).

use super::submission::ScenarioFolder;
use crate::evidence::endpoints::{self, EndpointFileError};
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};
use retrial_mlperf::endpoints::EndpointPerformance;
use retrial_mlperf::loadgen::{TestScenario, published_metric as loadgen_metric};
use retrial_mlperf::rounds::InferenceRules;
use retrial_readings::Figure;
use retrial_recipe::model::Mode;

pub(crate) fn is_endpoint(place: &ScenarioFolder) -> bool {
    endpoints::is_endpoint_result(&place.results_folder())
}

/// Returns the figure by which a place is published, of its results alone.
pub(crate) fn published_figure(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
) -> Option<Figure> {
    let run = endpoints::read_performance(&place.results_folder()).ok()?;
    let metric = published_metric(&run, rules, place.scenario()?);
    let mut figure = run.resolve_figure(&metric)?;
    if let Some(rules) = rules {
        // Rates keep their value: what is published as queries is logged as samples.
        figure.unit = rules.metric.unit.clone().into();
    }
    Some(figure)
}

/// Returns the name of the figure by which a run is published, in the unit that it is published in.
fn published_metric(
    run: &EndpointPerformance,
    rules: Option<&InferenceRules>,
    scenario: TestScenario,
) -> String {
    match rules {
        Some(rules) => run.published_metric(&rules.metric).published_name(),
        None => run.published_figure_name(loadgen_metric(scenario, false)).to_owned(),
    }
}

/// Returns whether its accuracy run answers the requests of its performance run.
pub(crate) fn answers_same_requests(place: &ScenarioFolder) -> bool {
    let run = endpoints::read_performance(&place.results_folder());
    run.is_ok_and(|run| run.answers_accuracy_requests)
}

/// Reads the performance run of a place, with its checks.
pub(crate) fn gather_performance(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    allowed: bool,
) -> Evidence {
    let run = endpoints::read_performance(&place.results_folder());
    let (mut evidence, run) = begin_evidence(place, Mode::Performance, allowed, run);
    let Some(run) = run else {
        return evidence;
    };
    let mut trial = TrialEvidence::new_finished(1, evidence.path.clone());
    for (name, figure) in &run.figures {
        let value = FigureValue::new(figure.value, figure.unit.clone());
        trial.figures.insert(name.to_string(), value);
    }
    if let Some(rules) = rules {
        let name = published_metric(&run, Some(rules), rules.scenario);
        if let Some(figure) = run.resolve_figure(&name) {
            // Rates keep their value: what is published as queries is logged as samples.
            let value = FigureValue::new(figure.value, rules.metric.unit.clone());
            trial.figures.insert(name.clone(), value);
        }
        evidence.published_metric = Some(name);
        evidence.checks.extend(rules.check_endpoint(&run));
    } else {
        evidence.checks.extend(run.contradictions.iter().cloned());
    }
    trial.run_settings = Some(run.run_settings());
    evidence.trials.push(trial);
    evidence
}

/// Reads the accuracy run of a place, with its checks.
pub(crate) fn gather_accuracy(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    allowed: bool,
) -> Evidence {
    let results = endpoints::read_accuracy(&place.results_folder());
    let (mut evidence, results) = begin_evidence(place, Mode::Accuracy, allowed, results);
    let Some(results) = results else {
        return evidence;
    };
    let mut trial = TrialEvidence::new_finished(1, evidence.path.clone());
    if let Some(rules) = rules {
        let submitted = rules.clone().in_division(place.submitter.division);
        evidence.checks.extend(submitted.check_endpoint_accuracy(&results));
        for (name, value) in rules.endpoint_accuracy_figures(&results) {
            trial.figures.insert(name, FigureValue::new(value, ""));
        }
        evidence.published_metric = rules.accuracy.first().map(|(name, _)| name.clone());
        // That its limits were checked is what lets its performance count.
        let limits = rules.accuracy.iter().chain(&rules.endpoint_accuracy);
        evidence.plan.limits = limits.cloned().collect();
        evidence.plan.limits.retain(|(name, _)| trial.figures.contains_key(name));
        if place.submitter.is_open() {
            evidence.plan.limits.clear();
        }
    } else {
        for score in &results.scores {
            let value = score.value.map(|value| FigureValue::new(value, ""));
            trial.figures.extend(value.map(|value| (score.dataset.clone(), value)));
        }
    }
    evidence.trials.push(trial);
    evidence
}

/// Returns the evidence of a mode without its trial, and its results where they can be read.
fn begin_evidence<Results>(
    place: &ScenarioFolder,
    mode: Mode,
    allowed: bool,
    results: Result<Results, EndpointFileError>,
) -> (Evidence, Option<Results>) {
    let mut evidence = place.new_evidence(mode, &place.results_path().join(mode.to_string()));
    evidence.plan.loadgen = false;
    if !allowed {
        evidence.checks.push(RuleCheck::violation(
            "LoadGen's logs",
            "an endpoint's results",
            "LoadGen's logs: this round allows endpoints for other benchmarks only, or for none",
        ));
    }
    let unreadable = |error: &EndpointFileError| {
        let required = "config.yaml, and the results of its runs";
        RuleCheck::violation("endpoint's files", error.to_string(), required)
    };
    evidence.checks.extend(results.as_ref().err().map(unreadable));
    (evidence, results.ok())
}
