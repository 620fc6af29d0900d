//! Telemetry of the GPUs during the measurement.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::{Evidence, FigureValue, Qualifier, QualifierKind, TrialEvidence};
use retrial_telemetry::Summary;

/// A trial's, with the deciding figure over its power.
pub(crate) fn of_trial(trial: &TrialEvidence, deciding: Option<&str>) -> Option<Summary> {
    let summary = trial.telemetry.clone()?;
    Some(with_figure(summary, deciding, &trial.figures))
}

/// All trials together, those of one step once.
pub(crate) fn of_result(
    evidence: &Evidence,
    deciding: Option<&str>,
    figures: &BTreeMap<String, FigureValue>,
) -> Option<Summary> {
    let trials = evidence.trials.iter();
    let seen = trials.filter_map(|trial| Some((&trial.path, trial.telemetry.as_ref()?)));
    let of_steps = seen.unique_by(|(path, _)| *path);
    let all: Vec<&Summary> = of_steps.map(|(_, summary)| summary).collect();
    Some(with_figure(Summary::together(&all)?, deciding, figures))
}

fn with_figure(
    mut summary: Summary,
    deciding: Option<&str>,
    figures: &BTreeMap<String, FigureValue>,
) -> Summary {
    summary.per_joule = deciding.and_then(|name| {
        let figure = figures.get(name)?;
        summary.per_joule(name, figure.value, &figure.unit)
    });
    summary
}

/// Said of a result whose GPUs did nothing in any trial.
pub(crate) fn idle_gpus(evidence: &Evidence) -> Option<Qualifier> {
    let idle = evidence
        .trials
        .iter()
        .filter_map(|trial| trial.telemetry.as_ref()?.idle.as_ref());
    let worst = idle.max_by_key(|idle| idle.gpus.len())?;
    let reason = format!(
        "{} {}: {}",
        evidence.scenario,
        evidence.mode,
        worst.reason()
    );
    Some(Qualifier::new(QualifierKind::IdleGpus, reason))
}
