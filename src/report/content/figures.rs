//! The figures of a verdict as tables: what was measured, what was published, how they compare.

use super::marks;
pub(super) use crate::report::document::NOTHING;
use crate::report::document::{Block, Cell, Column, Table};
use crate::results::verdict::{
    Bounds, FigureValue, Judgement, Outcome, Reference, ResultVerdict, Verdict, number,
};
use retrial_recipe::model::ExpectationKind;

/// More figures of one result than this are a table of their own, and their sentences are one.
pub(super) const MANY: usize = 8;
/// More figures are no cards.
const CARDS: usize = 16;
/// A longer source stands in the sentence only.
const LONGEST_SOURCE: usize = 24;

/// One figure, in words.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub scenario: String,
    pub mode: String,
    pub figure: String,
    pub measured: String,
    /// Without its unit, which stands beside the measured figure.
    pub published: String,
    pub source: String,
    pub ratio: String,
    pub bounds: String,
    pub outcome: Outcome,
}

/// The tables of a verdict's figures; a result of many figures has one of its own.
pub(super) fn tables(verdict: &Verdict) -> Vec<Block> {
    let mut together = Vec::new();
    let mut tables = Vec::new();
    for result in &verdict.results {
        let rows = of(result);
        if rows.len() > MANY {
            tables.push(Block::Table(by_itself(result, &rows, verdict)));
        } else {
            together.extend(rows);
        }
    }
    if !together.is_empty() {
        let columns = columns(verdict.notice.is_some(), verdict.confidence);
        let cards = together.len() <= CARDS && tables.is_empty();
        let rows = together.into_iter().map(cells);
        let table = Table::new("Measured and published figures", columns, rows);
        tables.insert(0, Block::Table(Table { cards, ..table }));
    }
    tables
}

/// The columns of figures.
pub(super) fn columns(unverified: bool, confidence: f64) -> Vec<Column> {
    vec![
        Column::head("scenario"),
        Column::head("mode").under(0),
        Column::text("figure").under(3),
        Column::number("measured").noted(unverified_word(unverified)),
        Column::number("published"),
        Column::text("source").under(4),
        Column::number("ratio"),
        Column::text(at(confidence)).under(6),
        Column::status("outcome"),
    ]
}

/// The cells of a figure, as [`columns`] has them.
pub(super) fn cells(row: Row) -> Vec<Cell> {
    vec![
        row.scenario.into(),
        row.mode.into(),
        row.figure.into(),
        row.measured.into(),
        row.published.into(),
        row.source.into(),
        row.ratio.into(),
        row.bounds.into(),
        marks::outcome(row.outcome),
    ]
}

/// `MLCommons`' guidelines ask for the word next to each score.
pub(super) fn unverified_word(unverified: bool) -> &'static str {
    if unverified { "unverified" } else { "" }
}

/// `at 95 %`
pub(super) fn at(confidence: f64) -> String {
    format!("at {}", number::percent(confidence))
}

/// `0.944–0.969`; nothing where there is no interval.
pub(super) fn interval(interval: Option<Bounds>) -> String {
    let found = interval.filter(|interval| interval.upper > interval.lower);
    found.map_or_else(String::new, |found| {
        let (lower, upper) = (number::ratio(found.lower), number::ratio(found.upper));
        format!("{lower}–{upper}")
    })
}

/// A ratio, or the sign for none.
pub(super) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or(NOTHING.to_owned(), number::ratio)
}

/// The figures of one result, whose name is the title. On a narrow terminal the bounds stand in the
/// sentences only.
fn by_itself(result: &ResultVerdict, rows: &[Row], verdict: &Verdict) -> Table {
    let entries = table_of_all(rows);
    let mut title = format!("{} {}", result.scenario, result.mode);
    if let Some(table) = entries {
        title = format!("{title}: {table}");
    }
    let name = if entries.is_some() { "entry" } else { "figure" };
    let columns = vec![
        Column::head(name),
        Column::number("measured").noted(unverified_word(verdict.notice.is_some())),
        Column::number("published"),
        Column::number("ratio"),
        Column::text(at(verdict.confidence)).spare(0),
        Column::status("outcome"),
    ];
    let lines = rows.iter().map(|row| {
        let figure = match entries {
            Some(table) => row.figure[table.len()..].trim_matches(['[', ']']),
            None => row.figure.as_str(),
        };
        vec![
            figure.into(),
            row.measured.as_str().into(),
            row.published.as_str().into(),
            row.ratio.as_str().into(),
            row.bounds.as_str().into(),
            marks::outcome(row.outcome),
        ]
    });
    Table {
        titled: true,
        ..Table::new(title, columns, lines)
    }
}

/// The one table that all figures are entries of.
fn table_of_all(rows: &[Row]) -> Option<&str> {
    let table = |row: &Row| row.figure.split_once('[').map(|(table, _)| table.len());
    let first = rows.first()?;
    let name = &first.figure[..table(first)?];
    let same = |row: &Row| table(row).is_some_and(|end| &row.figure[..end] == name);
    rows.iter().all(same).then_some(name)
}

/// The rows of a result: one for each published figure, or one for what was measured.
pub(super) fn of(result: &ResultVerdict) -> Vec<Row> {
    let of_result = matches!(result.outcome, Outcome::Invalid | Outcome::Failed);
    if result.judgements.is_empty() {
        return vec![measured(result)];
    }
    result
        .judgements
        .iter()
        .map(|judgement| {
            let outcome = if of_result {
                result.outcome
            } else {
                judgement.outcome
            };
            judged(result, judgement, outcome)
        })
        .collect()
}

fn judged(result: &ResultVerdict, judgement: &Judgement, outcome: Outcome) -> Row {
    let reference = judgement
        .references
        .iter()
        .find(|reference| reference.decides);
    let (unit, like) = match (&judgement.measured, reference) {
        (Some(measured), _) => (measured.unit.as_str(), measured.value),
        (None, Some(reference)) => ("", reference.value),
        (None, None) => ("", 1.0),
    };
    Row {
        measured: judgement
            .measured
            .as_ref()
            .map_or(NOTHING.to_owned(), shown),
        published: reference.map_or(NOTHING.to_owned(), |reference| {
            let shown = number::figure_like(reference.value, unit, like);
            shown.split(' ').next().unwrap_or_default().to_owned()
        }),
        source: reference.map(source).unwrap_or_default(),
        ratio: ratio(judgement.ratio),
        bounds: bounds(judgement),
        outcome,
        ..named(result, &judgement.figure)
    }
}

/// What was measured, next to the benchmark's own limit if it has one.
fn measured(result: &ResultVerdict) -> Row {
    let name = result.deciding.as_deref().unwrap_or_default();
    let limit = result.rules.iter().find(|rule| rule.rule == name);
    Row {
        measured: result.figures.get(name).map_or(NOTHING.to_owned(), shown),
        published: limit.map_or(NOTHING.to_owned(), |rule| rule.required.clone()),
        source: limit.map_or_else(String::new, |_| "limit".to_owned()),
        ratio: NOTHING.to_owned(),
        bounds: String::new(),
        outcome: result.outcome,
        ..named(result, name)
    }
}

fn named(result: &ResultVerdict, figure: &str) -> Row {
    Row {
        scenario: result.scenario.clone(),
        mode: result.mode.to_string(),
        figure: figure.to_owned(),
        measured: String::new(),
        published: String::new(),
        source: String::new(),
        ratio: String::new(),
        bounds: String::new(),
        outcome: result.outcome,
    }
}

fn shown(figure: &FigureValue) -> String {
    number::figure(figure.value, &figure.unit)
}

fn source(reference: &Reference) -> String {
    let kind = match reference.kind {
        ExpectationKind::Official => "official",
        ExpectationKind::Guide => "guide",
        ExpectationKind::ThirdParty => "third party",
    };
    match reference.source.clone() {
        Some(source) if source.chars().count() <= LONGEST_SOURCE => source,
        _ => kind.to_owned(),
    }
}

/// The side of the interval that decides; both where neither does.
fn bounds(judgement: &Judgement) -> String {
    let Some(bounds) = judgement.bounds else {
        return String::new();
    };
    let (lower, upper) = (number::ratio(bounds.lower), number::ratio(bounds.upper));
    match judgement.outcome {
        _ if bounds.upper <= bounds.lower => String::new(),
        Outcome::Reproduced => format!("≥ {lower}"),
        Outcome::NotReproduced | Outcome::Invalid => format!("≤ {upper}"),
        _ => format!("{lower}–{upper}"),
    }
}
