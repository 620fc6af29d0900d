//! Very many runs: what they say together first, then groups of those that measured the same, and of
//! each group its latest runs. It stays a page, however many runs there are.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::figures::{NOTHING, ratio, unverified_word};
use super::{marks, runs, verdict};
use crate::format;
use crate::history::RunSummary;
use crate::report::charts::{Bar, Bars, Chart, Kind, Origin, file_name};
use crate::report::document::{Block, Cell, Column, Document, Section, Table, Text};
use crate::results::verdict::{Outcome, notice, number};

/// Groups that are listed one by one.
const GROUPS: usize = 400;
/// Runs that are listed in all, and of one group at least.
const RUNS: usize = 3000;
const LEAST: usize = 3;
/// Charts, and bars of one.
const CHARTS: usize = 12;
const BARS: usize = 12;

/// Very many runs.
pub struct Many<'a> {
    /// With what and when the page was made.
    pub made: String,
    /// The runs, newest last.
    pub rows: &'a [RunSummary],
    /// The way from the page to a run's directory, where it is known.
    pub link: &'a dyn Fn(&RunSummary) -> Option<String>,
    /// In which times are shown.
    pub zone: &'a TimeZone,
}

/// Runs that measured the same.
struct Group<'a> {
    title: String,
    choices: String,
    place: String,
    /// Newest first.
    rows: Vec<&'a RunSummary>,
}

/// Everything about them that a page has room for.
#[must_use]
pub fn document(many: &Many<'_>) -> Document {
    let groups = groups(many.rows);
    let mut notices: Vec<String> = Vec::new();
    for group in &groups {
        let text = group.rows.first().and_then(|row| notice(&row.submission));
        notices.extend(text.filter(|text| !notices.contains(text)));
    }
    let unverified = !notices.is_empty();
    let mut blocks = vec![Section::block("Verdicts", outcomes(many))];
    let charts = Block::charts(charts(&groups, unverified));
    blocks.extend(charts.map(|charts| Section::block("Charts", vec![charts])));
    blocks.push(Section::block("Groups", summary(&groups, unverified)));
    blocks.push(Section::block("Runs", listed(many, &groups)));
    blocks.extend(notices.iter().filter_map(|one| verdict::notice(Some(one))));
    Document {
        title: format!("Retrial: {}", format::count(many.rows.len(), "run")).into(),
        made: many.made.as_str().into(),
        blocks,
    }
}

/// By what was measured, with what, on which kind of machine.
fn groups(rows: &[RunSummary]) -> Vec<Group<'_>> {
    let mut found: BTreeMap<(String, String, String), Vec<&RunSummary>> = BTreeMap::new();
    for row in rows.iter().rev() {
        let title = if row.title.is_empty() {
            &row.recipe
        } else {
            &row.title
        };
        let place = if row.gpus.is_empty() {
            &row.host
        } else {
            &row.gpus
        };
        let key = (title.clone(), row.choices(), place.clone());
        found.entry(key).or_default().push(row);
    }
    let groups = found
        .into_iter()
        .map(|((title, choices, place), rows)| Group {
            title,
            choices,
            place,
            rows,
        });
    groups.collect()
}

fn outcomes(many: &Many<'_>) -> Vec<Block> {
    let mut counts: BTreeMap<(Option<Outcome>, &str), usize> = BTreeMap::new();
    for row in many.rows {
        *counts.entry((row.outcome, row.state())).or_default() += 1;
    }
    let rows = counts.into_iter().map(|((outcome, state), count)| {
        let status = outcome.map_or_else(|| format!("• {state}").into(), marks::outcome);
        vec![status, count.to_string().into()]
    });
    let columns = vec![Column::status("outcome"), Column::number("runs")];
    let table = Table::new("Runs by outcome", columns, rows);
    let began =
        |row: Option<&RunSummary>| row.map_or(String::new(), |row| runs::started(row, many.zone));
    let (first, last) = (began(many.rows.first()), began(many.rows.last()));
    let span = Text::faint(format!("From {first} to {last}."));
    let cards = true;
    vec![
        Block::Table(Table { cards, ..table }),
        Block::paragraph(span),
    ]
}

/// By scenario and figure: the unit, and of each run the value and its ratio to the published one.
type Figures<'a> = BTreeMap<(&'a str, &'a str), (&'a str, Vec<(f64, Option<f64>)>)>;

/// What counts: the figures of valid runs.
fn figures<'a>(group: &Group<'a>) -> Figures<'a> {
    let mut found = Figures::new();
    for row in &group.rows {
        let counts = row
            .outcome
            .is_some_and(|outcome| outcome < Outcome::Invalid);
        if let Some(one) = row.deciding.as_ref().filter(|_| counts)
            && let Some(value) = one.value.filter(|value| value.is_finite())
        {
            let key = (one.scenario.as_str(), one.figure.as_str());
            let entry = found.entry(key).or_insert((one.unit.as_str(), Vec::new()));
            entry.1.push((value, one.ratio));
        }
    }
    found
}

/// Lowest, median, highest.
fn spread(values: impl Iterator<Item = f64>) -> Option<(f64, f64, f64)> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    let median = if values.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(upper, values[middle - 1])
    };
    Some((*values.first()?, median, *values.last()?))
}

/// A chart for each figure of each recipe: a bar for each group.
fn charts(groups: &[Group<'_>], unverified: bool) -> Vec<Chart> {
    type Key<'a> = (&'a str, &'a str, &'a str, &'a str);
    let mut found: BTreeMap<Key<'_>, Vec<Bar>> = BTreeMap::new();
    for group in groups {
        for ((scenario, figure), (unit, values)) in figures(group) {
            let Some((low, median, high)) = spread(values.iter().map(|(value, _)| *value)) else {
                continue;
            };
            let bars = found
                .entry((&group.title, scenario, figure, unit))
                .or_default();
            bars.push(Bar {
                label: match group.choices.as_str() {
                    "" => group.place.clone(),
                    choices => format!("{choices}, {}", group.place),
                },
                value: median,
                interval: (values.len() > 1).then_some((low, high)),
                trials: Vec::new(),
                origin: Origin::Measured,
            });
        }
    }
    let word = if unverified { ", unverified" } else { "" };
    let charts =
        found
            .into_iter()
            .take(CHARTS)
            .map(|((title, scenario, figure, unit), mut bars)| {
                let count = bars.len();
                bars.truncate(BARS);
                let what = if count > BARS {
                    format!("; the first {BARS} of {count} groups")
                } else {
                    String::new()
                };
                let values: Vec<String> = bars
                    .iter()
                    .map(|bar| format!("{}: {}", bar.label, number::figure(bar.value, unit)))
                    .collect();
                let title = format!("{title}, {scenario}: {figure}, median{word}{what}");
                Chart {
                    name: file_name(&title),
                    title,
                    description: values.join("; "),
                    kind: Kind::Bars(Bars {
                        unit: unit.to_owned(),
                        bars,
                        whiskers: "lowest and highest run".to_owned(),
                        ..Bars::default()
                    }),
                }
            });
    charts.collect()
}

fn summary(groups: &[Group<'_>], unverified: bool) -> Vec<Block> {
    let columns = vec![
        Column::head("what"),
        Column::text("with"),
        Column::text("where"),
        Column::number("runs"),
        Column::text("verdicts"),
        Column::text("scenario"),
        Column::text("figure"),
        Column::number("median").noted(unverified_word(unverified)),
        Column::number("lowest"),
        Column::number("highest"),
        Column::number("ratio").noted("to published"),
    ];
    let rows = groups.iter().take(GROUPS).flat_map(|group| {
        let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &group.rows {
            *verdicts.entry(row.state()).or_default() += 1;
        }
        let verdicts = verdicts
            .iter()
            .map(|(state, count)| format!("{count} {state}"));
        let first: Vec<Cell> = vec![
            group.title.as_str().into(),
            group.choices.as_str().into(),
            group.place.as_str().into(),
            group.rows.len().to_string().into(),
            verdicts.collect::<Vec<_>>().join(", ").into(),
        ];
        let figures = figures(group).into_iter();
        let rows = figures.filter_map(|((scenario, figure), (unit, values))| {
            let (low, median, high) = spread(values.iter().map(|(value, _)| *value))?;
            let shown = |value| Cell::from(number::figure_like(value, unit, median));
            let ratios = spread(values.iter().filter_map(|(_, ratio)| *ratio));
            let mut row = first.clone();
            row.extend([scenario.into(), figure.into()]);
            row.extend([shown(median), shown(low), shown(high)]);
            row.push(ratio(ratios.map(|(_, ratio, _)| ratio)).into());
            Some(row)
        });
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        if rows.is_empty() {
            rows.push(first);
        }
        rows
    });
    let caption = "What was measured, with what, and where";
    let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
    let rest = groups.len().saturating_sub(GROUPS);
    if rest > 0 {
        let rest = format::count(rest, "more group");
        let fewer = "select fewer runs with --recipe, --set, --host, --since";
        blocks.push(Block::paragraph(format!("{rest}: {fewer}.")));
    }
    blocks
}

/// Of each group the latest, as many as the page has room for.
fn listed(many: &Many<'_>, groups: &[Group<'_>]) -> Vec<Block> {
    let each = (RUNS / groups.len().max(1)).max(LEAST);
    let folded = groups.iter().take(GROUPS).map(|group| {
        let words = [group.title.as_str(), &group.choices, &group.place];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let name = words.join(", ");
        let rows = group.rows.iter().take(each).map(|row| {
            let figure = row
                .deciding
                .as_ref()
                .and_then(|one| Some((one, one.value?)));
            vec![
                Cell::from(row.id.as_str()).linked((many.link)(row)),
                runs::started(row, many.zone).into(),
                row.host.as_str().into(),
                match row.outcome {
                    Some(outcome) => marks::outcome(outcome),
                    None => format!("• {}", row.state()).into(),
                },
                figure
                    .map_or(NOTHING.to_owned(), |(one, value)| {
                        number::figure(value, &one.unit)
                    })
                    .into(),
                ratio(figure.and_then(|(one, _)| one.ratio)).into(),
            ]
        });
        let columns = vec![
            Column::head("run"),
            Column::text("started"),
            Column::text("host"),
            Column::status("verdict"),
            Column::number("figure"),
            Column::number("ratio").noted("to published"),
        ];
        let caption = format!("Runs of {name}, the newest first");
        let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
        let rest = group.rows.len().saturating_sub(each);
        if rest > 0 {
            let rest = format::count(rest, "older run");
            blocks.push(Block::paragraph(format!(
                "{rest}: retrial runs lists them."
            )));
        }
        let count = format::count(group.rows.len(), "run");
        Block::Folded(format!("{name}: {count}").into(), blocks)
    });
    folded.collect()
}
