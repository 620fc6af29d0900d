//! A table of runs.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::marks::{self, unverified_word};
use super::verdict;
use crate::document::{Column, Document, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::{DecidingFigure, RunState, RunSummary, RunVerdict};
use retrial_readings::number::ColumnUnit;
use retrial_results::verdict::{number, trademark_notice};

/// Longer texts are cut.
const MAX_CELL_LETTERS: usize = 48;

/// A row of the table: one run, or the runs of a batch.
enum RunsRow<'a> {
    Run(&'a RunSummary),
    Batch(BatchRow<'a>),
}

/// The runs of a batch.
struct BatchRow<'a> {
    id: String,
    /// The runs, newest last.
    runs: Vec<&'a RunSummary>,
    /// How many runs are planned, if it did not end.
    planned: Option<usize>,
}

/// The runs as a table, a row for each.
pub fn runs_document(rows: &[RunSummary], zone: &TimeZone) -> Document {
    runs_table(rows, rows.iter().map(RunsRow::Run).collect(), zone)
}

/// The runs as a table, those of a batch in one row, at the place of the last one. `planned` has the number of runs that
/// a batch plans, by the ids of those that did not end.
pub fn grouped_runs_document(
    rows: &[RunSummary],
    planned: &BTreeMap<String, usize>,
    zone: &TimeZone,
) -> Document {
    let batch_of = |row: &'_ RunSummary| row.local_batch().map(|batch| batch.id.clone());
    let mut lines: Vec<RunsRow<'_>> = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        let Some(batch) = batch_of(row) else {
            lines.push(RunsRow::Run(row));
            continue;
        };
        let is_of_batch = |other: &&RunSummary| batch_of(other).as_ref() == Some(&batch);
        if !rows[position + 1..].iter().any(|other| is_of_batch(&other)) {
            let runs = rows.iter().filter(is_of_batch).collect();
            let planned = planned.get(&batch).copied();
            lines.push(RunsRow::Batch(BatchRow { id: batch, runs, planned }));
        }
    }
    runs_table(rows, lines, zone)
}

/// A narrow table omits the columns that can be looked up elsewhere.
fn runs_table(rows: &[RunSummary], lines: Vec<RunsRow<'_>>, zone: &TimeZone) -> Document {
    let notice = first_notice(rows);
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = !scenarios.map(|deciding| &deciding.scenario).all_equal();
    // A host that all have in common needs no column.
    let hosts = !rows.iter().map(|row| &row.host).all_equal();
    let releases = !rows.iter().map(|row| &row.rocm).all_equal();
    let unit = deciding_unit(rows);
    let unverified = unverified_word(notice.is_some());
    let measured = Column::number("figure").with_note(unverified);
    // A narrow table has the ratio without the figure.
    let ratio = Column::number("ratio").with_note(unverified);
    let table = Table::builder("Runs", lines)
        .head("run", RunsRow::id)
        .column(Column::status("outcome").wrap_at_rank(5), RunsRow::outcome)
        .column(Column::text("benchmark").omit_at_rank(3), |row| {
            truncate_cell(&row.last_run().title)
        })
        .column(Column::text("variant").omit_at_rank(4), |row| {
            let choices = row.single().map(RunSummary::format_choices);
            truncate_cell(&choices.unwrap_or_default())
        })
        .column(Column::text("ROCm").omit_at_rank(2), |row| {
            let single = row.single().filter(|_| releases);
            single.map_or(String::new(), |run| truncate_cell(&run.rocm))
        })
        .column(measured.omit_at_rank(6), |row| {
            let figure = row.single().map(|run| format_deciding_figure(run, scenarios, unit));
            figure.unwrap_or_default()
        })
        .column(Column::text("started").omit_at_rank(7), |row| format_minute(row.started(), zone))
        .column(ratio.omit_at_rank(8), |row| {
            let ratio = row.single().and_then(|run| run.deciding.as_ref()?.ratio);
            ratio.map(number::format_ratio).unwrap_or_default()
        })
        .column(Column::number("duration").omit_at_rank(0), |row| {
            let seconds = row.duration_seconds().map(format::format_duration);
            seconds.unwrap_or_default()
        })
        .column(Column::text("host").omit_at_rank(1), |row| {
            if hosts { truncate_cell(&row.last_run().host) } else { String::new() }
        });
    let notice = verdict::notice_block(notice.as_deref());
    Document::new("", table.into_block().into_iter().chain(notice))
}

impl<'a> RunsRow<'a> {
    fn runs(&self) -> &[&'a RunSummary] {
        match self {
            Self::Run(run) => std::slice::from_ref(run),
            Self::Batch(batch) => &batch.runs,
        }
    }

    /// The run, if the row has only one.
    fn single(&self) -> Option<&'a RunSummary> {
        match self {
            Self::Run(run) => Some(run),
            Self::Batch(..) => None,
        }
    }

    fn last_run(&self) -> &'a RunSummary {
        match self {
            Self::Run(run) => run,
            Self::Batch(batch) => batch.runs[batch.runs.len() - 1],
        }
    }

    fn id(&self) -> String {
        match self {
            Self::Run(run) => run.id.clone(),
            Self::Batch(batch) => batch.id.clone(),
        }
    }

    /// The outcome of a run; of a batch, how many runs have which.
    fn outcome(&self) -> TableCell {
        match self {
            Self::Run(run) => status_cell(run),
            Self::Batch(BatchRow { runs, planned, .. }) => {
                // A run that was retried counts once, by its last attempt.
                let position = |run: &&&RunSummary| {
                    let batch = run.batch.as_ref();
                    batch.map(|batch| (batch.cell.clone(), batch.trial))
                };
                let latest = runs.iter().rev().unique_by(position).collect_vec();
                // Trials that were judged together have one outcome.
                let judged = |run: &&&RunSummary| {
                    let cell = run.batch.as_ref().filter(|_| run.cell.is_some());
                    cell.map_or_else(|| run.id.clone(), |batch| format!("cell {}", batch.cell))
                };
                let judged = latest.iter().copied().unique_by(judged).collect_vec();
                let words = judged.iter().map(|run| run.describe_deciding_state()).counts();
                let counts = words.into_iter().sorted();
                let counts = counts.map(|(word, count)| format!("{count} {word}"));
                let retries = match runs.len() - latest.len() {
                    0 => String::new(),
                    1 => "; 1 retry".to_owned(),
                    several => format!("; {several} retries"),
                };
                let runs = match planned {
                    Some(planned) => {
                        format!("{} of {}", latest.len(), format::format_count(*planned, "run"))
                    }
                    None => format::format_count(latest.len(), "run"),
                };
                let verdicts = (judged.len() < latest.len())
                    .then(|| format!(", {}", format::format_count(judged.len(), "verdict")));
                let runs = runs + &verdicts.unwrap_or_default();
                format!("{runs}: {}{retries}", join(counts, ", ")).into()
            }
        }
    }

    /// The start of the first of its runs.
    fn started(&self) -> Option<Timestamp> {
        self.runs().iter().filter_map(|run| run.started).min()
    }

    /// From the first start to the last end, if all have ended.
    fn duration_seconds(&self) -> Option<f64> {
        let ends: Option<Vec<Timestamp>> = self.runs().iter().map(|run| run.ended).collect();
        let lasted = ends?.into_iter().max()?.duration_since(self.started()?);
        Some(lasted.as_secs_f64().max(0.0))
    }
}

fn status_cell(row: &RunSummary) -> TableCell {
    match &row.run_state {
        RunState::Running(process) => format!("running ({})", process.label()).into(),
        _ => outcome_or_state(row, row.own_verdict(), "-"),
    }
}

/// The outcome of a run's verdict with its qualifiers, or the run's state after a sign if it has none; of how many trials
/// of a cell together; and whether it was imported.
pub(super) fn outcome_or_state(
    row: &RunSummary,
    verdict: Option<RunVerdict<'_>>,
    sign: &str,
) -> TableCell {
    let imported = row.imported_from.as_ref().map(|_| "imported".to_owned());
    let Some(RunVerdict { outcome, trials, .. }) = verdict else {
        let state = format!("{sign} {}", row.state_word());
        return TableCell::from(state).with_note(imported.unwrap_or_default());
    };
    let together = (trials > 1).then(|| format!("{trials} trials together"));
    let kinds = outcome.kinds.iter().map(ToString::to_string);
    let notes = kinds.chain(together).chain(imported);
    marks::outcome_cell(&outcome).with_note(join(notes, ", "))
}

pub(super) fn benchmark_title(row: &RunSummary) -> &str {
    if row.title.is_empty() { &row.recipe } else { &row.title }
}

/// The deciding figure's ratio to the published one.
pub(super) fn deciding_ratio(row: &RunSummary) -> Option<f64> {
    figure_ratio(row.deciding.as_ref())
}

/// A figure's ratio to the published one; none where it has no value.
pub(super) fn figure_ratio(figure: Option<&DecidingFigure>) -> Option<f64> {
    figure.and_then(|figure| figure.value.and(figure.ratio))
}

pub(super) fn format_start(row: &RunSummary, zone: &TimeZone) -> String {
    format_minute(row.started, zone)
}

/// A time to the minute; empty if it is not known.
pub(super) fn format_minute(time: Option<Timestamp>, zone: &TimeZone) -> String {
    let formatted = time.map(|time| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M"));
    formatted.map_or_else(String::new, |time| time.to_string())
}

/// The unit of the times among the deciding figures of these runs.
pub(super) fn deciding_unit<'a>(rows: impl IntoIterator<Item = &'a RunSummary>) -> ColumnUnit {
    column_unit(rows.into_iter().map(|row| row.deciding.as_ref()))
}

/// The unit of the times among these figures.
pub(super) fn column_unit<'a>(
    figures: impl IntoIterator<Item = Option<&'a DecidingFigure>>,
) -> ColumnUnit {
    let figures = figures.into_iter().flatten();
    ColumnUnit::of(figures.filter_map(|figure| Some((figure.value?, figure.unit.as_str()))))
}

/// `98,123.9 tokens/s`, with its scenario if there are several; or the reason why there is none.
pub(super) fn format_deciding_figure(
    row: &RunSummary,
    scenarios: bool,
    unit: ColumnUnit,
) -> String {
    let Some(deciding) = &row.deciding else {
        return row.reason.as_deref().map(truncate_cell).unwrap_or_default();
    };
    let formatted = deciding.value.map(|value| unit.format(value, &deciding.unit));
    let value = formatted.unwrap_or_else(|| "no figure".to_owned());
    if scenarios {
        return truncate_cell(&format!("{} {value}", deciding.scenario));
    }
    truncate_cell(&value)
}

pub(super) fn truncate_cell(text: &str) -> String {
    truncate_text(text, MAX_CELL_LETTERS)
}

/// A text of at most so many letters.
pub(super) fn truncate_text(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let begin: String = text.chars().take(longest - 1).collect();
    format!("{}…", begin.trim_end())
}

/// The notice that `MLCommons` requires of `MLPerf` figures.
fn first_notice(rows: &[RunSummary]) -> Option<String> {
    let mut judged = rows.iter().filter(|row| row.deciding.is_some());
    judged.find_map(|row| trademark_notice(&row.submission))
}

#[cfg(test)]
mod tests;
