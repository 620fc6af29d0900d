//! A scenario that was measured at an endpoint: no `LoadGen` logs, but its configuration and results
//! as YAML and JSON (v6.1 and later).

use super::submission::ScenarioFolder;
use crate::evidence::endpoints;
use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{Evidence, RuleCheck, TrialEvidence};
use retrial_mlperf::loadgen::published_metric;
use retrial_mlperf::rounds::InferenceRules;
use retrial_plan::measurement::MeasurementPlan;
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
    let of_loadgen = published_metric(place.scenario()?, false);
    run.resolve_figure(run.published_figure_name(of_loadgen))
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
    let path = place.results_path();
    let mut evidence = place.new_evidence(mode, &path.join(mode.to_string()));
    evidence.plan.rules = rules.map(|rules| rules.clone().in_division(place.submitter.division));
    if !allowed {
        evidence.checks.push(RuleCheck::violation(
            "LoadGen's logs",
            "an endpoint's results",
            "LoadGen's logs: this round allows endpoints for other benchmarks only, or for none",
        ));
    }
    // The open division has no required accuracy, and its figures have the same names.
    let measured = MeasurementPlan { rules: rules.cloned(), ..evidence.plan.clone() };
    let trial = TrialEvidence::new_finished(1, path.display().to_string());
    TrialFiles::of_tree(&measured, trial, &place.submitter.root, &path).read_into(&mut evidence);
    evidence
}
