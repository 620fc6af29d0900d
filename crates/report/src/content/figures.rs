//! The figures of a verdict as tables: measured, published, and their ratio.

use itertools::Itertools as _;

use super::figure_pivot::pivot_tables;
use super::marks;
pub(super) use crate::document::NOTHING;
use crate::document::{Block, Column, Table, TableCell};
use retrial_readings::number::ColumnUnit;
use retrial_recipe::model::{Claim, ExpectationKind};
use retrial_results::verdict::{
    Bounds, FigureValue, Judgement, Outcome, QualifiedOutcome, QualifierKind, Reference,
    ResultVerdict, Verdict, number, table_name,
};

/// More figures of one result than this are a table of their own, and their sentences are one.
pub(super) const MAX_INLINE_FIGURES: usize = 8;
/// A longer source is only in the sentence.
const MAX_SOURCE_LETTERS: usize = 24;
/// The number of [`figure_columns`].
const FIGURE_COLUMNS: usize = 9;
/// Of [`figure_columns`]: the figure's name, and those that a table of one result has.
const FIGURE_COLUMN: usize = 2;
const ONE_RESULT_COLUMNS: [usize; 6] = [FIGURE_COLUMN, 3, 4, 6, 7, 8];

/// The tables of a verdict's figures; a result of many figures has one of its own.
pub(super) fn figure_tables(verdict: &Verdict) -> Vec<Block> {
    let mut together = Vec::new();
    let mut tables = Vec::new();
    // The verdict's conclusion has them all, each with the result that it concerns.
    let qualifiers = verdict.qualifiers.iter();
    let said: Vec<QualifierKind> = qualifiers.map(|qualifier| qualifier.kind).collect();
    let pivots = pivot_tables(verdict);
    let units = column_unit(&verdict.results);
    for result in &verdict.results {
        let is_separate = |figure: &str| !pivots.iter().any(|table| table.shows(result, figure));
        let rows: Vec<Vec<TableCell>> = shown_figures(result)
            .into_iter()
            .filter(|(figure, _)| is_separate(figure))
            .map(|(figure, judged)| figure_row(result, figure, judged, &said, units).to_vec())
            .collect();
        if rows.len() > MAX_INLINE_FIGURES {
            tables.push(Block::Table(single_result_table(result, rows, verdict)));
        } else {
            together.extend(rows);
        }
    }
    if !together.is_empty() {
        let columns = figure_columns(verdict.notice.is_some(), verdict.confidence);
        let table = Table::new("Measured and published figures", columns, together);
        tables.insert(0, Block::Table(table));
    }
    tables.extend(pivots.into_iter().filter_map(|table| table.render(verdict)));
    tables
}

pub(super) fn figure_columns(unverified: bool, confidence: f64) -> Vec<Column> {
    vec![
        Column::head("scenario"),
        Column::head("mode").stack_under(0),
        Column::text("figure").stack_under(3),
        Column::number("measured").with_note(marks::unverified_word(unverified)),
        Column::number("published"),
        Column::text("source").stack_under(4),
        Column::number("ratio"),
        Column::text(confidence_label(confidence)).stack_under(6),
        Column::status("outcome"),
    ]
}

/// Returns the head of a column of bounds: `at 95 %`.
pub(super) fn confidence_label(confidence: f64) -> String {
    format!("at {}", number::format_percent(confidence))
}

/// The head of a column of two-sided intervals: `95 % interval`.
pub(super) fn interval_column(confidence: f64) -> Column {
    Column::text(format!("{} interval", number::format_percent(confidence)))
}

/// A two-sided interval, `0.944–0.969`; empty without one.
pub(super) fn format_interval(interval: Option<Bounds>) -> String {
    let proper = interval.filter(|interval| interval.upper > interval.lower);
    proper.map_or_else(String::new, |Bounds { lower, upper }| {
        format!("{}–{}", number::format_ratio(lower), number::format_ratio(upper))
    })
}

/// A ratio, or the sign for none.
pub(super) fn format_ratio(ratio: Option<f64>) -> String {
    ratio.map_or(NOTHING.to_owned(), number::format_ratio)
}

/// The figures of one result, whose name is the title. On a narrow terminal the bounds are only in the
/// sentences.
fn single_result_table(
    result: &ResultVerdict,
    rows: Vec<Vec<TableCell>>,
    verdict: &Verdict,
) -> Table {
    let prefix = common_table(&rows).map(str::to_owned);
    let mut title = format!("{} {}", result.scenario, result.mode);
    if let Some(table) = &prefix {
        title = format!("{title}: {table}");
    }
    let name = if prefix.is_some() { "entry" } else { "figure" };
    let mut columns = figure_columns(verdict.notice.is_some(), verdict.confidence);
    columns[FIGURE_COLUMN] = Column::head(name);
    columns[7] = Column::text(confidence_label(verdict.confidence)).omit_at_rank(0);
    let columns = ONE_RESULT_COLUMNS.map(|column| columns[column].clone());
    let lines = rows.into_iter().map(|mut row| {
        if let Some(table) = &prefix {
            let entry = row[FIGURE_COLUMN].text[table.len()..].trim_matches(['[', ']']);
            row[FIGURE_COLUMN] = entry.to_owned().into();
        }
        ONE_RESULT_COLUMNS.map(|column| row[column].clone()).to_vec()
    });
    Table { titled: true, ..Table::new(title, columns.to_vec(), lines) }
}

/// The one table that all figures are entries of.
fn common_table(rows: &[Vec<TableCell>]) -> Option<&str> {
    let mut tables = rows.iter().map(|row| table_name(&row[FIGURE_COLUMN].text));
    tables.all_equal_value().ok()?
}

/// The cells of [`figure_columns`] of a result. `said` are kinds of qualifiers that stand next to the table.
pub(super) fn figure_rows(
    result: &ResultVerdict,
    said: &[QualifierKind],
    unit: ColumnUnit,
) -> Vec<Vec<TableCell>> {
    let figures = shown_figures(result).into_iter();
    let rows = figures.map(|(figure, judged)| figure_row(result, figure, judged, said, unit));
    rows.map(|row| row.to_vec()).collect()
}

/// The unit of the times that these results show in one column.
pub(super) fn column_unit<'a>(results: impl IntoIterator<Item = &'a ResultVerdict>) -> ColumnUnit {
    let figures = results.into_iter().flat_map(|result| {
        let shown = shown_figures(result).into_iter();
        shown.filter_map(|(figure, judged)| measured_figure(result, figure, judged))
    });
    ColumnUnit::of(figures.map(|figure| (figure.value, figure.unit.as_str())))
}

fn measured_figure<'a>(
    result: &'a ResultVerdict,
    figure: &str,
    judged: Option<&'a Judgement>,
) -> Option<&'a FigureValue> {
    judged.map_or_else(|| result.figures.get(figure), |judged| judged.measured.as_ref())
}

/// Each published figure; if there is none, each that the recipe declares, after the one that its suite publishes.
pub(super) fn shown_figures(result: &ResultVerdict) -> Vec<(&str, Option<&Judgement>)> {
    if result.judgements.is_empty() {
        let first = result.deciding.as_deref();
        let declared = result.declared.iter().map(String::as_str);
        let others = declared.filter(|name| first != Some(name));
        let names = [first.unwrap_or_default()].into_iter().chain(others);
        return names.map(|name| (name, None)).collect();
    }
    let judgements = result.judgements.iter();
    judgements.map(|judgement| (judgement.figure.as_str(), Some(judgement))).collect()
}

/// Returns the row of a figure and its published one; without a judgement, of the benchmark's own limit if it has one.
pub(super) fn figure_row(
    result: &ResultVerdict,
    figure: &str,
    judged: Option<&Judgement>,
    said: &[QualifierKind],
    unit: ColumnUnit,
) -> [TableCell; FIGURE_COLUMNS] {
    let outcome = judged.map_or(result.outcome, |judged| result.outcome_of(judged));
    let kinds = result.qualifiers.iter().map(|qualifier| qualifier.kind);
    let kinds = kinds.filter(|kind| !said.contains(kind));
    let measured = measured_figure(result, figure, judged);
    let next_to = match judged {
        Some(judged) => published_in_measured_unit(judged, unit),
        None => find_limit(result, figure),
    };
    let (published, source) = next_to.unwrap_or((NOTHING.to_owned(), String::new()));
    [
        result.scenario.as_str().into(),
        result.mode.to_string().into(),
        figure.into(),
        measured.map_or(NOTHING.into(), |figure| unit.format(figure.value, &figure.unit).into()),
        published.into(),
        source.into(),
        format_ratio(judged.and_then(|judged| judged.ratio)).into(),
        judged.map(format_deciding_bound).unwrap_or_default().into(),
        marks::outcome_cell(&QualifiedOutcome::from_kinds(outcome, kinds)),
    ]
}

/// The published figure in the unit of the measured one, and its source.
fn published_in_measured_unit(judgement: &Judgement, unit: ColumnUnit) -> Option<(String, String)> {
    let reference = Reference::find_deciding(&judgement.references)?;
    let measured_unit = judgement.measured.as_ref().map_or("", |figure| &figure.unit);
    // The measured figure has the unit.
    let text = unit.format(reference.value, measured_unit);
    let value = text.split(' ').next().unwrap_or_default();
    Some((value.to_owned(), reference_source(reference)))
}

fn find_limit(result: &ResultVerdict, figure: &str) -> Option<(String, String)> {
    let limit = result.rules.iter().find(|rule| rule.rule == figure)?;
    Some((limit.required.clone(), "limit".to_owned()))
}

pub(super) fn reference_source(reference: &Reference) -> String {
    source_label(reference.source.as_deref(), reference.kind)
}

/// The source of a published figure, or its kind where the source is long.
pub(super) fn source_label(source: Option<&str>, kind: ExpectationKind) -> String {
    let short = source.filter(|source| source.chars().count() <= MAX_SOURCE_LETTERS);
    short.unwrap_or(kind.label()).to_owned()
}

/// Who published a figure, where there is room for it: a third party by its name.
pub(super) fn reference_publisher(reference: &Reference) -> String {
    match (reference.kind, &reference.source) {
        (ExpectationKind::ThirdParty, Some(source)) => source.clone(),
        _ => reference_source(reference),
    }
}

/// The bound that decides: of an inconclusive figure the one that would have to be higher. Of an
/// equivalence both.
fn format_deciding_bound(judgement: &Judgement) -> String {
    let is_worse = matches!(judgement.outcome, Outcome::NotReproduced | Outcome::Invalid);
    let lower = (judgement.claim != Claim::Equivalent).then_some(!is_worse);
    format_one_sided(judgement.bounds, lower)
}

/// One-sided bounds: the lower, `≥ 0.944`, the upper, or both.
pub(super) fn format_one_sided(bounds: Option<Bounds>, lower: Option<bool>) -> String {
    let Some(bounds) = bounds.filter(|bounds| bounds.upper > bounds.lower) else {
        return String::new();
    };
    let least = format!("≥ {}", number::format_ratio(bounds.lower));
    let most = format!("≤ {}", number::format_ratio(bounds.upper));
    match lower {
        Some(true) => least,
        Some(false) => most,
        None => format!("{least}, {most}"),
    }
}
