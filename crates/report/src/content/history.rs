//! Very many runs: outcomes and charts first, then groups of runs that measured the same, and the latest
//! runs of each. Its size is bounded.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};
use jiff::tz::TimeZone;

use super::figures::{NOTHING, ratio, unverified_word};
use super::{marks, runs, verdict};
use crate::charts::{Bar, BarChart, Chart, ChartKind, FigureOrigin, extent, median};
use crate::document::{Block, Column, Document, Section, StyledText, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::{DecidingFigure, RunSummary};
use retrial_results::verdict::{Outcome, QualifiedOutcome, number};

/// The most groups of a page.
const GROUPS: usize = 400;
/// The most runs of a page, and the least of each group.
const RUNS: usize = 3000;
const LEAST: usize = 3;
/// The most charts, and the most bars of one.
const CHARTS: usize = 12;
const BARS: usize = 12;

/// A page of very many runs.
pub struct RunsPage<'a> {
    /// The version that made the page, and when.
    pub made: String,
    /// The runs, newest last.
    pub rows: &'a [RunSummary],
    /// The path from the page to a run's directory, if it is known.
    pub link: &'a dyn Fn(&RunSummary) -> Option<String>,
    /// The zone of the times shown.
    pub zone: &'a TimeZone,
}

/// Runs that measured the same.
struct HistoryGroup<'a> {
    title: &'a str,
    choices: String,
    place: &'a str,
    /// The runs, newest first.
    rows: Vec<&'a RunSummary>,
}

/// Makes the document of a page.
pub fn document(many: &RunsPage<'_>) -> Document {
    let groups = groups(many.rows);
    let newest = groups.iter().filter_map(|group| group.rows.first());
    let notices = verdict::notices(newest.map(|row| &row.submission)).collect_vec();
    let unverified = !notices.is_empty();
    let sections = [
        Section::of("Outcomes", outcomes(many)),
        Section::of("Charts", Block::charts(charts(&groups, unverified))),
        Section::of("Groups", summary(&groups, unverified)),
        Section::of("Runs", listed(many, &groups)),
    ];
    let blocks = sections.into_iter().flatten().chain(notices);
    let title = format!("Retrial: {}", format::count(many.rows.len(), "run"));
    Document {
        made: many.made.as_str().into(),
        ..Document::new(title, blocks)
    }
}

/// Groups runs by title, variants and machine.
fn groups(rows: &[RunSummary]) -> Vec<HistoryGroup<'_>> {
    let mut groups: BTreeMap<(&str, String, &str), Vec<&RunSummary>> = BTreeMap::new();
    for row in rows.iter().rev() {
        let place = if row.gpus.is_empty() {
            &row.host
        } else {
            &row.gpus
        };
        let key = (runs::title(row), row.choices(), place.as_str());
        groups.entry(key).or_default().push(row);
    }
    let groups = groups.into_iter();
    let groups = groups.map(|((title, choices, place), rows)| HistoryGroup {
        title,
        choices,
        place,
        rows,
    });
    groups.collect()
}

fn outcomes(many: &RunsPage<'_>) -> Vec<Block> {
    let states = many.rows.iter();
    let states = states.map(|row| (row.qualified_outcome(), row.state()));
    let table = Table::of("Runs by outcome", states.counts().into_iter().sorted())
        .status("outcome", |((outcome, state), _)| {
            status(outcome.as_ref(), state)
        })
        .number("runs", |(_, count)| count.to_string());
    let started =
        |row: Option<&RunSummary>| row.map_or(String::new(), |row| runs::started(row, many.zone));
    let (first, last) = (started(many.rows.first()), started(many.rows.last()));
    let span = StyledText::Faint(format!("From {first} to {last}.").into());
    let span = [Block::paragraph(span)];
    table.block().into_iter().chain(span).collect()
}

fn status(outcome: Option<&QualifiedOutcome>, state: &str) -> TableCell {
    outcome.map_or_else(|| format!("• {state}").into(), marks::outcome)
}

/// A figure of the valid runs of a group.
struct Spread<'a> {
    scenario: &'a str,
    figure: &'a str,
    unit: &'a str,
    runs: usize,
    lowest: f64,
    median: f64,
    highest: f64,
    /// The median of the ratios to the published figure.
    ratio: Option<f64>,
}

fn spreads<'a>(group: &HistoryGroup<'a>) -> Vec<Spread<'a>> {
    let is_valid = |outcome: Outcome| outcome < Outcome::Invalid;
    let valid = group.rows.iter();
    let valid = valid.filter(|row| row.outcome.is_some_and(is_valid));
    let measured = valid.filter_map(|row| {
        let deciding = row.deciding.as_ref()?;
        Some((deciding, deciding.value.filter(|value| value.is_finite())?))
    });
    let key = |(deciding, _): &(&'a DecidingFigure, f64)| {
        (deciding.scenario.as_str(), deciding.figure.as_str())
    };
    let spreads =
        measured
            .into_group_map_by(key)
            .into_iter()
            .filter_map(|((scenario, figure), measured)| {
                let values = measured.iter().map(|(_, value)| *value).collect_vec();
                let ratios = measured.iter().filter_map(|(deciding, _)| deciding.ratio);
                let (lowest, highest) = extent(values.iter().copied());
                Some(Spread {
                    scenario,
                    figure,
                    unit: &measured[0].0.unit,
                    runs: values.len(),
                    lowest,
                    median: median(&values)?,
                    highest,
                    ratio: median(&ratios.collect_vec()),
                })
            });
    spreads
        .sorted_by_key(|spread| (spread.scenario, spread.figure))
        .collect()
}

/// A chart for each figure of each recipe, with a bar for each group.
fn charts(groups: &[HistoryGroup<'_>], unverified: bool) -> Vec<Chart> {
    type GroupKey<'a> = (&'a str, &'a str, &'a str, &'a str);
    let mut bars_by_figure: BTreeMap<GroupKey<'_>, Vec<Bar>> = BTreeMap::new();
    for group in groups {
        for spread in spreads(group) {
            let key = (group.title, spread.scenario, spread.figure, spread.unit);
            let label = match group.choices.as_str() {
                "" => group.place.to_owned(),
                choices => format!("{choices}, {}", group.place),
            };
            bars_by_figure.entry(key).or_default().push(Bar {
                interval: (spread.runs > 1).then_some((spread.lowest, spread.highest)),
                ..Bar::new(label, spread.median, FigureOrigin::Measured)
            });
        }
    }
    let word = if unverified { ", unverified" } else { "" };
    let charts = bars_by_figure.into_iter().take(CHARTS);
    let charts = charts.map(|((title, scenario, figure, unit), mut bars)| {
        let count = bars.len();
        bars.truncate(BARS);
        let omitted = (count > BARS).then(|| format!("; the first {BARS} of {count} groups"));
        let omitted = omitted.unwrap_or_default();
        let values = bars.iter();
        let values =
            values.map(|bar| format!("{}: {}", bar.label, number::format_figure(bar.value, unit)));
        let description = join(values, "; ");
        let title = format!("{title}, {scenario}: {figure}, median{word}{omitted}");
        let bars = BarChart {
            unit: unit.to_owned(),
            bars,
            whiskers: "lowest and highest run".to_owned(),
        };
        Chart::new("", &title, &description, ChartKind::Bars(bars))
    });
    charts.collect()
}

fn summary(groups: &[HistoryGroup<'_>], unverified: bool) -> Vec<Block> {
    let rows = groups.iter().take(GROUPS).flat_map(|group| {
        let rows = spreads(group).into_iter().map(Some);
        let rows = rows.pad_using(1, |_| None);
        rows.map(move |spread| (group, spread))
    });
    let states = |group: &HistoryGroup<'_>| {
        let counts = group.rows.iter().map(|row| row.described_state()).counts();
        let counts = counts.into_iter().sorted();
        let counts = counts.map(|(state, count)| format!("{count} {state}"));
        join(counts, ", ")
    };
    let median = Column::number("median").noted(unverified_word(unverified));
    let to_published = Column::number("ratio").noted("to published");
    let text = |spread: &Option<Spread<'_>>, value: fn(&Spread<'_>) -> f64| {
        let spread = spread.as_ref();
        spread.map_or(String::new(), |spread| {
            number::format_figure_like(value(spread), spread.unit, spread.median)
        })
    };
    let table = Table::of("Runs by benchmark, variant and machine", rows)
        .head("benchmark", |(group, _)| group.title)
        .text("variant", |(group, _)| &group.choices)
        .text("machine", |(group, _)| group.place)
        .number("runs", |(group, _)| group.rows.len().to_string())
        .text("outcomes", |(group, _)| states(group))
        .text("scenario", |(_, spread)| {
            spread.as_ref().map_or("", |spread| spread.scenario)
        })
        .text("figure", |(_, spread)| {
            spread.as_ref().map_or("", |spread| spread.figure)
        })
        .column(median, |(_, spread)| text(spread, |spread| spread.median))
        .number("lowest", |(_, spread)| text(spread, |spread| spread.lowest))
        .number("highest", |(_, spread)| {
            text(spread, |spread| spread.highest)
        })
        .column(to_published, |(_, spread)| {
            spread
                .as_ref()
                .map_or(String::new(), |spread| ratio(spread.ratio))
        });
    let rest = groups.len().saturating_sub(GROUPS);
    let fewer = "select fewer runs with --recipe, --set, --host, --since";
    let rest = Block::rest(rest, "more group", fewer);
    table.block().into_iter().chain(rest).collect()
}

/// The latest runs of each group.
fn listed(many: &RunsPage<'_>, groups: &[HistoryGroup<'_>]) -> Vec<Block> {
    let each = (RUNS / groups.len().max(1)).max(LEAST);
    let folded = groups.iter().take(GROUPS).map(|group| {
        let words = [group.title, &group.choices, group.place];
        let name = join(words.into_iter().filter(|word| !word.is_empty()), ", ");
        let figure = |row: &RunSummary| {
            let deciding = row.deciding.as_ref();
            let text = deciding
                .and_then(|deciding| Some(number::format_figure(deciding.value?, &deciding.unit)));
            text.unwrap_or(NOTHING.to_owned())
        };
        let caption = format!("Runs of {name}, newest first");
        let table = Table::of(caption, group.rows.iter().take(each))
            .head("run", |row| {
                TableCell::from(&row.id).linked((many.link)(row))
            })
            .text("started", |row| runs::started(row, many.zone))
            .text("host", |row| &row.host)
            .status("outcome", |row| {
                status(row.qualified_outcome().as_ref(), row.state())
            })
            .number("figure", |row| figure(row))
            .column(Column::number("ratio").noted("to published"), |row| {
                ratio(runs::ratio_of(row))
            });
        let rest = group.rows.len().saturating_sub(each);
        let rest = Block::rest(rest, "older run", "`retrial runs` lists them");
        let count = format::count(group.rows.len(), "run");
        let blocks = table.block().into_iter().chain(rest);
        Block::folded(format!("{name}: {count}"), blocks)
    });
    folded.collect()
}
