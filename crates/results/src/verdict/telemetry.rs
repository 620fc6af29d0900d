//! Telemetry of the GPUs during the measurement.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::{Evidence, FigureValue, Qualifier, QualifierKind, ResultVerdict, TrialEvidence};
use retrial_telemetry::{IdleGpus, TelemetrySummary};

/// Returns a trial's telemetry, with the deciding figure over its power.
pub(crate) fn summarize_trial(
    trial: &TrialEvidence,
    deciding: Option<&str>,
) -> Option<TelemetrySummary> {
    let summary = trial.telemetry.clone()?;
    Some(with_figure_per_joule(summary, deciding, &trial.figures))
}

/// Returns the telemetry of all trials together, that of one step once.
pub(crate) fn summarize_result(
    evidence: &Evidence,
    deciding: Option<&str>,
    figures: &BTreeMap<String, FigureValue>,
) -> Option<TelemetrySummary> {
    let trials = evidence.trials.iter();
    let seen = trials.filter_map(|trial| Some((&trial.path, trial.telemetry.as_ref()?)));
    let seen = seen.unique_by(|(path, _)| *path);
    let all: Vec<&TelemetrySummary> = seen.map(|(_, summary)| summary).collect();
    Some(with_figure_per_joule(TelemetrySummary::combine_trials(&all)?, deciding, figures))
}

fn with_figure_per_joule(
    mut summary: TelemetrySummary,
    deciding: Option<&str>,
    figures: &BTreeMap<String, FigureValue>,
) -> TelemetrySummary {
    summary.per_joule = deciding.and_then(|name| {
        let figure = figures.get(name)?;
        summary.per_joule(name, figure.value, &figure.unit)
    });
    summary
}

/// Leaves a result undecided if all GPUs were idle in every trial: the figure is not theirs then.
pub(crate) fn undecide_if_idle(evidence: &[Evidence], results: &mut [ResultVerdict]) {
    for (evidence, result) in evidence.iter().zip(results) {
        let Some(idle) = gpus_idle_in_all_trials(evidence).filter(|_| result.valid) else {
            continue;
        };
        result.undecide(&format!("{}, so nothing is decided", idle.describe()));
    }
}

/// Returns the telemetry of the trials that have figures. One that failed may have ended before it used a GPU.
fn measured_telemetry(evidence: &Evidence) -> impl Iterator<Item = &TelemetrySummary> {
    let trials = evidence.trials.iter();
    let measured = trials.filter(|trial| !trial.figures.is_empty());
    measured.filter_map(|trial| trial.telemetry.as_ref())
}

/// Returns the GPUs, if all of them were idle in every trial that was watched.
fn gpus_idle_in_all_trials(evidence: &Evidence) -> Option<&IdleGpus> {
    let watched = measured_telemetry(evidence).filter(|summary| summary.gpus > 0);
    let idle_per_trial = watched.map(|summary| {
        let idle = summary.idle.as_ref()?;
        let is_everywhere = summary.unwatched_machines.is_empty();
        (is_everywhere && idle.gpus.len() == summary.gpus).then_some(idle)
    });
    let idle: Option<Vec<&IdleGpus>> = idle_per_trial.collect();
    idle?.first().copied()
}

/// Returns the qualifier of a result whose GPUs were idle in any trial.
pub(crate) fn qualifier_of_idle_gpus(evidence: &Evidence) -> Option<Qualifier> {
    let idle = measured_telemetry(evidence).filter_map(|summary| summary.idle.as_ref());
    let worst = idle.max_by_key(|idle| idle.gpus.len())?;
    let reason = format!("{} {}: {}", evidence.plan.scenario, evidence.plan.mode, worst.describe());
    Some(Qualifier::new(QualifierKind::IdleGpus, reason))
}
