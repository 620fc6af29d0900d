//! The figures by which a recipe's results were published, for lists.

use retrial_document::MapEntry;
use retrial_mlperf::figures::find_known_figure;
use serde::Serialize;

use super::SummaryScope;
use crate::model::{ExpectationKind, loadgen_name};

/// A published figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// The scenario: `Offline`; of a point of a sweep with its value, `serving-64`.
    pub scenario: String,
    /// The figure's name: `tokens_per_second`.
    pub figure: String,
    pub value: f64,
    /// The unit of the value; empty if it has none.
    pub unit: String,
    #[serde(skip)]
    pub kind: ExpectationKind,
    /// Where it was published.
    #[serde(skip)]
    pub source: Option<String>,
    /// Whether it is a rate of the whole system, by the benchmark's or the client's own definition.
    #[serde(skip)]
    pub is_system_rate: bool,
    /// Whether it is of a point of a sweep.
    #[serde(skip)]
    pub is_point: bool,
}

/// Returns the published figure that decides first: of the first scenario with one, the most official.
pub(super) fn first_deciding(figures: &[PublishedFigure]) -> Option<&PublishedFigure> {
    let mut whole = figures.iter().filter(|figure| !figure.is_point);
    let first = whole.clone().next()?;
    let of_scenario = whole.by_ref().filter(|figure| figure.scenario == first.scenario);
    of_scenario.min_by_key(|figure| figure.kind)
}

/// Returns the published figures of a recipe's performance, whose sweeps are expanded.
pub(super) fn published_figures(scope: &SummaryScope<'_>) -> Vec<PublishedFigure> {
    let scenarios = scope.recipe.entries_at("scenarios").iter();
    scenarios.flat_map(|scenario| figures_of_scenario(scope, scenario)).collect()
}

fn figures_of_scenario(scope: &SummaryScope<'_>, scenario: &MapEntry) -> Vec<PublishedFigure> {
    let Some(measurement) = scenario.value.get("performance") else {
        return Vec::new();
    };
    let is_point = measurement.get("point").is_some();
    let has_client = measurement.get("client").is_some();
    let figures = measurement.entries_at("expect").iter().flat_map(|entry| {
        let declared = measurement.get("figures").and_then(|figures| figures.get(&entry.key));
        let stated_unit = declared.and_then(|figure| scope.text(figure.get("unit")));
        let known = find_known_figure(&entry.key);
        let is_defined = has_client || known.is_some();
        let unit = stated_unit.or_else(|| Some(known?.unit.to_owned())).unwrap_or_default();
        let published = entry.value.one_or_items().iter();
        published.filter_map(move |node| {
            Some(PublishedFigure {
                scenario: loadgen_name(&scenario.key).unwrap_or(&scenario.key).to_owned(),
                figure: entry.key.clone(),
                value: scope.number(node.get("value")?)?,
                unit: unit.clone(),
                kind: node.get("kind")?.text()?.parse().ok()?,
                source: scope.text(node.get("source")),
                is_system_rate: is_defined && unit.ends_with("/s"),
                is_point,
            })
        })
    });
    figures.collect()
}
