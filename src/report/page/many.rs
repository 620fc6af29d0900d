//! The page of very many runs: what they say together first, then groups of those that measured the
//! same, and of each group its latest runs. It stays a page, however many runs there are.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::charts::drawn;
use super::frame::{Cell, address, class, document, table};
use crate::format;
use crate::history::Row;
use crate::report::charts::{Bar, Bars, Chart, Kind, Tone, file_name};
use crate::report::markup::Markup;
use crate::report::words::{clean, symbol};
use crate::verdict::{Outcome, notice, number};

/// Groups that are told one by one.
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
    pub rows: &'a [Row],
    /// The way from the page to a run's directory, where it is known.
    pub link: &'a dyn Fn(&Row) -> Option<String>,
    /// In which times are told.
    pub zone: &'a TimeZone,
}

/// Runs that measured the same.
struct Group<'a> {
    title: String,
    choices: String,
    place: String,
    /// Newest first.
    rows: Vec<&'a Row>,
}

/// The page.
#[must_use]
pub fn html(many: &Many<'_>) -> String {
    let groups = groups(many.rows);
    let mut notices: Vec<String> = Vec::new();
    for group in &groups {
        let told = group.rows.first().and_then(|row| notice(&row.submission));
        notices.extend(told.filter(|told| !notices.contains(told)));
    }
    let notices: Vec<&str> = notices.iter().map(String::as_str).collect();
    let title = format!("Retrial: {}", format::count(many.rows.len(), "run"));
    document(&title, &many.made, &notices, |main| {
        outcomes(main, many);
        let charts = charts(&groups, !notices.is_empty());
        if !charts.is_empty() {
            main.leaf("h2", &[], "Charts");
            drawn(main, &charts, "m");
        }
        main.leaf("h2", &[], "Groups");
        summary(main, &groups, !notices.is_empty());
        main.leaf("h2", &[], "Runs");
        runs(main, many, &groups);
    })
}

/// By what was measured, with what, on which kind of machine.
fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut found: BTreeMap<(String, String, String), Vec<&Row>> = BTreeMap::new();
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

fn outcomes(main: &mut Markup, many: &Many<'_>) {
    main.leaf("h2", &[], "Verdicts");
    let mut counts: BTreeMap<(Option<Outcome>, &str), usize> = BTreeMap::new();
    for row in many.rows {
        *counts.entry((row.outcome, row.state())).or_default() += 1;
    }
    main.element("ul", &[("class", "cards")], |list| {
        for ((outcome, state), count) in &counts {
            let class = outcome.map_or("open", class);
            let frame = format!("card {class}");
            list.element("li", &[("class", &frame)], |card| {
                let sign = outcome.map_or("•", symbol);
                card.leaf("p", &[("class", "value")], &count.to_string());
                card.element("p", &[], |line| {
                    line.leaf("span", &[("class", class)], &format!("{sign} {state}"));
                });
            });
        }
    });
    let began = |row: Option<&Row>| row.map_or(String::new(), |row| day(row, many.zone));
    let (first, last) = (began(many.rows.first()), began(many.rows.last()));
    main.leaf(
        "p",
        &[("class", "faint")],
        &format!("From {first} to {last}."),
    );
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
                tone: Tone::Measured,
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
                let told: Vec<String> = bars
                    .iter()
                    .map(|bar| format!("{}: {}", bar.label, number::figure(bar.value, unit)))
                    .collect();
                let title = clean(&format!(
                    "{title}, {scenario}: {figure}, median{word}{what}"
                ));
                Chart {
                    name: file_name(&title),
                    title,
                    told: told.join("; "),
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

fn summary(main: &mut Markup, groups: &[Group<'_>], unverified: bool) {
    let median = if unverified {
        "median (unverified)"
    } else {
        "median"
    };
    let head = [
        "what",
        "choices",
        "where",
        "runs",
        "verdicts",
        "scenario",
        "figure",
        median,
        "lowest",
        "highest",
        "of the published",
    ];
    let rows = groups.iter().take(GROUPS).flat_map(|group| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &group.rows {
            *counts.entry(row.state()).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        let first = vec![
            Cell::Head(group.title.clone()),
            Cell::Text(group.choices.clone()),
            Cell::Text(group.place.clone()),
            Cell::Number(group.rows.len().to_string()),
            Cell::Text(counts.join(", ")),
        ];
        let figures = figures(group);
        let mut rows: Vec<Vec<Cell>> = figures
            .into_iter()
            .filter_map(|((scenario, figure), (unit, values))| {
                let (low, median, high) = spread(values.iter().map(|(value, _)| *value))?;
                let shown = |value| Cell::Number(number::figure_like(value, unit, median));
                let ratio = spread(values.iter().filter_map(|(_, ratio)| *ratio));
                let ratio = ratio.map_or("–".to_owned(), |(_, ratio, _)| number::ratio(ratio));
                let mut row = first.clone();
                row.extend([
                    Cell::Text(scenario.to_owned()),
                    Cell::Text(figure.to_owned()),
                    shown(median),
                    shown(low),
                    shown(high),
                    Cell::Number(ratio),
                ]);
                Some(row)
            })
            .collect();
        if rows.is_empty() {
            let mut row = first;
            row.extend(vec![Cell::Text(String::new()); 6]);
            rows.push(row);
        }
        rows
    });
    table(main, "What was measured, with what, and where", &head, rows);
    let rest = groups.len().saturating_sub(GROUPS);
    if rest > 0 {
        let said = format!(
            "And {}: choose fewer runs with --recipe, --set, --host, --since.",
            format::count(rest, "more group")
        );
        main.leaf("p", &[], &said);
    }
}

fn day(row: &Row, zone: &TimeZone) -> String {
    let began = row.began.map(|began| began.to_zoned(zone.clone()));
    began.map_or("–".to_owned(), |began| {
        began.strftime("%Y-%m-%d %H:%M").to_string()
    })
}

/// Of each group the latest, as many as the page has room for.
fn runs(main: &mut Markup, many: &Many<'_>, groups: &[Group<'_>]) {
    let each = (RUNS / groups.len().max(1)).max(LEAST);
    for group in groups.iter().take(GROUPS) {
        let words = [group.title.as_str(), &group.choices, &group.place];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let name = words.join(", ");
        main.element("details", &[], |details| {
            let count = format::count(group.rows.len(), "run");
            details.leaf("summary", &[], &format!("{name}: {count}"));
            let rows = group.rows.iter().take(each).map(|row| {
                let link = (many.link)(row);
                let figure = row
                    .deciding
                    .as_ref()
                    .and_then(|one| Some((one, one.value?)));
                vec![
                    link.map_or_else(
                        || Cell::Head(row.id.clone()),
                        |path| Cell::Link(row.id.clone(), address(&path)),
                    ),
                    Cell::Text(day(row, many.zone)),
                    Cell::Text(row.host.clone()),
                    match row.outcome {
                        Some(outcome) => Cell::Outcome(outcome),
                        None => Cell::News("open", format!("• {}", row.state())),
                    },
                    Cell::Number(figure.map_or("–".to_owned(), |(one, value)| {
                        number::figure(value, &one.unit)
                    })),
                    Cell::Number(
                        figure
                            .and_then(|(one, _)| one.ratio)
                            .map_or("–".to_owned(), number::ratio),
                    ),
                ]
            });
            let caption = format!("Runs of {name}, the newest first");
            let head = [
                "run",
                "began",
                "host",
                "verdict",
                "figure",
                "of the published",
            ];
            table(details, &caption, &head, rows);
            let rest = group.rows.len().saturating_sub(each);
            if rest > 0 {
                let said = format!(
                    "And {}: retrial runs lists them.",
                    format::count(rest, "older run")
                );
                details.leaf("p", &[], &said);
            }
        });
        main.literal("\n");
    }
}
