//! The observation of one run: a figure, an answer, or nothing usable.

use super::{Criterion, SearchPlan};
use crate::accuracy::{AccuracyLimits, check_accuracy_limits};
use crate::planned_figures::PlannedFigures;
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::comparison::{MeasuredFigure, PooledMeasurement};
use retrial_results::verdict::{
    Evidence, Outcome, ResultVerdict, RunContext, UNKNOWN_DIRECTION, judge,
};

#[derive(Debug, Clone, PartialEq)]
pub enum RunObservation {
    /// The value of the searched figure.
    Figure(ObservedFigure),
    /// The answer to whether it is accurate, or valid.
    Answer(bool),
    /// Nothing usable, with the reason, a clause: the cell is skipped.
    NotMeasured(String),
}

/// A figure of one trial, judged from its files; the journal's `TrialRunFigure` has no direction.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedFigure {
    /// The scenario's name: `Offline`.
    pub scenario: ScenarioName,
    /// The figure's name.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// The figure's value, in `unit`.
    pub value: f64,
    /// Half of its last printed digit, as a fraction of it; 0: it is exact.
    pub rounding_error: f64,
}

/// Judges the evidence of a run by the criterion of the search.
pub fn observe_run(
    search: &SearchPlan,
    context: &RunContext,
    evidence: &[Evidence],
) -> RunObservation {
    let verdict = judge(context, evidence);
    match search.criterion {
        Criterion::Validity => {
            let is_bad = |outcome| matches!(outcome, Outcome::Invalid | Outcome::Failed);
            let mut results = verdict.results.iter();
            match results.find(|result| !result.valid) {
                _ if is_bad(verdict.outcome) => RunObservation::Answer(false),
                // Neither shown to be valid nor to violate a rule.
                Some(unknown) => RunObservation::NotMeasured(unknown.sentence.clause().to_owned()),
                None => RunObservation::Answer(true),
            }
        }
        Criterion::Accuracy => observe_accuracy(evidence, &verdict.results),
        Criterion::Slower { .. } | Criterion::Faster { .. } => {
            observe_speed(search.figure.as_deref(), context, evidence, &verdict.results)
        }
    }
}

/// Answers whether every accuracy run is within its limits. One that is unknown leaves the answer open, unless another
/// is outside.
fn observe_accuracy(evidence: &[Evidence], results: &[ResultVerdict]) -> RunObservation {
    let pairs = evidence.iter().zip(results);
    let accuracy = pairs.filter(|(evidence, _)| evidence.plan.mode == Mode::Accuracy);
    let checked_limits = accuracy.map(|(evidence, result)| {
        let limited: Vec<String> = evidence.limited_figures().map(str::to_owned).collect();
        (&result.scenario, check_accuracy_limits(result, &limited, None))
    });
    let limits: Vec<(&ScenarioName, AccuracyLimits)> = checked_limits.collect();
    let is_outside =
        |(_, limits): &(_, AccuracyLimits)| matches!(limits, AccuracyLimits::Outside(_));
    if limits.is_empty() {
        return RunObservation::NotMeasured("its accuracy was not measured".to_owned());
    }
    if limits.iter().any(is_outside) {
        return RunObservation::Answer(false);
    }
    let mut unknown = limits.iter().filter_map(|(scenario, limits)| match limits {
        AccuracyLimits::Unknown(reason) => Some(format!("{scenario}: {reason}")),
        AccuracyLimits::Within(_) | AccuracyLimits::Outside(_) => None,
    });
    unknown.next().map_or(RunObservation::Answer(true), RunObservation::NotMeasured)
}

/// The figure that is searched, of the first scenario that was planned to give it: where that one failed, another
/// scenario's figure does not stand in for it.
fn observe_speed(
    name: Option<&str>,
    context: &RunContext,
    evidence: &[Evidence],
    results: &[ResultVerdict],
) -> RunObservation {
    let pairs = evidence.iter().zip(results);
    let performance = pairs.filter(|(evidence, _)| evidence.plan.mode == Mode::Performance);
    for (evidence, result) in performance {
        let measurement = PooledMeasurement::new(context, evidence, result);
        let planned = PlannedFigures::new(evidence, &measurement, result);
        let figure = match name {
            Some(name) if planned.is_planned(name) == Some(false) => continue,
            Some(name) => name,
            None => planned.names.first().map_or("", String::as_str),
        };
        if result.violates_rule() {
            return RunObservation::NotMeasured(result.sentence.clause().to_owned());
        }
        let mut figures = measurement.figures.iter();
        let found = figures.find(|known| known.name == figure);
        return match found {
            Some(figure) => observe_figure(&result.scenario, figure.clone()),
            None if figure.is_empty() => {
                RunObservation::NotMeasured(format!("its {} has no figure", result.scenario))
            }
            None => {
                RunObservation::NotMeasured(format!("its {} has no `{figure}`", result.scenario))
            }
        };
    }
    RunObservation::NotMeasured(name.map_or_else(
        || "it has no performance figure".to_owned(),
        |name| format!("it has no figure `{name}`"),
    ))
}

/// The first trial of a figure.
fn observe_figure(scenario: &ScenarioName, figure: MeasuredFigure) -> RunObservation {
    let Some(better) = figure.better else {
        let reason = format!("its `{}` is not compared: {UNKNOWN_DIRECTION}", figure.name);
        return RunObservation::NotMeasured(reason);
    };
    let value = figure.trials.and_then(|trials| trials.first().copied());
    match value {
        Some(value) if value.is_finite() && value > 0.0 => RunObservation::Figure(ObservedFigure {
            scenario: scenario.clone(),
            figure: figure.name,
            unit: figure.unit,
            better,
            value,
            rounding_error: figure.rounding_error,
        }),
        _ => RunObservation::NotMeasured("its figure is not a positive number".to_owned()),
    }
}

impl RunObservation {
    pub fn figure(&self) -> Option<&ObservedFigure> {
        match self {
            Self::Figure(measured) => Some(measured),
            Self::Answer(_) | Self::NotMeasured(_) => None,
        }
    }
}

impl ObservedFigure {
    /// Returns whether another value is one of the same figure.
    pub fn is_same_figure(&self, other: &Self) -> bool {
        (&self.scenario, &self.figure, &self.unit) == (&other.scenario, &other.figure, &other.unit)
    }

    /// Returns the figure's name with its unit: `latency (ms)`.
    pub fn figure_and_unit(&self) -> String {
        match self.unit.as_str() {
            "" => self.figure.clone(),
            unit => format!("{} ({unit})", self.figure),
        }
    }
}

#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
