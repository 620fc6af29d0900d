//! What one run says: a figure, yes or no, or nothing that can be used.

use super::{Criterion, SearchPlan};
use crate::results::verdict::comparison::Measurement;
use crate::results::verdict::{Context, Evidence, Outcome, ResultVerdict, judge};
use retrial_recipe::model::{Better, Mode};

/// What one run says.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// The figure.
    Figure(Measured),
    /// Accurate or valid, or not.
    Answer(bool),
    /// Nothing, and why: the cell is left out.
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
#[must_use]
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
            let pairs = evidence.iter().zip(&verdict.results);
            let mut pairs = pairs.filter(|(one, _)| one.mode == Mode::Performance);
            let found = pairs.find_map(|(one, result)| {
                let measurement = Measurement::of(context, one, result);
                let wanted = search.figure.as_deref();
                let mut figures = measurement.figures.iter();
                let figure = figures.find(|figure| wanted.is_none_or(|name| figure.name == name));
                let found = figure.cloned();
                (found.is_some() || !result.valid).then_some((found, result))
            });
            of_figure(search, found)
        }
    }
}

fn of_figure(
    search: &SearchPlan,
    found: Option<(
        Option<crate::results::verdict::comparison::MeasuredFigure>,
        &ResultVerdict,
    )>,
) -> Observed {
    let Some((figure, result)) = found else {
        let figure = search.figure.as_deref();
        return Observed::Nothing(figure.map_or_else(
            || "it has no performance figure".to_owned(),
            |figure| format!("it has no figure `{figure}`"),
        ));
    };
    if !result.valid {
        return Observed::Nothing(result.sentence.clone());
    }
    let value = figure
        .as_ref()
        .and_then(|figure| figure.trials.as_deref()?.first().copied());
    match (figure, value) {
        (Some(figure), Some(value)) if value.is_finite() && value > 0.0 => {
            Observed::Figure(Measured {
                scenario: result.scenario.clone(),
                figure: figure.name,
                unit: figure.unit,
                better: figure.better,
                value,
            })
        }
        _ => Observed::Nothing("its figure is not a positive number".to_owned()),
    }
}
