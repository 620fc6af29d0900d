//! Figures side by side, as published tables have them: the entries of a recipe's tables are rows, and so are scenarios
//! that measure the same figures.

use std::ptr;

use itertools::Itertools as _;

use super::marks;
use crate::document::{Block, Column, NOTHING, Table, TableCell};
use retrial_recipe::model::{Mode, SweepPoint};
use retrial_results::verdict::{
    FigureColumn, Judgement, QualifiedOutcome, Reference, ResultVerdict, Verdict, number,
    table_name,
};

/// The column of what was measured twice, or more often, at a point.
const LATER_TRIALS: &str = "later / 1st trial";
/// Fewer rows or columns than this are no table.
const MIN_SIDE: usize = 2;

pub(super) struct PivotTable<'a> {
    title: String,
    /// The heading of the rows' subjects.
    subject: String,
    columns: Vec<&'a FigureColumn>,
    rows: Vec<PivotRow<'a>>,
    /// Whether it stands for its results, also for figures that have no column.
    is_whole: bool,
}

/// The figures of one entry, or of one scenario.
struct PivotRow<'a> {
    subject: String,
    result: &'a ResultVerdict,
    /// The name of the figure in each column.
    figures: Vec<String>,
}

/// Returns the tables of a verdict: each result's entries, the points of sweeps, then scenarios that have the same
/// figures.
pub(super) fn pivot_tables(verdict: &Verdict) -> Vec<PivotTable<'_>> {
    let by_entry = verdict.results.iter().flat_map(entry_tables);
    by_entry.chain(sweep_tables(verdict)).chain(scenario_tables(verdict)).collect()
}

/// The tables of one result: a row for each entry of the tables that are named by the same words.
fn entry_tables(result: &ResultVerdict) -> impl Iterator<Item = PivotTable<'_>> {
    let columns = result.columns.iter().filter(|column| !column.by.is_empty());
    let tables = columns.map(|column| &column.by).unique().map(move |by| {
        let columns: Vec<&FigureColumn> =
            result.columns.iter().filter(|column| column.by == *by).collect();
        let row = |entry: &str| PivotRow {
            subject: entry.to_owned(),
            result,
            figures: columns.iter().map(|column| format!("{}[{entry}]", column.figure)).collect(),
        };
        PivotTable {
            title: format!("{} {}", result.scenario, result.mode),
            subject: by.join(", "),
            rows: entries_of(result, &columns).map(row).collect(),
            columns,
            is_whole: false,
        }
    });
    tables.filter(|table| table.rows.len() >= MIN_SIDE)
}

/// The entries of these tables: in the order of what was published, then as they were measured.
fn entries_of<'a>(
    result: &'a ResultVerdict,
    columns: &[&FigureColumn],
) -> impl Iterator<Item = &'a str> {
    let judged = result.judgements.iter().map(|judgement| &judgement.figure);
    let unjudged = result.unjudged.iter().map(|reference| &reference.figure);
    let names = judged.chain(unjudged).chain(&result.declared);
    let entries = names.filter_map(|name| {
        let mut tables = columns.iter();
        tables.find(|column| table_name(name) == Some(column.figure.as_str()))?;
        name.strip_suffix(']')?.split_once('[').map(|(_, entry)| entry)
    });
    entries.unique()
}

/// The sweeps: a row for each point, with the figures of which something is published at one of them; where nothing is,
/// with all.
fn sweep_tables(verdict: &Verdict) -> impl Iterator<Item = PivotTable<'_>> {
    let swept = verdict.results.iter().filter_map(|result| Some((result.point.as_ref()?, result)));
    let sweeps = swept.clone().map(|(point, _)| (&point.sweep, &point.axis)).unique();
    let tables = sweeps.map(move |(sweep, axis)| {
        let of_sweep = swept.clone().filter(|(point, _)| point.sweep == *sweep);
        let of_sweep =
            of_sweep.sorted_by(|(left, _), (right, _)| left.value.total_cmp(&right.value));
        let published = of_sweep.clone().flat_map(|(_, result)| {
            let judged = result.judgements.iter().map(|judgement| judgement.figure.as_str());
            judged.chain(result.unjudged.iter().map(|reference| reference.figure.as_str()))
        });
        let published: Vec<&str> = published.collect();
        let first = of_sweep.clone().next();
        let all = first.into_iter().flat_map(|(_, result)| plain_columns(result));
        let is_shown =
            |column: &&FigureColumn| published.is_empty() || published.contains(&&*column.figure);
        let columns = all.filter(is_shown).collect_vec();
        let row = |(point, result): (&SweepPoint, _)| PivotRow {
            subject: point.value.to_string(),
            result,
            figures: columns.iter().map(|column| column.figure.clone()).collect(),
        };
        PivotTable {
            title: format!("{sweep}, {}", Mode::Performance),
            subject: axis.clone(),
            rows: of_sweep.map(row).collect(),
            columns,
            is_whole: true,
        }
    });
    tables.filter(|table| !table.columns.is_empty())
}

/// Scenarios of one mode that measure the same figures: a row each.
fn scenario_tables<'a>(verdict: &'a Verdict) -> impl Iterator<Item = PivotTable<'a>> {
    let results = verdict.results.iter().filter(|result| result.point.is_none());
    let groups = results.clone().map(|result| (result.mode, plain_figures(result))).unique();
    let tables = groups.map(move |(mode, figures)| {
        let is_of =
            |result: &&ResultVerdict| result.mode == mode && plain_figures(result) == figures;
        let results = results.clone().filter(is_of).collect_vec();
        let row = |result: &'a ResultVerdict| PivotRow {
            subject: result.scenario.to_string(),
            result,
            figures: figures.iter().map(|figure| (*figure).to_owned()).collect(),
        };
        PivotTable {
            title: format!("Scenarios, {mode}"),
            subject: "scenario".to_owned(),
            columns: results.first().map_or(Vec::new(), |result| plain_columns(result).collect()),
            rows: results.into_iter().map(row).collect(),
            is_whole: false,
        }
    });
    tables.filter(|table| table.rows.len() >= MIN_SIDE && table.columns.len() >= MIN_SIDE)
}

fn plain_columns(result: &ResultVerdict) -> impl Iterator<Item = &FigureColumn> {
    result.columns.iter().filter(|column| column.by.is_empty())
}

fn plain_figures(result: &ResultVerdict) -> Vec<&str> {
    plain_columns(result).map(|column| column.figure.as_str()).collect()
}

impl PivotTable<'_> {
    /// Returns whether a figure of a sweep's points is left to wider tables: it is neither the one by which they are
    /// shown nor a median, and nothing was published of it.
    fn is_detail(&self, column: &FigureColumn) -> bool {
        let name = column.figure.as_str();
        let is_shown = |row: &PivotRow<'_>| {
            let result = row.result;
            result.deciding.as_deref() == Some(name)
                || result.judgements.iter().any(|judgement| judgement.figure == name)
                || result.unjudged.iter().any(|reference| reference.figure == name)
        };
        self.is_whole && !name.ends_with("_p50") && !self.rows.iter().any(is_shown)
    }

    pub fn shows(&self, result: &ResultVerdict, figure: &str) -> bool {
        let has = |row: &PivotRow<'_>| self.is_whole || row.figures.iter().any(|own| own == figure);
        self.rows.iter().any(|row| ptr::eq(row.result, result) && has(row))
    }

    /// Draws it: next to each figure what was published, and their ratio.
    pub fn render(self, verdict: &Verdict) -> Option<Block> {
        let note = marks::unverified_word(verdict.notice.is_some());
        let details = self.columns.iter().map(|column| self.is_detail(column)).collect_vec();
        let is_repeated =
            self.is_whole && self.rows.iter().any(|row| !row.later_trials().is_empty());
        let mut rows =
            Table::builder(self.title, self.rows).head(&self.subject, |row| row.subject.clone());
        for (at, column) in self.columns.iter().enumerate() {
            let under = rows.table.columns.len();
            let measured = Column::number(column.heading.as_str()).with_note(note);
            let measured = if details[at] { measured.omit_at_rank(0) } else { measured };
            rows = rows
                .column(measured, |row| row.measured(at))
                .column(Column::number("published").stack_under(under), |row| row.published(at))
                .column(Column::number("ratio").stack_under(under).omit_at_rank(0), |row| {
                    row.ratio(at)
                });
        }
        if is_repeated {
            let against_first = Column::number(LATER_TRIALS).omit_at_rank(0);
            rows = rows.column(against_first, PivotRow::later_trials);
        }
        let mut rows = rows.status("outcome", PivotRow::outcome);
        rows.table.titled = true;
        rows.into_block()
    }
}

impl PivotRow<'_> {
    fn judgement(&self, column: usize) -> Option<&Judgement> {
        let mut judgements = self.result.judgements.iter();
        judgements.find(|judgement| judgement.figure == self.figures[column])
    }

    /// The measured figure in its own unit, which the heading has.
    fn measured(&self, column: usize) -> String {
        let judged = self.judgement(column).and_then(|judgement| judgement.measured.as_ref());
        let figure = judged.or_else(|| self.result.figures.get(&self.figures[column]));
        figure.map_or(NOTHING.to_owned(), |figure| number::format_grouped(figure.value))
    }

    fn published(&self, column: usize) -> String {
        let judged = self.judgement(column).and_then(|judgement| {
            Reference::find_deciding(&judgement.references).map(|reference| reference.value)
        });
        let unjudged = || {
            let mut references = self.result.unjudged.iter();
            let found = references.find(|reference| reference.figure == self.figures[column])?;
            Some(found.published.value)
        };
        let value = judged.or_else(unjudged);
        value.map_or_else(String::new, number::format_grouped)
    }

    fn ratio(&self, column: usize) -> String {
        let ratio = self.judgement(column).and_then(|judgement| judgement.ratio);
        ratio.map_or_else(String::new, number::format_ratio)
    }

    /// The mean of all trials but the first, by the first, in the figure by which the point is shown: on one server, how
    /// far the first was from being warm.
    fn later_trials(&self) -> String {
        let deciding = self.result.deciding.as_deref().unwrap_or_default();
        match self.result.figure_of_each_trial(deciding)[..] {
            [first, ref later @ ..] if first > 0.0 => {
                let mean = later.iter().sum::<f64>() / number::to_f64(later.len() as u64);
                number::format_ratio(mean / first)
            }
            _ => String::new(),
        }
    }

    /// The worst outcome of its judged figures; without any, that of the result.
    fn outcome(&self) -> TableCell {
        let columns = 0..self.figures.len();
        let judged = columns.filter_map(|column| self.judgement(column));
        let worst = judged.map(|judgement| self.result.outcome_of(judgement)).max();
        let outcome = worst.unwrap_or(self.result.outcome);
        marks::outcome_cell(&QualifiedOutcome::from_kinds(outcome, []))
    }
}

#[cfg(test)]
mod tests;
