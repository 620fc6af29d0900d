//! Which trial stands for a result. A submission has one run of each; choosing the best of several
//! would make a figure better than the system is. So it is the median one: of an even number the
//! worse of the middle two.

use super::model::{FoundResult, RunRead};
use crate::plan::measurement::MeasurementPlan;
use crate::results::verdict::{FigureValue, ResultVerdict, TrialVerdict};
use retrial_recipe::model::Mode;

/// The trial that stands for a result.
#[derive(Debug, Clone)]
pub(super) struct Chosen<'a> {
    /// Which of the runs.
    pub index: usize,
    /// The run.
    pub run: &'a RunRead,
    /// What was measured.
    pub measured: &'a MeasurementPlan,
    /// What is said of it.
    pub verdict: Option<&'a ResultVerdict>,
    /// What it left.
    pub found: &'a FoundResult,
    /// How many trials there are.
    pub trials: usize,
    /// Why this one.
    pub because: String,
    /// The figure by which it is published.
    pub figure: Option<(String, FigureValue)>,
}

/// Chooses among the trials of one measurement; none where none left anything.
pub(super) fn choose(index: usize, run: &RunRead, measurement: usize) -> Option<Chosen<'_>> {
    let measured = run.plan.measurements.get(measurement)?;
    let verdict = run
        .verdict
        .results
        .iter()
        .find(|one| one.scenario == measured.scenario && one.mode == measured.mode);
    let found: Vec<&FoundResult> = run
        .found
        .iter()
        .filter(|one| one.measurement == measurement)
        .collect();
    let said = |one: &FoundResult| -> Option<&TrialVerdict> {
        let mut trials = verdict?.trials.iter();
        trials.find(|trial| trial.trial == one.trial)
    };
    let valid: Vec<&FoundResult> = found
        .iter()
        .copied()
        .filter(|one| said(one).is_some_and(|trial| trial.valid))
        .collect();
    // Where none is valid, the verdict says so, and the first shows it.
    let among = if valid.is_empty() {
        found.get(..1).unwrap_or_default()
    } else {
        &valid[..]
    };
    let name = verdict.and_then(|one| one.deciding.clone());
    let value = |one: &FoundResult| said(one)?.figures.get(name.as_ref()?).cloned();
    let mut ranked: Vec<(&FoundResult, Option<FigureValue>)> =
        among.iter().map(|one| (*one, value(one))).collect();
    if measured.mode == Mode::Performance && ranked.iter().all(|(_, value)| value.is_some()) {
        ranked.sort_by(|(_, one), (_, other)| {
            let number = |value: &Option<FigureValue>| value.as_ref().map_or(0.0, |it| it.value);
            let order = number(one).total_cmp(&number(other));
            if is_latency(&measured.scenario) {
                order.reverse()
            } else {
                order
            }
        });
    } else {
        ranked.truncate(1);
    }
    let (chosen, figure) = ranked.get(ranked.len().checked_sub(1)? / 2)?.clone();
    Some(Chosen {
        index,
        run,
        measured,
        verdict,
        found: chosen,
        trials: found.len(),
        because: because(found.len(), valid.len(), ranked.len()),
        figure: name.zip(figure),
    })
}

/// `MLPerf` publishes these scenarios by a latency, the others by a rate.
fn is_latency(scenario: &str) -> bool {
    matches!(scenario, "SingleStream" | "MultiStream")
}

fn because(trials: usize, valid: usize, ranked: usize) -> String {
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
