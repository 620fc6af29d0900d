//! What `LoadGen`'s logs say of a trial.

use crate::results::verdict::{Evidence, FigureValue, TrialEvidence, Validity};
use retrial_mlperf::loadgen::{self, Run};
use retrial_recipe::model::Mode;

/// What `LoadGen`'s logs say of a trial: figures under their own names and under those that
/// the recipe expects, validity, and what was asked for.
pub fn loadgen_evidence(run: &Run, evidence: &mut Evidence, trial: &mut TrialEvidence) {
    let all = run.figures();
    let value =
        |figure: &retrial_readings::Figure| FigureValue::new(figure.value, figure.unit.clone());
    trial.figures.extend(
        all.iter()
            .map(|(name, figure)| (name.to_string(), value(figure))),
    );
    let named = evidence
        .expect
        .iter()
        .map(|(name, _)| name)
        .chain(evidence.limits.iter().map(|(name, _)| name));
    for name in named {
        if let Some(found) = run.resolve(name) {
            trial.figures.insert(name.clone(), value(&found.figure));
        }
    }
    if let (Some(scenario), Mode::Performance) = (run.scenario(), evidence.mode) {
        let tokens = all
            .keys()
            .any(|name| name.as_ref() == loadgen::published_metric(scenario, true));
        let of_round = evidence
            .rules
            .as_ref()
            .map(|rules| rules.metric.figure.as_str());
        let metric = of_round
            .filter(|name| all.contains_key(*name))
            .unwrap_or_else(|| loadgen::published_metric(scenario, tokens));
        evidence.published_metric = Some(metric.to_owned());
    }
    let validity = run.validity();
    let reasons = validity.reasons;
    trial.validity = match validity.verdict {
        loadgen::Validity::Valid if reasons.is_empty() => Validity::Valid,
        loadgen::Validity::Unknown if reasons.is_empty() => Validity::NotStated,
        _ => Validity::Invalid(reasons),
    };
    trial.run_settings = Some(run.run_settings());
}
