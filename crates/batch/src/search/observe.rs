//! The observation of one run: a figure, an answer, or nothing usable.

use itertools::Itertools as _;

use super::{Criterion, SearchPlan};
use crate::accuracy::{AccuracyLimits, check_accuracy_limits};
use crate::planned_figures::PlannedFigures;
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::comparison::{MeasuredFigure, PooledMeasurement};
use retrial_results::verdict::{
    Evidence, Outcome, ResultVerdict, RunContext, UNKNOWN_DIRECTION, judge,
};
use retrial_stats::{Aggregate, aggregate_trials};

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
    /// The scenario's name, `Offline`; of several points that of their sweep.
    pub scenario: ScenarioName,
    /// The number of points of which it is the geometric mean; 1 outside a sweep.
    pub points: usize,
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
/// scenario's figure does not stand in for it. Of a sweep it is the geometric mean over the points, of which none may
/// lack it.
fn observe_speed(
    name: Option<&str>,
    context: &RunContext,
    evidence: &[Evidence],
    results: &[ResultVerdict],
) -> RunObservation {
    let pairs = evidence.iter().zip(results);
    let performance = pairs.filter(|(evidence, _)| evidence.plan.mode == Mode::Performance);
    let measured = performance.filter_map(|(evidence, result)| {
        let measurement = PooledMeasurement::new(context, evidence, result);
        let planned = PlannedFigures::new(evidence, &measurement, result);
        let figure = match name {
            Some(name) if planned.is_planned(name) == Some(false) => return None,
            Some(name) => name.to_owned(),
            None => planned.names.first().cloned().unwrap_or_default(),
        };
        Some((result, measurement.figures, figure))
    });
    let measured = measured.collect_vec();
    let sweep_of = |result: &ResultVerdict| result.point.as_ref().map(|point| point.sweep.clone());
    let sweep = measured.first().and_then(|(result, ..)| sweep_of(result));
    let count = if sweep.is_some() { measured.len() } else { 1 };
    let searched = measured.into_iter().filter(|(result, ..)| sweep_of(result) == sweep);
    let observed = searched.take(count).map(|(result, figures, name)| {
        if result.violates_rule() {
            return Err(result.sentence.clause().to_owned());
        }
        let found = figures.into_iter().find(|known| known.name == name);
        found
            .ok_or_else(|| match name.as_str() {
                "" => format!("its {} has no figure", result.scenario),
                name => format!("its {} has no `{name}`", result.scenario),
            })
            .and_then(|figure| observe_figure(&result.scenario, figure))
    });
    let observed: Result<Vec<ObservedFigure>, String> = observed.collect();
    observed
        .and_then(|points| over_points(points, sweep, name))
        .map_or_else(RunObservation::NotMeasured, RunObservation::Figure)
}

/// The figure of one point as it is, or the geometric mean of several.
fn over_points(
    points: Vec<ObservedFigure>,
    sweep: Option<String>,
    name: Option<&str>,
) -> Result<ObservedFigure, String> {
    let values = points.iter().map(|point| point.value).collect_vec();
    let mean = aggregate_trials(&values, Aggregate::Mean);
    let rounding_error = points.iter().map(|point| point.rounding_error).fold(0.0, f64::max);
    let mut points = points.into_iter();
    let first = points.next().ok_or_else(|| match name {
        None => "it has no performance figure".to_owned(),
        Some(name) => format!("it has no figure `{name}`"),
    })?;
    if let Some(other) = points.find(|point| point.figure_and_unit() != first.figure_and_unit()) {
        let (known, other) = (first.figure_and_unit(), other.figure_and_unit());
        return Err(format!("its points have different figures, {known} and {other}"));
    }
    match sweep.zip(mean) {
        Some((sweep, value)) if values.len() > 1 => Ok(ObservedFigure {
            scenario: sweep.as_str().into(),
            points: values.len(),
            value,
            rounding_error,
            ..first
        }),
        _ => Ok(first),
    }
}

/// The first trial of a figure.
fn observe_figure(
    scenario: &ScenarioName,
    figure: MeasuredFigure,
) -> Result<ObservedFigure, String> {
    let Some(better) = figure.better else {
        return Err(format!("its `{}` is not compared: {UNKNOWN_DIRECTION}", figure.name));
    };
    let value = figure.trials.and_then(|trials| trials.first().copied());
    match value {
        Some(value) if value.is_finite() && value > 0.0 => Ok(ObservedFigure {
            scenario: scenario.clone(),
            points: 1,
            figure: figure.name,
            unit: figure.unit,
            better,
            value,
            rounding_error: figure.rounding_error,
        }),
        _ => Err("its figure is not a positive number".to_owned()),
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
        (&self.scenario, self.points, &self.figure, &self.unit)
            == (&other.scenario, other.points, &other.figure, &other.unit)
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
