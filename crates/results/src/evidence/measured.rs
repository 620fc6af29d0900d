//! The measurements of a run that was judged before, from its plan and its verdict alone: no
//! log is read again. An index stores it for every run of a history.

use crate::verdict::comparison::PooledMeasurement;
use crate::verdict::{Evidence, ResultVerdict, RunContext, TrialEvidence, Verdict};
use retrial_plan::Plan;

/// Returns every scenario in every mode that the plan measures and the verdict has.
pub fn measurements_of_verdict(plan: &Plan, verdict: &Verdict) -> Vec<PooledMeasurement> {
    let context = RunContext::from(plan);
    let measurements = plan.measurements.iter().filter_map(|measured| {
        let mut results = verdict.results.iter();
        let result = results
            .find(|result| result.mode == measured.mode && result.scenario == measured.scenario)?;
        let evidence = with_trials_of(measured.clone().into(), result);
        let mut measurement = PooledMeasurement::new(&context, &evidence, result);
        // By reference convergence points, whose logs are not read again.
        for figure in &mut measurement.figures {
            let mut judgements = result.judgements.iter();
            let judgement = judgements.find(|judgement| judgement.figure == figure.name);
            let factor = judgement.and_then(|judgement| judgement.normalised_by);
            for value in figure.trials.iter_mut().flatten() {
                *value *= factor.unwrap_or(1.0);
            }
        }
        Some(measurement)
    });
    measurements.collect()
}

fn with_trials_of(mut evidence: Evidence, result: &ResultVerdict) -> Evidence {
    evidence.published_metric.clone_from(&result.deciding);
    evidence.trials = result
        .trials
        .iter()
        .map(|judged| {
            let mut trial = TrialEvidence::new_finished(judged.trial, judged.path.clone());
            trial.figures.clone_from(&judged.figures);
            trial
        })
        .collect();
    evidence
}
