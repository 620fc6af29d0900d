//! Chooses the trial that represents a result. A submission has one run of each; the best of several
//! would overstate the system. It is the median: of an even number the worse of the middle two.

use super::model::{ExportedTrial, SourceRun};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen::TestScenario;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{FigureValue, ResultVerdict, TrialVerdict};

/// The trial that represents a result.
#[derive(Debug, Clone)]
pub(super) struct RepresentativeTrial<'a> {
    /// The run's position among those of the export.
    pub index: usize,
    pub run: &'a SourceRun,
    /// The measurement in the run's plan.
    pub measurement: &'a MeasurementPlan,
    /// The verdict on the measurement, if the run's verdict has it.
    pub verdict: Option<&'a ResultVerdict>,
    pub files: &'a ExportedTrial,
    /// The number of trials among which it was chosen.
    pub trials: usize,
    /// Why this trial was chosen: `the median of 3 trials`.
    pub reason: String,
    /// The figure by which it is published.
    pub figure: Option<(String, FigureValue)>,
}

/// Chooses among the trials of one measurement; none if no trial has results.
pub(super) fn choose_trial(
    index: usize,
    run: &SourceRun,
    measurement: usize,
) -> Option<RepresentativeTrial<'_>> {
    let measured = run.plan.measurements.get(measurement)?;
    let verdict = run
        .verdict
        .results
        .iter()
        .find(|result| result.scenario == measured.scenario && result.mode == measured.mode);
    let trials: Vec<&ExportedTrial> =
        run.results.iter().filter(|files| files.measurement == measurement).collect();
    let verdict_of = |files: &ExportedTrial| -> Option<&TrialVerdict> {
        let mut verdicts = verdict?.trials.iter();
        verdicts.find(|trial| trial.trial == files.trial)
    };
    let valid: Vec<&ExportedTrial> = trials
        .iter()
        .copied()
        .filter(|files| verdict_of(files).is_some_and(|trial| trial.valid))
        .collect();
    // If none is valid, the verdict is invalid.
    let among = if valid.is_empty() { trials.get(..1).unwrap_or_default() } else { &valid[..] };
    let name = verdict.and_then(|result| result.deciding.clone());
    let value = |files: &ExportedTrial| verdict_of(files)?.figures.get(name.as_ref()?).cloned();
    let mut ranked: Vec<(&ExportedTrial, Option<FigureValue>)> =
        among.iter().map(|files| (*files, value(files))).collect();
    if measured.mode == Mode::Performance && ranked.iter().all(|(_, value)| value.is_some()) {
        ranked.sort_by(|(_, left), (_, right)| {
            let number =
                |value: &Option<FigureValue>| value.as_ref().map_or(0.0, |figure| figure.value);
            let order = number(left).total_cmp(&number(right));
            if is_latency(&measured.scenario) { order.reverse() } else { order }
        });
    } else {
        ranked.truncate(1);
    }
    let (chosen, figure) = ranked.get(ranked.len().checked_sub(1)? / 2)?.clone();
    Some(RepresentativeTrial {
        index,
        run,
        measurement: measured,
        verdict,
        files: chosen,
        trials: trials.len(),
        reason: explain_choice(trials.len(), valid.len(), ranked.len()),
        figure: name.zip(figure),
    })
}

/// Returns whether `MLPerf` publishes a scenario by a latency instead of a rate.
fn is_latency(scenario: &ScenarioName) -> bool {
    matches!(scenario.test_scenario(), Some(TestScenario::SingleStream | TestScenario::MultiStream))
}

fn explain_choice(trials: usize, valid: usize, ranked: usize) -> String {
    let all = if valid == trials {
        format!("{trials} trials")
    } else {
        format!("{valid} valid trials of {trials}")
    };
    match (trials, valid, ranked) {
        (1, _, _) => "the only trial".to_owned(),
        (_, 0, _) => format!("the first of {trials} trials, none of which is valid"),
        (_, _, 1) => format!("the first of {all}"),
        (_, _, several) if several % 2 == 0 => format!("the worse of the middle two of {all}"),
        _ => format!("the median of {all}"),
    }
}
