//! Very many runs: outcomes and charts first, then groups of runs that measured the same, and the latest
//! runs of each. Its size is bounded.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};
use jiff::tz::TimeZone;

use super::figures::{NOTHING, format_ratio};
use super::{marks, runs, verdict};
use crate::charts::{Bar, BarChart, Chart, ChartKind, median, value_range};
use crate::document::{Block, Column, Document, Section, StyledText, Table, TableCell};
use crate::figure_title::figure_title;
use retrial_document::measures::format;
use retrial_history::{DecidingFigure, RunSummary};
use retrial_results::verdict::{Outcome, QualifiedOutcome, number};

/// The most groups of a page.
const MAX_GROUPS: usize = 400;
/// The most runs of a page, and the least of each group.
const MAX_RUNS: usize = 3000;
const MIN_RUNS_PER_GROUP: usize = 3;
/// The most letters of a note that is one line.
const MAX_NOTE_LETTERS: usize = 40;
/// The most charts, and the most bars of one.
const MAX_CHARTS: usize = 12;
const MAX_BARS: usize = 12;

/// A page of very many runs.
pub struct RunsPage<'a> {
    /// The version that made the page, and when.
    pub made_by: String,
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

pub fn history_document(many: &RunsPage<'_>) -> Document {
    let groups = group_runs(many.rows);
    let newest = groups.iter().filter_map(|group| group.rows.first());
    let notices = verdict::notice_blocks(newest.map(|row| &row.submission)).collect_vec();
    let unverified = !notices.is_empty();
    let sections = [
        Section::nonempty_block("Outcomes", outcome_blocks(many)),
        Section::nonempty_block("Charts", Block::charts(figure_charts(&groups, unverified))),
        Section::nonempty_block("Groups", groups_blocks(&groups, unverified)),
        Section::nonempty_block("Runs", run_blocks(many, &groups)),
    ];
    let blocks = sections.into_iter().flatten().chain(notices);
    let title = format!("Retrial: {}", format::format_count(many.rows.len(), "run"));
    Document { made_by: many.made_by.as_str().into(), ..Document::new(title, blocks) }
}

/// Groups runs by title, variants and machine.
fn group_runs(rows: &[RunSummary]) -> Vec<HistoryGroup<'_>> {
    let mut rows_by_group: BTreeMap<(&str, String, &str), Vec<&RunSummary>> = BTreeMap::new();
    for row in rows.iter().rev() {
        let place = if row.gpus.is_empty() { &row.host } else { &row.gpus };
        let key = (runs::benchmark_title(row), row.format_choices(), place.as_str());
        rows_by_group.entry(key).or_default().push(row);
    }
    let entries = rows_by_group.into_iter();
    let groups =
        entries.map(|((title, choices, place), rows)| HistoryGroup { title, choices, place, rows });
    groups.collect()
}

fn outcome_blocks(many: &RunsPage<'_>) -> Vec<Block> {
    let rows = many.rows.iter();
    let states = rows.map(|row| (row.qualified_outcome(), row.state_word()));
    let table = Table::builder("Runs by outcome", states.counts().into_iter().sorted())
        .status("outcome", |((outcome, state), _)| outcome_status(outcome.as_ref(), state))
        .number("runs", |(_, count)| count.to_string());
    let started = |row: Option<&RunSummary>| {
        row.map_or(String::new(), |row| runs::format_start(row, many.zone))
    };
    let (first, last) = (started(many.rows.first()), started(many.rows.last()));
    let span_text = StyledText::Faint(format!("From {first} to {last}.").into());
    let span = [Block::paragraph(span_text)];
    table.into_block().into_iter().chain(span).collect()
}

fn outcome_status(outcome: Option<&QualifiedOutcome>, state: &str) -> TableCell {
    outcome.map_or_else(|| format!("• {state}").into(), marks::outcome_cell)
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

fn figure_spreads<'a>(group: &HistoryGroup<'a>) -> Vec<Spread<'a>> {
    let is_valid = |outcome: Outcome| outcome < Outcome::Invalid;
    let rows = group.rows.iter();
    let valid = rows.filter(|row| row.outcome.is_some_and(is_valid));
    let measured = valid.filter_map(|row| {
        let deciding = row.deciding.as_ref()?;
        Some((deciding, deciding.value.filter(|value| value.is_finite())?))
    });
    let key = |(deciding, _): &(&'a DecidingFigure, f64)| {
        (deciding.scenario.as_str(), deciding.figure.as_str())
    };
    let spreads =
        measured.into_group_map_by(key).into_iter().filter_map(|((scenario, figure), measured)| {
            let values = measured.iter().map(|(_, value)| *value).collect_vec();
            let ratios = measured.iter().filter_map(|(deciding, _)| deciding.ratio);
            let (lowest, highest) = value_range(values.iter().copied());
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
    spreads.sorted_by_key(|spread| (spread.scenario, spread.figure)).collect()
}

/// A chart for each figure of each recipe, with a bar for each group.
fn figure_charts(groups: &[HistoryGroup<'_>], unverified: bool) -> Vec<Chart> {
    type GroupKey<'a> = (&'a str, &'a str, &'a str, &'a str);
    let mut bars_by_figure: BTreeMap<GroupKey<'_>, Vec<Bar>> = BTreeMap::new();
    for group in groups {
        for spread in figure_spreads(group) {
            let key = (group.title, spread.scenario, spread.figure, spread.unit);
            let label = match group.choices.as_str() {
                "" => group.place.to_owned(),
                choices => format!("{choices}, {}", group.place),
            };
            bars_by_figure.entry(key).or_default().push(Bar {
                interval: (spread.runs > 1).then_some((spread.lowest, spread.highest)),
                ..Bar::new(label, spread.median)
            });
        }
    }
    let word = if unverified { ", unverified" } else { "" };
    let shown = bars_by_figure.into_iter().take(MAX_CHARTS);
    let charts = shown.map(|((title, scenario, figure, unit), mut bars)| {
        let count = bars.len();
        bars.truncate(MAX_BARS);
        let omitted_note =
            (count > MAX_BARS).then(|| format!("; the first {MAX_BARS} of {count} groups"));
        let omitted = omitted_note.unwrap_or_default();
        let values = bars.iter();
        let values =
            values.map(|bar| format!("{}: {}", bar.label, number::format_figure(bar.value, unit)));
        let description = join(values, "; ");
        let title = format!("{title}, {scenario}: {figure}, median{word}{omitted}");
        let bars =
            BarChart { unit: unit.to_owned(), bars, whiskers: "lowest and highest run".to_owned() };
        Chart::new("", &title, &description, ChartKind::Bars(bars))
    });
    charts.collect()
}

fn groups_blocks(groups: &[HistoryGroup<'_>], unverified: bool) -> Vec<Block> {
    let rows = groups.iter().take(MAX_GROUPS).flat_map(|group| {
        let spreads = figure_spreads(group).into_iter().map(Some).pad_using(1, |_| None);
        spreads.map(move |spread| (group, spread))
    });
    let median = Column::number("median").with_note(marks::unverified_word(unverified));
    let to_published = Column::number("ratio").with_note("to published");
    let text = |spread: &Option<Spread<'_>>, value: fn(&Spread<'_>) -> f64| {
        let known = spread.as_ref();
        known.map_or(String::new(), |spread| {
            number::format_figure_like(value(spread), spread.unit, spread.median)
        })
    };
    let range = |spread: &Option<Spread<'_>>| {
        let several = spread.as_ref().filter(|spread| spread.runs > 1);
        several.map(|_| {
            let lowest = text(spread, |spread| spread.lowest);
            format!("{lowest} to {}", text(spread, |spread| spread.highest))
        })
    };
    let table = Table::builder("Runs by benchmark, variant and machine", rows)
        .head("benchmark", |(group, _)| TableCell::from(group.title).with_note(&group.choices))
        .text("machine", |(group, _)| group.place)
        .number("runs", |(group, _)| group.rows.len().to_string())
        .text("outcomes", |(group, _)| outcomes_cell(&group.rows))
        .text("figure", |(_, spread)| {
            let spread = spread.as_ref();
            TableCell::from(spread.map_or(String::new(), |spread| figure_title(spread.figure)))
                .with_note(spread.map_or("", |spread| spread.scenario))
        })
        .column(median, |(_, spread)| {
            let middle = TableCell::from(text(spread, |spread| spread.median));
            middle.with_note(range(spread).unwrap_or_default())
        })
        .column(to_published, |(_, spread)| {
            let ratio = spread.as_ref().map(|spread| spread.ratio);
            let cell = TableCell::from(ratio.map_or(String::new(), format_ratio));
            cell.with_ratio(ratio.flatten())
        });
    let rest = groups.len().saturating_sub(MAX_GROUPS);
    let fewer = "select fewer runs with --recipe, --set, --host, --since";
    let rest = Block::omitted_note(rest, "more group", fewer);
    table.into_block().into_iter().chain(rest).collect()
}

/// The outcomes of runs in two lines: the first of them, and the others with the number of qualified ones.
fn outcomes_cell(rows: &[&RunSummary]) -> TableCell {
    let states = rows.iter().map(|row| (row.outcome, row.state_word()));
    let mut counts = states
        .counts()
        .into_iter()
        .sorted_by_key(|((outcome, state), _)| (outcome.is_none(), *outcome, *state));
    let Some(((_, first), count)) = counts.next() else {
        return TableCell::default();
    };
    let others = counts.collect_vec();
    let kinds = rows.iter().filter_map(|row| row.qualified_outcome());
    let qualified = kinds.filter(|outcome| !outcome.kinds.is_empty()).count();
    let qualified = (qualified > 0).then(|| format!("{qualified} qualified"));
    let format_note = |others: Vec<String>| join(others.into_iter().chain(qualified.clone()), ", ");
    let each = others.iter().map(|((_, state), count)| format!("{count} {state}"));
    let mut note = format_note(each.collect());
    if note.chars().count() > MAX_NOTE_LETTERS {
        let sum: usize = others.iter().map(|(_, count)| count).sum();
        note = format_note(vec![format::format_count(sum, "other")]);
    }
    TableCell::from(format!("{count} {first}")).with_note(note)
}

/// The latest runs of each group.
fn run_blocks(many: &RunsPage<'_>, groups: &[HistoryGroup<'_>]) -> Vec<Block> {
    let each = (MAX_RUNS / groups.len().max(1)).max(MIN_RUNS_PER_GROUP);
    let folded = groups.iter().take(MAX_GROUPS).map(|group| {
        let words = [group.title, &group.choices, group.place];
        let name = join(words.into_iter().filter(|word| !word.is_empty()), ", ");
        let unit = runs::deciding_unit(group.rows.iter().take(each).copied());
        let figure = |row: &RunSummary| {
            let deciding = row.deciding.as_ref();
            let text =
                deciding.and_then(|deciding| Some(unit.format(deciding.value?, &deciding.unit)));
            text.unwrap_or(NOTHING.to_owned())
        };
        let caption = format!("Runs of {name}, newest first");
        let table = Table::builder(caption, group.rows.iter().take(each))
            .head("run", |row| TableCell::from(&row.id).with_link((many.link)(row)))
            .text("started", |row| runs::format_start(row, many.zone))
            .text("host", |row| &row.host)
            .status("outcome", |row| {
                outcome_status(row.qualified_outcome().as_ref(), row.state_word())
            })
            .number("figure", |row| figure(row))
            .column(Column::number("ratio").with_note("to published"), |row| {
                format_ratio(runs::deciding_ratio(row))
            });
        let rest = group.rows.len().saturating_sub(each);
        let rest = Block::omitted_note(rest, "older run", "`retrial runs` lists them");
        let count = format::format_count(group.rows.len(), "run");
        let blocks = table.into_block().into_iter().chain(rest);
        Block::folded(format!("{name}: {count}"), blocks)
    });
    folded.collect()
}
