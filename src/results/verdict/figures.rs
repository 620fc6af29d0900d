//! All figures of a result, published or not, and the one that is shown first.

use std::collections::BTreeMap;

use super::compare::unit;
use super::evidence::named;
use super::{Evidence, FigureValue, convergence, number, reference};
use retrial_recipe::model::Mode;
use retrial_stats::aggregate;

/// The figure that is shown first where nothing was published.
pub(crate) fn main_figure(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
) -> Option<String> {
    let metric = evidence
        .published_metric
        .clone()
        .filter(|name| figures.contains_key(name));
    // What is measured is told before what it is held to: a limit on the model's size is no result.
    let first = evidence.figures.first().map(|(name, _)| name.clone());
    let first =
        first.filter(|name| evidence.mode == Mode::Performance && figures.contains_key(name));
    metric
        .or(first)
        .or_else(|| {
            evidence
                .limited_figures()
                .find_map(|name| named(figures, name))
                .map(|(name, _)| name.to_owned())
        })
        .or_else(|| figures.keys().next().cloned())
}

pub(crate) fn measured_sentence(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
) -> String {
    let is_limited = evidence.limited_figures().next().is_some();
    let round = evidence.rules.as_ref().map(|rules| rules.round.as_str());
    let validity = match (evidence.mode, is_limited, round) {
        (Mode::Performance, _, Some(round)) => {
            format!("passes the rules of {round}; nothing was published to compare with")
        }
        (Mode::Performance, true, None) => {
            "within its limits; nothing was published to compare with".to_owned()
        }
        (Mode::Accuracy, true, Some(round)) => format!("within the limits of {round}"),
        (Mode::Accuracy | Mode::Compliance, true, _) => {
            "within the benchmark's own limits".to_owned()
        }
        (_, false, _) => "nothing was published to compare with".to_owned(),
    };
    match main_figure(evidence, figures).and_then(|name| Some((figures.get(&name)?.clone(), name)))
    {
        Some((figure, name)) => {
            let shown = number::figure(figure.value, &figure.unit);
            format!("{name}: {shown}; {validity}.")
        }
        None => "valid, as the benchmark itself reports.".to_owned(),
    }
}

/// Every figure that is there in a trial, its trials made one.
pub(crate) fn aggregated(evidence: &Evidence) -> BTreeMap<String, FigureValue> {
    let mut values: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for trial in &evidence.trials {
        for (name, figure) in &trial.figures {
            if !figure.value.is_nan() {
                values.entry(name).or_default().push(figure.value);
            }
        }
    }
    values
        .into_iter()
        .filter_map(|(name, values)| {
            let unit = unit(evidence, name);
            let (_, how) = reference::aggregation(evidence, name, &unit);
            // Counts and differences may be zero or less: those have no logarithm.
            let value = aggregate(&values, how).or_else(|| finite_mean(&values))?;
            let factor = convergence::of(evidence, name)
                .and_then(Result::ok)
                .map_or(1.0, |convergence| convergence.factor);
            Some((name.clone(), FigureValue::new(value * factor, unit)))
        })
        .collect()
}

fn finite_mean(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    let count = f64::from(u32::try_from(finite.len()).unwrap_or(u32::MAX));
    (!finite.is_empty()).then(|| finite.iter().map(|value| value / count).sum())
}
