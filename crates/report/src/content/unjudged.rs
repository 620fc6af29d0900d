//! What was measured besides the judged figures: LoadGen's rates, latencies, TTFT and TPOT, and what a recipe declares
//! without a published figure.
//!
//! They are shown as they are, next to published ones where the recipe has them for reference. Nothing here compares
//! them, and no outcome depends on them.

use std::collections::BTreeMap;

use itertools::join;

use super::figure_pivot::{PivotTable, pivot_tables};
use super::figures::source_label;
use crate::document::{Block, Column, Table};
use crate::figure_title::LATENCY_KINDS;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{FigureValue, ResultVerdict, UnjudgedReference, Verdict, number};

/// The ending of LoadGen's own times.
const NANOSECONDS: &str = "_ns";
/// LoadGen's statistics of a latency with their names in a table; the rank of those that a narrow
/// table omits, the lowest first.
const LATENCY_STATISTICS: [(&str, &str, Option<u8>); 9] = [
    ("min", "min", Some(2)),
    ("mean", "mean", None),
    ("p50", "p50", None),
    ("p90", "p90", None),
    ("p95", "p95", Some(1)),
    ("p97", "p97", Some(0)),
    ("p99", "p99", None),
    ("p99_9", "p99.9", Some(3)),
    ("max", "max", Some(4)),
];

/// The latencies of one kind in one result, by statistic: as measured, or as published.
struct Latencies<'a> {
    result: &'a ResultVerdict,
    name: String,
    figures: BTreeMap<&'static str, &'a FigureValue>,
    /// The unit that fits the longest, measured or published, and its factor from nanoseconds.
    unit: &'static str,
    factor: f64,
}

impl Latencies<'_> {
    fn format(&self, statistic: &str) -> String {
        let figure = self.figures.get(statistic);
        figure.map(|figure| number::format_grouped(figure.value * self.factor)).unwrap_or_default()
    }
}

/// A table of the latencies that were not judged, and a sentence on each result's other figures.
pub(super) fn unjudged_blocks(verdict: &Verdict) -> Vec<Block> {
    let performance = || verdict.results.iter().filter(|result| result.mode == Mode::Performance);
    let pivots = pivot_tables(verdict);
    let others = performance()
        .filter_map(|result| describe_other_figures(result, &pivots))
        .map(Block::paragraph);
    let table = latency_table(performance().flat_map(unjudged_latencies));
    table.into_iter().chain(others).collect()
}

fn latency_table<'a>(latencies: impl Iterator<Item = Latencies<'a>>) -> Option<Block> {
    let rows = Table::builder("Latencies, not judged", latencies)
        .head("scenario", |row| row.result.scenario.as_str())
        .text("not judged", |row| row.name.clone())
        .text("unit", |row| row.unit);
    let rows = LATENCY_STATISTICS.iter().fold(rows, |rows, &(statistic, name, spare)| {
        let column = Column { omission_rank: spare, ..Column::number(name) };
        rows.column(column, |row| row.format(statistic))
    });
    rows.into_block()
}

/// The rows of a result: of each kind of latency the measured ones, then the published ones.
fn unjudged_latencies(result: &ResultVerdict) -> impl Iterator<Item = Latencies<'_>> {
    let rows = LATENCY_KINDS.iter().flat_map(move |(kind, title)| {
        let measured = latencies_of_kind(kind, |name| {
            let figure = result.figures.get(name)?;
            (!is_shown(result, name, figure)).then_some(figure)
        });
        let published = latencies_of_kind(kind, |name| {
            let reference = find_reference(result, name)?;
            (!measured.is_empty()).then_some(&reference.published)
        });
        let first = result.unjudged.iter().find(|one| one.figure.starts_with(kind));
        let source = first.map(reference_label).unwrap_or_default();
        let named = [((*title).to_owned(), measured), (format!("{title}, {source}"), published)];
        let figures = named.iter().flat_map(|(_, figures)| figures.values());
        let longest = figures.map(|figure| figure.value).fold(0.0, f64::max);
        let (factor, unit) = number::display_scale("ns", longest);
        named.map(|(name, figures)| Latencies { result, name, figures, unit, factor })
    });
    rows.filter(|row| !row.figures.is_empty())
}

fn latencies_of_kind<'a>(
    kind: &str,
    find: impl Fn(&str) -> Option<&'a FigureValue>,
) -> BTreeMap<&'static str, &'a FigureValue> {
    let found = LATENCY_STATISTICS.iter().filter_map(|&(statistic, ..)| {
        let figure = find(&format!("{kind}_{statistic}{NANOSECONDS}"))?;
        Some((statistic, figure))
    });
    found.collect()
}

fn find_reference<'a>(result: &'a ResultVerdict, figure: &str) -> Option<&'a UnjudgedReference> {
    let mut references = result.unjudged.iter();
    references.find(|reference| reference.figure.eq_ignore_ascii_case(figure))
}

/// `Server performance, not judged: completed_samples_per_second 354.41 samples/s (guide: 354.41); …`
fn describe_other_figures(result: &ResultVerdict, pivots: &[PivotTable<'_>]) -> Option<String> {
    let is_in_pivot = |name: &str| pivots.iter().any(|table| table.shows(result, name));
    let figures = result.figures.iter();
    let other_figures = figures.filter(|(name, figure)| {
        !is_latency(name) && !is_shown(result, name, figure) && !is_in_pivot(name)
    });
    let descriptions = other_figures.map(|(name, figure)| {
        let published = find_reference(result, name).map(|reference| {
            let value = number::format_grouped(reference.published.value);
            format!(" ({}: {value})", reference_label(reference))
        });
        format!("{name} {figure}{}", published.unwrap_or_default())
    });
    let others = join(descriptions, "; ");
    let title = format!("{} {}", result.scenario, result.mode);
    (!others.is_empty()).then(|| format!("{title}, not judged: {others}."))
}

fn reference_label(reference: &UnjudgedReference) -> String {
    source_label(reference.source.as_deref(), reference.kind)
}

/// A cell of the table, in LoadGen's unit or in that of a limit.
fn is_latency(name: &str) -> bool {
    let kind =
        LATENCY_KINDS.iter().find_map(|(kind, _)| name.strip_prefix(kind)?.strip_prefix('_'));
    let statistic = kind.and_then(|rest| rest.rsplit_once('_'));
    statistic.is_some_and(|(suffix, _)| {
        LATENCY_STATISTICS.iter().any(|(statistic, ..)| *statistic == suffix)
    })
}

/// The figure has a row among the measured and published ones: under its own name, under the
/// recipe's, or in another unit.
fn is_shown(result: &ResultVerdict, name: &str, figure: &FigureValue) -> bool {
    let judged = result.judgements.iter().map(|judgement| &judgement.figure);
    // Of published figures there is a row each, and none of those that are only declared.
    let declared = result.declared.iter().filter(|_| result.judgements.is_empty());
    let mut names = judged.chain(declared).chain(&result.deciding);
    let stem = |name: &str| match name.rsplit_once('_') {
        Some((stem, "ns" | "us" | "ms" | "s")) => stem.to_owned(),
        _ => name.to_owned(),
    };
    names.any(|other| {
        stem(other).eq_ignore_ascii_case(&stem(name)) || result.figures.get(other) == Some(figure)
    })
}

#[cfg(test)]
mod tests {
    use super::is_latency;

    #[test]
    fn only_measured_latencies_are_latency_cells() {
        let cells = ["latency_p99_9_ns", "ttft_mean_ns", "tpot_p99_ms"];
        assert!(cells.into_iter().all(is_latency));
        let others = ["ttft_early_stopping_p99_ns", "samples_per_second"];
        assert!(!others.into_iter().any(is_latency));
    }
}
