//! The figure by which a recipe's result was published, for lists.

use retrial_document::{MapEntry, Node};
use retrial_mlperf::figures::find_known_figure;
use serde::Serialize;

use super::SummaryScope;
use crate::model::{ExpectationKind, loadgen_name};

/// The published figure that decides first: of the first scenario with one, the most official.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// The scenario: `Offline`.
    pub scenario: String,
    /// The figure's name: `tokens_per_second`.
    pub figure: String,
    pub value: f64,
    /// The unit of the value; empty if it has none.
    pub unit: String,
}

/// Returns the published figure of a recipe; none if it states none.
pub(super) fn find_published_figure(scope: &SummaryScope<'_>) -> Option<PublishedFigure> {
    let mut scenarios = scope.recipe.entries_at("scenarios").iter();
    scenarios.find_map(|scenario| figure_of_scenario(scope, scenario))
}

fn figure_of_scenario(scope: &SummaryScope<'_>, scenario: &MapEntry) -> Option<PublishedFigure> {
    let measurement = scenario.value.get("performance")?;
    let expected = measurement.entries_at("expect").iter().flat_map(|entry| {
        let published = entry.value.one_or_items().iter();
        published.filter_map(move |node| {
            Some((entry, scope.number(node.get("value")?)?, kind_of(node)?))
        })
    });
    let (entry, value, _) = expected.min_by_key(|(.., kind)| *kind)?;
    let declared = measurement.get("figures").and_then(|figures| figures.get(&entry.key));
    let stated_unit = declared.and_then(|figure| scope.text(figure.get("unit")));
    let known_unit = || find_known_figure(&entry.key).map(|known| known.unit.to_owned());
    Some(PublishedFigure {
        scenario: loadgen_name(&scenario.key).unwrap_or(&scenario.key).to_owned(),
        figure: entry.key.clone(),
        value,
        unit: stated_unit.or_else(known_unit).unwrap_or_default(),
    })
}

fn kind_of(node: &Node) -> Option<ExpectationKind> {
    node.get("kind")?.text()?.parse().ok()
}
