//! Tables of a website: columns of runs and verdicts, and tables cut to a size.

use std::ops::Range;

use itertools::join;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::html;

use crate::content::figures::format_ratio;
use crate::content::marks::unverified_word;
use crate::content::runs::{self, truncate_cell, truncate_text};
use crate::document::{Block, Column, RowTable, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_readings::number::ColumnUnit;

/// Titles and notes that no recipe has are cut.
const MAX_TITLE_LETTERS: usize = 200;
const MAX_NOTE_LETTERS: usize = 120;

/// Marks a verdict that rests on one trial, whose noise the recipe does not state.
const SINGLE_TRIAL: &str = "one trial";

/// Adds the columns of a run's verdict and figure; with `scenarios`, the figure's scenario too.
pub(super) fn add_run_columns<R>(
    rows: RowTable<R>,
    unverified: bool,
    scenarios: bool,
    run: impl Fn(&R) -> &RunSummary,
) -> RowTable<R> {
    let figure = Column::number("figure").with_note(unverified_word(unverified));
    let to_published = Column::number("ratio").with_note("to published");
    let unit = runs::deciding_unit(rows.rows.iter().map(&run));
    rows.status("verdict", |row| verdict_cell(run(row)))
        .column(figure, |row| figure_cell(run(row), scenarios, unit))
        .column(to_published, |row| ratio_cell(run(row)))
}

/// A run's outcome with its qualifiers and whether it rests on one trial, or its state with the reason.
pub(super) fn verdict_cell(run: &RunSummary) -> TableCell {
    let cell = runs::outcome_or_state(run, "•");
    let single = run.rests_on_single_trial().then_some(SINGLE_TRIAL);
    let reason = run.reason.as_deref().filter(|_| run.outcome.is_none());
    let reason = reason.map(|reason| truncate_text(reason, MAX_NOTE_LETTERS));
    let notes = [Some(cell.note.as_str()), single, reason.as_deref()];
    let notes = notes.into_iter().flatten();
    let note = join(notes.filter(|note| !note.is_empty()), ", ");
    cell.with_note(note)
}

/// The figure that decided, perhaps with its scenario.
fn figure_cell(run: &RunSummary, scenarios: bool, unit: ColumnUnit) -> TableCell {
    let Some(deciding) = &run.deciding else {
        return TableCell::default();
    };
    let figure = deciding.value.map(|value| unit.format(value, &deciding.unit));
    let cell = TableCell::from(truncate_cell(figure.as_deref().unwrap_or("no figure")));
    if scenarios {
        return cell.with_note(truncate_cell(&deciding.scenario.to_string()));
    }
    cell
}

fn ratio_cell(run: &RunSummary) -> TableCell {
    let ratio = runs::deciding_ratio(run);
    TableCell::from(format_ratio(ratio)).with_ratio(ratio)
}

/// The title of a submission, with a variant and parameters.
pub(super) fn title_cell(title: &str, choices: &str) -> TableCell {
    TableCell::from(truncate_text(title, MAX_TITLE_LETTERS))
        .with_note(truncate_text(&choices.replace(',', ", "), MAX_NOTE_LETTERS))
}

/// The GPUs on which it was measured, and their host.
pub(super) fn machine_cell(run: &RunSummary) -> TableCell {
    let gpus = if run.gpus.is_empty() { "no GPU" } else { &run.gpus };
    TableCell::from(truncate_cell(gpus)).with_note(short_host(run))
}

/// An image's name without its registry and namespace.
pub(super) fn short_image(image: &str) -> &str {
    image.rsplit('/').next().unwrap_or(image)
}

/// The name of a run's host within its network.
pub(super) fn short_host(run: &RunSummary) -> String {
    truncate_cell(run.host.split('.').next().unwrap_or_default())
}

/// The date of a time, and its hour and minute.
pub(super) fn time_cell(time: Option<Timestamp>) -> TableCell {
    let minute = runs::format_minute(time, &TimeZone::UTC);
    let (date, clock) = minute.split_once(' ').unwrap_or_default();
    TableCell::from(date).with_note(clock)
}

/// The table, with as many rows as fit into so many bytes of HTML, and a remark on the others.
pub(super) fn truncate_to_bytes(mut table: Table, bytes: usize, others: &str) -> Vec<Block> {
    let mut remaining = bytes;
    let mut dropped = 0;
    for group in &mut table.groups {
        let count = group.rows.len();
        let fits = |row: &Vec<TableCell>| {
            let rest = remaining.checked_sub(row_weight(row));
            remaining = rest.unwrap_or(0);
            rest.is_some()
        };
        let retained = group.rows.iter().map(fits).take_while(|fits| *fits).count();
        group.rows.truncate(retained);
        dropped += count - retained;
    }
    table.groups.retain(|group| !group.rows.is_empty());
    let more = (dropped > 0).then(|| format::format_count(dropped, "more row"));
    let remark = more.map(|more| Block::paragraph(format!("{more} {others}.")));
    [Block::Table(table)].into_iter().chain(remark).collect()
}

pub(super) fn row_weights(table: &Table) -> Vec<usize> {
    table.rows().map(|row| row_weight(row)).collect()
}

/// Divides rows of these weights into parts, each of at most so many rows and bytes.
pub(super) fn divide_rows(weights: &[usize], rows: usize, bytes: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (at, weight) in weights.iter().enumerate() {
        used += weight;
        match parts.last_mut() {
            Some(part) if part.len() < rows && used <= bytes => part.end = at + 1,
            _ => {
                parts.push(at..at + 1);
                used = *weight;
            }
        }
    }
    parts
}

/// Returns at least the size of a row in HTML, bytes.
fn row_weight(cells: &[TableCell]) -> usize {
    let weights = cells.iter().map(|cell| {
        let link = cell.link.as_ref().map_or(0, |link| 20 + 3 * link.len());
        let bar = cell.ratio.map_or(0, |_| 90);
        let text = html! { (cell.text.as_str()) (cell.note.as_str()) };
        128 + text.into_string().len() + link + bar
    });
    weights.sum()
}
