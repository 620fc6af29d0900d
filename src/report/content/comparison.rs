//! A comparison: its subjects, their figures, what the intervals show, how the environments differ.

use super::environment;
use super::figures::{NOTHING, at, interval, ratio, unverified_word};
use super::verdict::notice;
use super::{Detail, marks};
use crate::format;
use crate::report::charts;
use crate::report::document::{Block, Cell, Column, Document, Item, Section, Table};
use crate::results::verdict::comparison::{Change, ComparedFigure, Comparison};
use crate::results::verdict::number;
use retrial_recipe::model::Mode;

/// A comparison by itself.
#[must_use]
pub fn document(comparison: &Comparison, detail: Detail) -> Document {
    Document {
        title: comparison.title.as_deref().unwrap_or("Comparison").into(),
        blocks: blocks(comparison, detail),
        ..Document::default()
    }
}

/// Several comparisons, a section each.
#[must_use]
pub fn documents(comparisons: &[Comparison], detail: Detail) -> Document {
    let sections = comparisons.iter().map(|one| section(one, detail));
    Document {
        blocks: sections.collect(),
        ..Document::default()
    }
}

/// A comparison among others.
#[must_use]
pub fn section(comparison: &Comparison, detail: Detail) -> Block {
    let title = comparison.title.as_deref().unwrap_or("Comparison");
    Section::block(title, blocks(comparison, detail))
}

fn blocks(comparison: &Comparison, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![subjects(comparison, detail)];
    if detail == Detail::Full {
        blocks.extend(Block::charts(charts::of_comparison(comparison)));
    }
    if !comparison.figures.is_empty() {
        blocks.push(figures(comparison));
    }
    // Of accuracy the table says it all.
    let told = comparison
        .figures
        .iter()
        .filter(|figure| figure.mode == Mode::Performance || figure.change == Change::NotCompared);
    let told = told.map(|figure| {
        let text = format!("{} {}: {}", figure.scenario, figure.mode, figure.sentence);
        Item::new(text).marked(figure.change.into())
    });
    let notes = comparison
        .notes
        .iter()
        .map(|note| Item::new(format!("{note}.")));
    blocks.extend(Block::list(told.chain(notes)));
    if !comparison.environment.is_empty() {
        let names = comparison.subjects.iter();
        let names: Vec<&str> = names.map(|subject| subject.letter.as_str()).collect();
        blocks.extend(environment::blocks(&names, &comparison.environment, detail));
    }
    blocks.extend(notice(comparison.notice.as_deref()));
    blocks
}

fn subjects(comparison: &Comparison, detail: Detail) -> Block {
    let columns = vec![
        Column::head(""),
        Column::head("name"),
        Column::text("submission").under(1),
        Column::number("runs"),
        Column::status("outcome"),
        Column::text("role"),
    ];
    let rows = comparison
        .subjects
        .iter()
        .enumerate()
        .map(|(position, subject)| {
            let link = (detail == Detail::Full).then(|| format!("#s{position}"));
            vec![
                subject.letter.as_str().into(),
                Cell::from(subject.name.as_str()).linked(link),
                subject.title.as_str().into(),
                match subject.runs {
                    0 | 1 => Cell::default(),
                    several => format::count(several, "run").into(),
                },
                marks::outcome(subject.outcome),
                if position == 0 { "baseline" } else { "" }.into(),
            ]
        });
    Block::Table(Table::new("Compared results", columns, rows))
}

fn figures(comparison: &Comparison) -> Block {
    let unverified = unverified_word(comparison.notice.is_some());
    let two = comparison.subjects.len() <= 2;
    let columns = vec![
        Column::head("scenario"),
        Column::text("figure").under(0),
        Column::text("compared"),
        Column::number("A").noted(unverified),
        Column::number(if two { "B" } else { "other" }).noted(unverified),
        Column::number("ratio"),
        Column::text(at(comparison.confidence)).under(5),
        Column::status("result"),
    ];
    let rows = comparison.figures.iter().map(|figure| {
        let letters = format!("{} : {}", figure.candidate.subject, figure.baseline.subject);
        vec![
            format!("{} {}", figure.scenario, figure.mode).into(),
            figure.figure.as_str().into(),
            if two { Cell::default() } else { letters.into() },
            measured(figure, figure.baseline.value).into(),
            measured(figure, figure.candidate.value).into(),
            ratio(figure.ratio).into(),
            interval(figure.interval).into(),
            marks::change(figure.change),
        ]
    });
    Block::Table(Table::new("Figures that both have", columns, rows))
}

/// A side's figure in the unit that fits the baseline's.
fn measured(figure: &ComparedFigure, value: Option<f64>) -> String {
    let like = figure.baseline.value.or(value).unwrap_or_default();
    value.map_or(NOTHING.to_owned(), |value| {
        number::figure_like(value, &figure.unit, like)
    })
}
