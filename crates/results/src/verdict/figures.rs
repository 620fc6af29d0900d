//! All figures of a result, published or not, and the one that is shown first.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::evidence::{find_by_name, table_name};
use super::published_figure::figure_unit;
use super::{Evidence, FigureColumn, FigureValue, UnjudgedReference, convergence, reference};
use retrial_document::measures::format;
use retrial_mlperf::Division;
use retrial_readings::natural::natural_sort_key;
use retrial_recipe::model::Mode;
use retrial_stats::aggregate_trials;

/// The most figures that a sentence names; of more it names the first.
const MAX_FIGURES_IN_SENTENCE: usize = 4;

/// Returns the figure that is shown first where nothing was published.
pub(crate) fn main_figure(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
) -> Option<String> {
    let metric = evidence.published_metric.clone().filter(|name| figures.contains_key(name));
    // Measured figures come before limits: a limit on the model's size is no result.
    let first = evidence.plan.figures.first().map(|(name, _)| name.clone());
    let first =
        first.filter(|name| evidence.plan.mode == Mode::Performance && figures.contains_key(name));
    metric
        .or(first)
        .or_else(|| {
            evidence
                .limited_figures()
                .find_map(|name| find_by_name(figures, name))
                .map(|(name, _)| name.to_owned())
        })
        .or_else(|| figures.keys().next().cloned())
}

/// Returns what the benchmark's own rules say of a valid result with nothing to compare it with.
pub(crate) fn describe_validity(evidence: &Evidence, division: Option<Division>) -> String {
    let is_limited = evidence.limited_figures().next().is_some();
    let round = evidence.plan.rules.as_ref().map(|rules| rules.round.as_str());
    match (evidence.plan.mode, is_limited, round) {
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
        (Mode::Accuracy, false, Some(_)) if division == Some(Division::Open) => {
            "the open division has no limits".to_owned()
        }
        (_, false, _) => "nothing was published to compare with".to_owned(),
    }
}

/// Returns the clause on a result whose figures are compared with none: the figures, and their validity.
pub(crate) fn describe_measured(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
    validity: &str,
) -> String {
    let declared = declared_figures(evidence, figures);
    let main = main_figure(evidence, figures);
    let others = declared.iter().filter(|name| main.as_ref() != Some(name));
    let printed: Vec<String> = main
        .iter()
        .chain(others)
        .filter_map(|name| Some(format!("{name}: {}", figures.get(name)?)))
        .collect();
    match printed.as_slice() {
        [] => "valid, as the benchmark itself reports".to_owned(),
        all if all.len() <= MAX_FIGURES_IN_SENTENCE => format!("{}; {validity}", all.join("; ")),
        [first, others @ ..] => {
            let others = format::format_count(others.len(), "other figure");
            format!("{first}; {others}; {validity}")
        }
    }
}

/// Returns the figures that the recipe declares, in its order; of a table, each entry.
pub(crate) fn declared_figures(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
) -> Vec<String> {
    let declared = evidence.plan.figures.iter();
    let figures = declared.flat_map(|(name, _)| {
        let is_declared =
            move |figure: &&String| *figure == name || table_name(figure) == Some(name);
        let entries = figures.keys().filter(is_declared);
        entries.sorted_by_cached_key(|figure| natural_sort_key(figure))
    });
    figures.cloned().collect()
}

/// Returns every figure of the trials, aggregated.
pub(crate) fn aggregate_figures(evidence: &Evidence) -> BTreeMap<String, FigureValue> {
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
            let unit = figure_unit(evidence, name);
            let how = reference::figure_aggregate(evidence, name);
            // Counts and differences may be zero or less: those have no logarithm.
            let value = aggregate_trials(&values, how).or_else(|| finite_mean(&values))?;
            let factor = convergence::score_factor(evidence, name).unwrap_or(1.0);
            Some((name.clone(), FigureValue::new(value * factor, unit)))
        })
        .collect()
}

/// Returns the figures that the recipe declares as columns of tables.
pub(crate) fn figure_columns(evidence: &Evidence) -> Vec<FigureColumn> {
    let declared = evidence.plan.figures.iter();
    let columns = declared.map(|(name, source)| {
        let unit = source.unit.as_ref();
        let shown_unit = unit.filter(|unit| !unit.eq_ignore_ascii_case(name));
        let heading = source.label.clone().unwrap_or_else(|| match shown_unit {
            Some(unit) => format!("{name} ({unit})"),
            None => name.clone(),
        });
        FigureColumn { figure: name.clone(), heading, by: source.by.clone() }
    });
    columns.collect()
}

/// Returns the published figures that are not judged, each next to the measured one.
pub(crate) fn unjudged_references(
    evidence: &Evidence,
    figures: &BTreeMap<String, FigureValue>,
) -> Vec<UnjudgedReference> {
    let unjudged = evidence.plan.references.iter().flat_map(|references| {
        references.values.iter().map(|(name, value)| {
            let unit = figure_unit(evidence, name);
            UnjudgedReference {
                figure: name.clone(),
                measured: find_by_name(figures, name).map(|(_, measured)| measured.clone()),
                published: FigureValue::new(*value, unit),
                kind: references.kind,
                source: references.source.clone(),
            }
        })
    });
    unjudged.collect()
}

fn finite_mean(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let count = f64::from(u32::try_from(finite.len()).unwrap_or(u32::MAX));
    (!finite.is_empty()).then(|| finite.iter().map(|value| value / count).sum())
}
