//! The published figure of a run, also where it is inferred: an edge result may be submitted in a
//! scenario with the logs of another one, and its figure is then worked out of theirs.

use crate::verdict::{Evidence, FigureValue};
use retrial_mlperf::loadgen::{LoadgenRun, MULTI_STREAM_SAMPLES, TestScenario};
use retrial_mlperf::rounds::InferenceRules;
use retrial_readings::figure::Figure;
use retrial_readings::number::to_f64;

/// Returns the figure by which a run is published in the scenario of these rules.
pub(crate) fn published_figure(run: &LoadgenRun, rules: &InferenceRules) -> Option<Figure> {
    let logged = run.scenario();
    match (logged, rules.scenario) {
        (Some(TestScenario::SingleStream), TestScenario::Offline) => {
            run.figure("queries_per_second_without_loadgen_overhead").cloned()
        }
        (Some(TestScenario::MultiStream), TestScenario::Offline) => {
            let latency = run.figure("latency_mean_ns")?;
            let samples =
                to_f64(run.parameters().samples_per_query.unwrap_or(MULTI_STREAM_SAMPLES));
            let mut figure = latency.scale_to_unit(1.0, rules.metric.unit.clone());
            figure.value = samples * 1e9 / latency.value;
            Some(figure)
        }
        (Some(TestScenario::SingleStream), TestScenario::MultiStream) => {
            // LoadGen estimates the 99th percentile in a SingleStream run for this.
            let latency = run.figure("early_stopping_p99_ns")?;
            Some(
                latency
                    .scale_to_unit(to_f64(MULTI_STREAM_SAMPLES) * 1e-6, rules.metric.unit.clone()),
            )
        }
        _ => run.resolve_figure(&rules.metric.published_name()),
    }
}

/// Adds the figure by which a run is published, in the unit of its round.
pub(crate) fn add_published_figure(
    run: &LoadgenRun,
    rules: &InferenceRules,
    evidence: &mut Evidence,
) {
    let metric = rules.metric.published_name();
    if let Some(figure) = published_figure(run, rules) {
        let value = FigureValue::new(figure.value, rules.metric.unit.clone());
        let value = value.with_half_digit(figure.half_digit);
        for trial in &mut evidence.trials {
            trial.figures.insert(metric.clone(), value.clone());
        }
    }
    evidence.published_metric = Some(metric);
}
