//! A table of runs.

use itertools::Itertools as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::marks::unverified_word;
use super::verdict;
use crate::document::{Column, Document, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::{RunState, RunSummary};
use retrial_results::verdict::{number, trademark_notice};

/// Longer texts are cut.
const MAX_CELL_LETTERS: usize = 48;

/// The runs as a table; a narrow one omits the columns that can be looked up elsewhere.
pub fn runs_document(rows: &[RunSummary], zone: &TimeZone) -> Document {
    let notice = first_notice(rows);
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = !scenarios.map(|deciding| &deciding.scenario).all_equal();
    // A host that all have in common needs no column.
    let hosts = !rows.iter().map(|row| &row.host).all_equal();
    let host = |row: &RunSummary| {
        if hosts {
            truncate_cell(&row.host)
        } else {
            String::new()
        }
    };
    let ratio = |row: &RunSummary| row.deciding.as_ref()?.ratio.map(number::format_ratio);
    let duration = |row: &RunSummary| {
        row.duration_seconds()
            .map(format::format_duration)
            .unwrap_or_default()
    };
    let measured = Column::number("figure").with_note(unverified_word(notice.is_some()));
    let table = Table::builder("Runs", rows)
        .head("run", |row| &row.id)
        .status("outcome", |row| status_cell(row))
        .column(Column::text("benchmark").omit_at_rank(3), |row| {
            truncate_cell(&row.title)
        })
        .column(Column::text("variant").omit_at_rank(4), |row| {
            truncate_cell(&row.format_choices())
        })
        .column(measured.omit_at_rank(5), |row| {
            format_deciding_figure(row, scenarios)
        })
        .column(Column::number("ratio").omit_at_rank(6), |row| {
            ratio(row).unwrap_or_default()
        })
        .column(Column::text("started").omit_at_rank(0), |row| {
            format_start(row, zone)
        })
        .column(Column::number("duration").omit_at_rank(1), |row| {
            duration(row)
        })
        .column(Column::text("host").omit_at_rank(2), |row| host(row));
    let notice = verdict::notice_block(notice.as_deref());
    Document::new("", table.into_block().into_iter().chain(notice))
}

fn status_cell(row: &RunSummary) -> TableCell {
    match &row.run_state {
        RunState::Running(process) => format!("running ({})", process.label()).into(),
        _ => outcome_or_state(row, "-"),
    }
}

/// A run's outcome, or its state after a sign if it has none.
pub(super) fn outcome_or_state(row: &RunSummary, sign: &str) -> TableCell {
    row.qualified_outcome().map_or_else(
        || format!("{sign} {}", row.state_word()).into(),
        |outcome| {
            let imported = row.imported_from.as_ref().map_or("", |_| " (imported)");
            TableCell::status(outcome.outcome, &format!("{outcome}{imported}"))
        },
    )
}

/// The title of a run's benchmark.
pub(super) fn benchmark_title(row: &RunSummary) -> &str {
    if row.title.is_empty() {
        &row.recipe
    } else {
        &row.title
    }
}

/// The deciding figure's ratio to the published one.
pub(super) fn deciding_ratio(row: &RunSummary) -> Option<f64> {
    let deciding = row.deciding.as_ref()?;
    deciding.value.and(deciding.ratio)
}

pub(super) fn format_start(row: &RunSummary, zone: &TimeZone) -> String {
    format_minute(row.started, zone)
}

/// A time to the minute; empty if it is not known.
pub(super) fn format_minute(time: Option<Timestamp>, zone: &TimeZone) -> String {
    let formatted = time.map(|time| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M"));
    formatted.map_or_else(String::new, |time| time.to_string())
}

/// `98,123.9 tokens/s`, with its scenario if there are several; or the reason why there is none.
pub(super) fn format_deciding_figure(row: &RunSummary, scenarios: bool) -> String {
    let Some(deciding) = &row.deciding else {
        return row.reason.as_deref().map(truncate_cell).unwrap_or_default();
    };
    let raw_value = deciding.value;
    let formatted = raw_value.map(|value| number::format_figure(value, &deciding.unit));
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
