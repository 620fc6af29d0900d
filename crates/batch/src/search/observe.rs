//! What one run shows: a figure, yes or no, or nothing usable.

use super::{Criterion, SearchPlan};
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::comparison::{MeasuredFigure, Measurement};
use retrial_results::verdict::{Context, Evidence, Outcome, ResultVerdict, judge};

/// What one run shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// The figure.
    Figure(Measured),
    /// Accurate or valid, or not.
    Answer(bool),
    /// Nothing, and why: the cell is skipped.
    Nothing(String),
}

/// A figure of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The scenario.
    pub scenario: String,
    /// The figure's name.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Its value.
    pub value: f64,
}

/// Reads the evidence of a run.
pub fn observe(search: &SearchPlan, context: &Context, evidence: &[Evidence]) -> Observed {
    let verdict = judge(context, evidence);
    match search.criterion {
        Criterion::Validity => {
            let is_bad = |outcome| matches!(outcome, Outcome::Invalid | Outcome::Failed);
            Observed::Answer(!is_bad(verdict.outcome))
        }
        Criterion::Accuracy => {
            let results = verdict.results.iter();
            let accuracy: Vec<&ResultVerdict> = results
                .filter(|result| result.mode == Mode::Accuracy)
                .collect();
            let failed = accuracy
                .iter()
                .find(|result| result.outcome == Outcome::Failed);
            match failed {
                Some(failed) => Observed::Nothing(failed.sentence.clone()),
                None if accuracy.is_empty() => {
                    Observed::Nothing("its accuracy was not measured".to_owned())
                }
                None => Observed::Answer(accuracy.iter().all(|result| result.valid)),
            }
        }
        Criterion::Slower { .. } | Criterion::Faster { .. } => {
            let name = search.figure.as_deref();
            let pairs = evidence.iter().zip(&verdict.results);
            let performance = pairs.filter(|(evidence, _)| evidence.mode == Mode::Performance);
            for (evidence, result) in performance {
                if !result.valid {
                    return Observed::Nothing(result.sentence.clone());
                }
                let measured = Measurement::new(context, evidence, result);
                let mut figures = measured.figures.into_iter();
                let is_searched =
                    |figure: &MeasuredFigure| name.is_none_or(|name| figure.name == name);
                if let Some(figure) = figures.find(is_searched) {
                    return of_figure(&result.scenario, figure);
                }
            }
            Observed::Nothing(name.map_or_else(
                || "it has no performance figure".to_owned(),
                |name| format!("it has no figure `{name}`"),
            ))
        }
    }
}

/// The first trial of a figure.
fn of_figure(scenario: &str, figure: MeasuredFigure) -> Observed {
    let value = figure.trials.and_then(|trials| trials.first().copied());
    match value {
        Some(value) if value.is_finite() && value > 0.0 => Observed::Figure(Measured {
            scenario: scenario.to_owned(),
            figure: figure.name,
            unit: figure.unit,
            better: figure.better,
            value,
        }),
        _ => Observed::Nothing("its figure is not a positive number".to_owned()),
    }
}

impl Observed {
    /// The figure, if there is one.
    pub fn figure(&self) -> Option<&Measured> {
        match self {
            Self::Figure(measured) => Some(measured),
            Self::Answer(_) | Self::Nothing(_) => None,
        }
    }
}
