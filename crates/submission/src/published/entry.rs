//! A published figure with what tells it from others.

use std::cmp::{Ordering, Reverse};

use retrial_readings::natural::natural_sort_key;
use retrial_recipe::model::ExpectationKind;
use retrial_recipe::{PublishedFigure, RecipeSummary};
use retrial_results::evidence::tree::published::{PublishedFigures, PublishedResult};
use serde::Serialize;

/// The suite of the tables that `MLCommons` publishes with a round's results.
const TABLE_SUITE: &str = "mlperf-inference";

/// A published figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedEntry {
    pub suite: String,
    pub round: Option<String>,
    /// The benchmark, by the suite's name.
    pub benchmark: String,
    /// The scenario; of a point of a curve with its value: `serving-64`.
    pub scenario: String,
    /// The figure's name; none of a table, which states its unit only.
    pub figure: Option<String>,
    pub value: f64,
    pub unit: String,
    /// The rate of one GPU, where all are counted.
    pub per_gpu: Option<f64>,
    /// The number of GPUs of all machines.
    pub gpus: Option<u32>,
    pub gpu_models: Vec<String>,
    pub submitter: Option<String>,
    pub system: Option<String>,
    pub division: Option<String>,
    /// `available`, `preview` or `rdi`.
    pub availability: Option<String>,
    /// Whether the suite's checker inferred it from another scenario's run.
    pub inferred: bool,
    pub software: Option<String>,
    /// An id, `6.0-0002`, or what else names the publication.
    pub source: String,
    /// The built-in recipe that states it.
    pub recipe: Option<String>,
}

/// Returns the figures of a round's table whose systems have accelerators, without those in which the suite's checker
/// found errors.
pub fn of_table(table: &PublishedFigures) -> Vec<PublishedEntry> {
    let rows = table.rows.iter().filter(|row| row.accelerators.is_some() && !row.has_errors);
    rows.map(|row| of_row(row, &table.name)).collect()
}

fn of_row(row: &PublishedResult, table: &str) -> PublishedEntry {
    let accelerators = row.accelerators.as_ref();
    let gpus = accelerators.and_then(|one| one.total);
    PublishedEntry {
        suite: TABLE_SUITE.to_owned(),
        round: row.round.clone(),
        benchmark: row.official.as_ref().unwrap_or(&row.benchmark).clone(),
        scenario: row.scenario.to_string(),
        figure: None,
        value: row.value,
        per_gpu: row.unit.ends_with("/s").then(|| divide(row.value, gpus)).flatten(),
        unit: row.unit.clone(),
        gpus,
        gpu_models: accelerators.map_or(Vec::new(), |one| one.model_names().to_vec()),
        submitter: row.submitter.clone(),
        system: row.platform.clone().or_else(|| row.system.clone()),
        division: row.division.clone(),
        availability: row.availability.clone(),
        inferred: row.is_inferred,
        software: row.software.clone(),
        source: row.id.as_deref().unwrap_or(table).to_owned(),
        recipe: None,
    }
}

/// Returns the figures that a recipe states. A guide's is omitted where the figure is official, too.
pub fn of_recipe(recipe: &str, summary: &RecipeSummary) -> Vec<PublishedEntry> {
    let is_official = |figure: &PublishedFigure| {
        summary.figures.iter().any(|other| {
            other.kind == ExpectationKind::Official
                && (&other.scenario, &other.figure) == (&figure.scenario, &figure.figure)
        })
    };
    let repeats =
        |figure: &PublishedFigure| figure.kind == ExpectationKind::Guide && is_official(figure);
    let figures = summary.figures.iter().filter(|figure| !repeats(figure));
    figures.map(|figure| of_figure(recipe, summary, figure)).collect()
}

fn of_figure(recipe: &str, summary: &RecipeSummary, figure: &PublishedFigure) -> PublishedEntry {
    // A third party's system is named by the source only; its GPUs are those of the recipe.
    let own =
        |text: &Option<String>| text.clone().filter(|_| figure.kind != ExpectationKind::ThirdParty);
    let rate = figure.is_system_rate.then_some(figure.value);
    PublishedEntry {
        suite: summary.suite.clone().unwrap_or_default(),
        round: summary.round.clone(),
        benchmark: summary.benchmark.clone().unwrap_or_default(),
        scenario: figure.scenario.clone(),
        figure: Some(figure.figure.clone()),
        value: figure.value,
        unit: figure.unit.clone(),
        per_gpu: rate.and_then(|rate| divide(rate, summary.gpu_count)),
        gpus: summary.gpu_count,
        gpu_models: summary.gpu_models.clone(),
        submitter: own(&summary.submitter),
        system: own(&summary.system),
        division: own(&summary.division),
        availability: None,
        inferred: false,
        software: None,
        source: figure.source.clone().unwrap_or_else(|| figure.kind.label().to_owned()),
        recipe: Some(recipe.to_owned()),
    }
}

fn divide(value: f64, gpus: Option<u32>) -> Option<f64> {
    gpus.filter(|count| *count > 0).map(|count| value / f64::from(count))
}

/// What entries must share to be compared: suite, benchmark, scenario, figure or unit.
type GroupKey<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

impl PublishedEntry {
    /// Returns what entries must share to be compared with each other. A table does not name its figures: those of its
    /// suite are told apart by their scenario and unit.
    pub fn group(&self) -> GroupKey<'_> {
        let figure = self.figure.as_deref().filter(|_| self.suite != TABLE_SUITE);
        let figure = figure.unwrap_or_default();
        (&self.suite, &self.benchmark, &self.scenario, figure, &self.unit)
    }

    /// Returns whether it is of this model of GPU, or of several with it.
    pub fn is_of_gpu(&self, model: &str) -> bool {
        self.gpu_models.iter().any(|own| own.eq_ignore_ascii_case(model))
    }

    /// Returns the number and the models of its GPUs: `8 x MI355X`.
    pub fn format_gpus(&self) -> String {
        let models = self.gpu_models.join(" or ");
        match self.gpus {
            Some(count) => format!("{count} x {models}"),
            None => models,
        }
    }

    /// Orders by the rate of one GPU, the highest first; of other figures by the value, the lowest first.
    fn compare_figures(&self, other: &Self) -> Ordering {
        match (self.per_gpu, other.per_gpu) {
            (Some(own), Some(others)) => others.total_cmp(&own),
            (own, others) => {
                others.is_some().cmp(&own.is_some()).then(self.value.total_cmp(&other.value))
            }
        }
    }
}

/// Sorts entries by group, in each the newest round first, in it the best figure of one GPU. A table that lists a
/// system for two types has its rows twice: they are one.
pub fn sort_entries(entries: &mut Vec<PublishedEntry>) {
    let round = |entry: &PublishedEntry| {
        Reverse(natural_sort_key(entry.round.as_deref().unwrap_or_default()))
    };
    entries.sort_by(|left, right| {
        let key = |entry: &PublishedEntry| {
            let (suite, benchmark, scenario, figure, unit) = entry.group();
            [suite, benchmark, scenario, figure, unit].map(natural_sort_key)
        };
        key(left)
            .cmp(&key(right))
            .then_with(|| round(left).cmp(&round(right)))
            .then_with(|| left.compare_figures(right))
            .then_with(|| left.source.cmp(&right.source))
    });
    entries.dedup();
}

#[cfg(test)]
mod tests {
    use retrial_results::evidence::tree::accelerators::Accelerators;

    use super::*;

    fn row(id: &str, models: &str, per_node: u32, value: f64) -> PublishedResult {
        let description = serde_json::json!({
            "accelerator_model_name": models, "accelerators_per_node": per_node,
        });
        PublishedResult {
            id: Some(id.to_owned()),
            benchmark: "llama2-70b-99".to_owned(),
            scenario: "Offline".to_owned().into(),
            value,
            unit: "tokens/s".to_owned(),
            round: Some("v6.0".to_owned()),
            accelerators: Accelerators::from_description(description.as_object().unwrap()),
            ..PublishedResult::default()
        }
    }

    fn table(rows: Vec<PublishedResult>) -> PublishedFigures {
        PublishedFigures { name: "table".to_owned(), rows, ..PublishedFigures::default() }
    }

    #[test]
    fn the_best_rate_of_one_gpu_is_first_in_its_round() {
        let newer = PublishedResult {
            round: Some("v6.1".to_owned()),
            ..row("newer", "AMD MI355X", 8, 8.0)
        };
        let small = row("small", "AMD MI355X", 1, 20.0);
        let rows = vec![row("large", "AMD MI355X", 8, 100.0), small.clone(), small, newer];
        let mut entries = of_table(&table(rows));
        sort_entries(&mut entries);
        let sources: Vec<&str> = entries.iter().map(|entry| &*entry.source).collect();
        assert_eq!(sources, ["newer", "small", "large"], "a repeated row is one");
        assert_eq!(entries[2].per_gpu, Some(12.5));
        assert_eq!(entries[2].format_gpus(), "8 x MI355X");
        assert!(entries[2].is_of_gpu("mi355x") && !entries[2].is_of_gpu("MI35"));
    }

    #[test]
    fn systems_without_accelerators_and_rows_with_errors_are_omitted() {
        let wrong = PublishedResult { has_errors: true, ..row("wrong", "AMD MI355X", 8, 1.0) };
        assert_eq!(of_table(&table(vec![row("cpu", "N/A", 0, 1.0), wrong])), []);
    }

    #[test]
    fn a_latency_has_no_rate_of_one_gpu_and_the_least_is_first() {
        let latency = |id: &str, value: f64| PublishedResult {
            unit: "ms".to_owned(),
            ..row(id, "NVIDIA L4", 1, value)
        };
        let mut entries = of_table(&table(vec![latency("slow", 9.0), latency("fast", 2.0)]));
        sort_entries(&mut entries);
        assert_eq!(entries[0].source, "fast");
        assert_eq!(entries[0].per_gpu, None);
    }
}
