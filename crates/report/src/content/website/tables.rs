//! Tables of a website: columns of runs and verdicts.

use itertools::join;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::content::figures::format_ratio;
use crate::content::marks::unverified_word;
use crate::content::runs::{self, truncate_cell, truncate_text};
use crate::document::{Column, RowTable, TableCell};
use retrial_history::{DecidingFigure, RunSummary, RunVerdict};
use retrial_readings::number::ColumnUnit;

/// Titles and notes that no recipe has are cut.
const MAX_TITLE_LETTERS: usize = 200;
const MAX_NOTE_LETTERS: usize = 120;

/// Marks a verdict that rests on one trial, whose noise the recipe does not state.
const SINGLE_TRIAL: &str = "one trial";

/// Adds the columns of a run's verdict and of the figure that it measured; with `scenarios`, the figure's scenario too.
pub(super) fn add_run_columns<R>(
    rows: RowTable<R>,
    unverified: bool,
    scenarios: bool,
    run: impl Fn(&R) -> &RunSummary,
) -> RowTable<R> {
    add_columns(rows, unverified, scenarios, run, RunSummary::own_verdict)
}

/// Adds the columns of a verdict and of the figure on which it rests: over all trials that were judged together.
pub(super) fn add_verdict_columns<R>(
    rows: RowTable<R>,
    unverified: bool,
    run: impl Fn(&R) -> &RunSummary,
) -> RowTable<R> {
    add_columns(rows, unverified, true, run, RunSummary::deciding_verdict)
}

fn add_columns<R>(
    rows: RowTable<R>,
    unverified: bool,
    scenarios: bool,
    run: impl Fn(&R) -> &RunSummary,
    verdict_of: fn(&RunSummary) -> Option<RunVerdict<'_>>,
) -> RowTable<R> {
    let figure = Column::number("figure").with_note(unverified_word(unverified));
    let to_published = Column::number("ratio").with_note("to published");
    let unit = runs::column_unit(rows.rows.iter().map(|row| figure_of(verdict_of(run(row)))));
    rows.status("verdict", |row| verdict_cell(run(row), verdict_of(run(row))))
        .column(figure, |row| figure_cell(figure_of(verdict_of(run(row))), scenarios, unit))
        .column(to_published, |row| {
            let ratio = runs::figure_ratio(figure_of(verdict_of(run(row))));
            TableCell::from(format_ratio(ratio)).with_ratio(ratio)
        })
}

fn figure_of(verdict: Option<RunVerdict<'_>>) -> Option<&DecidingFigure> {
    verdict?.figure
}

/// The outcome of the verdict that counts for a run.
pub(super) fn deciding_cell(run: &RunSummary) -> TableCell {
    verdict_cell(run, run.deciding_verdict())
}

/// An outcome with its qualifiers and whether it rests on one trial, or the run's state with the reason.
fn verdict_cell(run: &RunSummary, verdict: Option<RunVerdict<'_>>) -> TableCell {
    let is_single = verdict.as_ref().is_some_and(RunVerdict::rests_on_single_trial);
    let cell = runs::outcome_or_state(run, verdict, "•");
    let single = is_single.then_some(SINGLE_TRIAL);
    let reason = run.reason.as_deref().filter(|_| run.outcome.is_none());
    let reason = reason.map(|reason| truncate_text(reason, MAX_NOTE_LETTERS));
    let notes = [Some(cell.note.as_str()), single, reason.as_deref()];
    let notes = notes.into_iter().flatten();
    let note = join(notes.filter(|note| !note.is_empty()), ", ");
    cell.with_note(note)
}

/// The figure that decided, perhaps with its scenario.
fn figure_cell(deciding: Option<&DecidingFigure>, scenarios: bool, unit: ColumnUnit) -> TableCell {
    let Some(deciding) = deciding else {
        return TableCell::default();
    };
    let figure = deciding.value.map(|value| unit.format(value, &deciding.unit));
    let cell = TableCell::from(truncate_cell(figure.as_deref().unwrap_or("no figure")));
    if scenarios {
        return cell.with_note(truncate_cell(&deciding.scenario.to_string()));
    }
    cell
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
