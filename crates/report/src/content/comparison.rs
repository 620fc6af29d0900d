//! A comparison: its subjects, their figures, and the differences between their environments.

use super::environment;
use super::figures::{NOTHING, format_interval, format_ratio, interval_column};
use super::marks::unverified_word;
use super::verdict::notice_block;
use super::{DetailLevel, marks};
use crate::charts;
use crate::document::{Block, Column, Document, ListItem, Section, Table, TableCell};
use retrial_document::measures::format;
use retrial_readings::number::ColumnUnit;
use retrial_recipe::model::Mode;
use retrial_results::verdict::QualifiedOutcome;
use retrial_results::verdict::comparison::{Change, ComparedFigure, Comparison};

/// A comparison by itself.
pub fn comparison_document(comparison: &Comparison, detail: DetailLevel) -> Document {
    Document::new(title_or_default(comparison), comparison_blocks(comparison, detail))
}

/// Several comparisons, a section each.
pub fn comparisons_document(comparisons: &[Comparison], detail: DetailLevel) -> Document {
    Document::new("", comparisons.iter().map(|comparison| comparison_section(comparison, detail)))
}

/// A comparison among others.
pub fn comparison_section(comparison: &Comparison, detail: DetailLevel) -> Block {
    Section::new_block(title_or_default(comparison), comparison_blocks(comparison, detail))
}

fn title_or_default(comparison: &Comparison) -> &str {
    comparison.title.as_deref().unwrap_or("Comparison")
}

fn comparison_blocks(comparison: &Comparison, detail: DetailLevel) -> Vec<Block> {
    let mut blocks = Vec::from_iter(subjects_table(comparison, detail));
    if detail == DetailLevel::Full {
        blocks.extend(Block::charts(charts::comparison_charts(comparison)));
    }
    blocks.extend(figures_table(comparison));
    // The table has all of accuracy.
    let shown_figures = comparison
        .figures
        .iter()
        .filter(|figure| figure.mode == Mode::Performance || figure.change == Change::NotCompared);
    let sentences = shown_figures.map(|figure| {
        let text = format!("{} {}: {}", figure.scenario, figure.mode, figure.sentence);
        ListItem::new(text).with_mark(figure.change)
    });
    let notes = comparison.notes.iter().map(|note| ListItem::new(format!("{note}.")));
    blocks.extend(Block::list(sentences.chain(notes)));
    let letters = comparison.subjects.iter().map(|subject| &subject.letter);
    let names: Vec<&String> = letters.collect();
    blocks.extend(environment::difference_blocks(&names, &comparison.environment, detail));
    blocks.extend(notice_block(comparison.notice.as_deref()));
    blocks
}

fn subjects_table(comparison: &Comparison, detail: DetailLevel) -> Option<Block> {
    let link = |position: usize| (detail == DetailLevel::Full).then(|| format!("#s{position}"));
    let runs = |runs: usize| (runs > 1).then(|| format::format_count(runs, "run"));
    let role = |position: usize| if position == 0 { "baseline" } else { "" };
    Table::builder("Compared results", comparison.subjects.iter().enumerate())
        .head("", |(_, subject)| &subject.letter)
        .head("name", |(at, subject)| TableCell::from(&subject.name).with_link(link(*at)))
        .column(Column::text("submission").stack_under(1), |(_, subject)| &subject.title)
        .number("runs", |(_, subject)| runs(subject.runs).unwrap_or_default())
        .status("outcome", |(_, subject)| {
            let kinds = subject.qualifiers.iter().copied();
            marks::outcome_cell(&QualifiedOutcome::from_kinds(subject.outcome, kinds))
        })
        .text("role", |(at, _)| role(*at))
        .into_block()
}

fn figures_table(comparison: &Comparison) -> Option<Block> {
    let unverified = unverified_word(comparison.notice.is_some());
    let two = comparison.subjects.len() <= 2;
    let other = if two { "B" } else { "other" };
    let side = |name: &str| Column::number(name).with_note(unverified);
    let letters = |figure: &ComparedFigure| {
        format!("{} : {}", figure.candidate.subject, figure.baseline.subject)
    };
    let interval_of = interval_column(comparison.confidence).stack_under(5);
    let unit = compared_unit(&comparison.figures);
    Table::builder("Common figures", &comparison.figures)
        .head("scenario", |figure| format!("{} {}", figure.scenario, figure.mode))
        .column(Column::text("figure").stack_under(0), |figure| &figure.figure)
        .text("compared", |figure| if two { String::new() } else { letters(figure) })
        .column(side("A"), |figure| format_value(figure.baseline.value, &figure.unit, unit))
        .column(side(other), |figure| format_value(figure.candidate.value, &figure.unit, unit))
        .number("ratio", |figure| format_ratio(figure.ratio))
        .column(interval_of, |figure| format_interval(figure.interval))
        .status("result", |figure| marks::change_cell(figure.change))
        .into_block()
}

/// The unit of the times in the columns of compared figures.
pub(super) fn compared_unit<'a>(
    figures: impl IntoIterator<Item = &'a ComparedFigure>,
) -> ColumnUnit {
    ColumnUnit::of(figures.into_iter().flat_map(|figure| {
        let sides = [figure.baseline.value, figure.candidate.value].into_iter().flatten();
        sides.map(|value| (value, figure.unit.as_str()))
    }))
}

pub(super) fn format_value(value: Option<f64>, unit: &str, column: ColumnUnit) -> String {
    value.map_or(NOTHING.to_owned(), |value| column.format(value, unit))
}
