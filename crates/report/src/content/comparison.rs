//! A comparison: its subjects, their figures, and the differences between their environments.

use super::environment;
use super::figures::{NOTHING, interval, interval_at, ratio, unverified_word};
use super::verdict::notice;
use super::{DetailLevel, marks};
use crate::charts;
use crate::document::{Block, Column, Document, ListItem, Section, Table, TableCell};
use retrial_document::measures::format;
use retrial_recipe::model::Mode;
use retrial_results::verdict::comparison::{Change, ComparedFigure, Comparison};
use retrial_results::verdict::{QualifiedOutcome, number};

/// A comparison by itself.
pub fn document(comparison: &Comparison, detail: DetailLevel) -> Document {
    Document::new(title(comparison), blocks(comparison, detail))
}

/// Several comparisons, a section each.
pub fn documents(comparisons: &[Comparison], detail: DetailLevel) -> Document {
    Document::new(
        "",
        comparisons
            .iter()
            .map(|comparison| section(comparison, detail)),
    )
}

/// A comparison among others.
pub fn section(comparison: &Comparison, detail: DetailLevel) -> Block {
    Section::block(title(comparison), blocks(comparison, detail))
}

fn title(comparison: &Comparison) -> &str {
    comparison.title.as_deref().unwrap_or("Comparison")
}

fn blocks(comparison: &Comparison, detail: DetailLevel) -> Vec<Block> {
    let mut blocks = Vec::from_iter(subjects(comparison, detail));
    if detail == DetailLevel::Full {
        blocks.extend(Block::charts(charts::of_comparison(comparison)));
    }
    blocks.extend(figures(comparison));
    // The table has all of accuracy.
    let sentences = comparison
        .figures
        .iter()
        .filter(|figure| figure.mode == Mode::Performance || figure.change == Change::NotCompared);
    let sentences = sentences.map(|figure| {
        let text = format!("{} {}: {}", figure.scenario, figure.mode, figure.sentence);
        ListItem::new(text).marked(figure.change)
    });
    let notes = comparison.notes.iter();
    let notes = notes.map(|note| ListItem::new(format!("{note}.")));
    blocks.extend(Block::list(sentences.chain(notes)));
    let names = comparison.subjects.iter().map(|subject| &subject.letter);
    let names: Vec<&String> = names.collect();
    blocks.extend(environment::blocks(&names, &comparison.environment, detail));
    blocks.extend(notice(comparison.notice.as_deref()));
    blocks
}

fn subjects(comparison: &Comparison, detail: DetailLevel) -> Option<Block> {
    let link = |position: usize| (detail == DetailLevel::Full).then(|| format!("#s{position}"));
    let runs = |runs: usize| (runs > 1).then(|| format::count(runs, "run"));
    let role = |position: usize| if position == 0 { "baseline" } else { "" };
    Table::of("Compared results", comparison.subjects.iter().enumerate())
        .head("", |(_, subject)| &subject.letter)
        .head("name", |(at, subject)| {
            TableCell::from(&subject.name).linked(link(*at))
        })
        .column(Column::text("submission").under(1), |(_, subject)| {
            &subject.title
        })
        .number("runs", |(_, subject)| {
            runs(subject.runs).unwrap_or_default()
        })
        .status("outcome", |(_, subject)| {
            let kinds = subject.qualifiers.iter().copied();
            marks::outcome(&QualifiedOutcome::from_kinds(subject.outcome, kinds))
        })
        .text("role", |(at, _)| role(*at))
        .block()
}

fn figures(comparison: &Comparison) -> Option<Block> {
    let unverified = unverified_word(comparison.notice.is_some());
    let two = comparison.subjects.len() <= 2;
    let other = if two { "B" } else { "other" };
    let side = |name: &str| Column::number(name).noted(unverified);
    let letters = |figure: &ComparedFigure| {
        format!("{} : {}", figure.candidate.subject, figure.baseline.subject)
    };
    let interval_of = interval_at(comparison.confidence).under(5);
    Table::of("Common figures", &comparison.figures)
        .head("scenario", |figure| {
            format!("{} {}", figure.scenario, figure.mode)
        })
        .column(Column::text("figure").under(0), |figure| &figure.figure)
        .text("compared", |figure| {
            if two { String::new() } else { letters(figure) }
        })
        .column(side("A"), |figure| measured(figure, figure.baseline.value))
        .column(side(other), |figure| {
            measured(figure, figure.candidate.value)
        })
        .number("ratio", |figure| ratio(figure.ratio))
        .column(interval_of, |figure| interval(figure.interval))
        .status("result", |figure| marks::change(figure.change))
        .block()
}

/// A figure in the unit of the baseline's.
pub(super) fn measured(figure: &ComparedFigure, value: Option<f64>) -> String {
    let like = figure.baseline.value.or(value).unwrap_or_default();
    value.map_or(NOTHING.to_owned(), |value| {
        number::format_figure_like(value, &figure.unit, like)
    })
}
