//! A scenario that was measured at an endpoint: no `LoadGen` logs, but its configuration and results
//! as YAML and JSON (v6.1 and later).

use super::submission::ScenarioFolder;
use crate::evidence::endpoints;
use crate::verdict::{Evidence, RuleCheck};
use retrial_mlperf::loadgen::published_metric;
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
    if let Some(rules) = rules {
        return endpoints::published_figure(&run, rules).1;
    }
    let metric = published_metric(place.scenario()?, false);
    run.resolve_figure(run.published_figure_name(metric))
}

/// Returns whether its accuracy run answers the requests of its performance run.
pub(crate) fn answers_same_requests(place: &ScenarioFolder) -> bool {
    let run = endpoints::read_performance(&place.results_folder());
    run.is_ok_and(|run| run.answers_accuracy_requests)
}

/// Reads the run of a place in a mode; `allowed` is whether the round has endpoints for the benchmark.
pub(crate) fn gather_run(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    mode: Mode,
    allowed: bool,
) -> Evidence {
    let (mut evidence, _) = place.read_run(mode, &place.results_path(), rules, None);
    evidence.path = place.results_path().join(mode.to_string()).display().to_string();
    if !allowed {
        evidence.checks.push(RuleCheck::violation(
            "LoadGen's logs",
            "an endpoint's results",
            "LoadGen's logs: this round allows endpoints for other benchmarks only, or for none",
        ));
    }
    evidence
}
