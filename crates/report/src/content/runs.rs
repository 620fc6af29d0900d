//! A table of runs.

use itertools::Itertools as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::figures::unverified_word;
use super::verdict;
use crate::document::{Column, Document, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::{RunState, RunSummary};
use retrial_results::verdict::{number, trademark_notice};

/// Longer texts are cut.
const LONGEST: usize = 48;

/// The runs as a table; a narrow one omits the columns that can be looked up elsewhere.
pub fn document(rows: &[RunSummary], zone: &TimeZone) -> Document {
    let notice = notice_of(rows);
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = !scenarios.map(|deciding| &deciding.scenario).all_equal();
    // A host that all have in common needs no column.
    let hosts = !rows.iter().map(|row| &row.host).all_equal();
    let host = |row: &RunSummary| if hosts { cut(&row.host) } else { String::new() };
    let ratio = |row: &RunSummary| row.deciding.as_ref()?.ratio.map(number::ratio);
    let duration = |row: &RunSummary| row.seconds().map(format::duration).unwrap_or_default();
    let measured = Column::number("figure").noted(unverified_word(notice.is_some()));
    let table = Table::of("Runs", rows)
        .head("run", |row| &row.id)
        .status("outcome", |row| status(row))
        .column(Column::text("benchmark").spare(3), |row| cut(&row.title))
        .column(Column::text("variant").spare(4), |row| cut(&row.choices()))
        .column(measured.spare(5), |row| figure(row, scenarios))
        .column(Column::number("ratio").spare(6), |row| {
            ratio(row).unwrap_or_default()
        })
        .column(Column::text("started").spare(0), |row| started(row, zone))
        .column(Column::number("duration").spare(1), |row| duration(row))
        .column(Column::text("host").spare(2), |row| host(row));
    let notice = verdict::notice(notice.as_deref());
    Document::new("", table.block().into_iter().chain(notice))
}

fn status(row: &RunSummary) -> TableCell {
    match &row.run_state {
        RunState::Running(process) => format!("running ({})", process.label()).into(),
        _ => outcome(row, "-"),
    }
}

/// A run's outcome, or its state after a sign if it has none.
pub(super) fn outcome(row: &RunSummary, sign: &str) -> TableCell {
    row.qualified_outcome().map_or_else(
        || format!("{sign} {}", row.state()).into(),
        |outcome| {
            let imported = row.imported_from.as_ref().map_or("", |_| " (imported)");
            TableCell::status(outcome.outcome, &format!("{outcome}{imported}"))
        },
    )
}

/// The title of a run's benchmark.
pub(super) fn title(row: &RunSummary) -> &str {
    if row.title.is_empty() {
        &row.recipe
    } else {
        &row.title
    }
}

/// The deciding figure's ratio to the published one.
pub(super) fn ratio_of(row: &RunSummary) -> Option<f64> {
    let deciding = row.deciding.as_ref()?;
    deciding.value.and(deciding.ratio)
}

pub(super) fn started(row: &RunSummary, zone: &TimeZone) -> String {
    minute(row.started, zone)
}

/// A time to the minute; empty if it is not known.
pub(super) fn minute(time: Option<Timestamp>, zone: &TimeZone) -> String {
    let time = time.map(|time| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M"));
    time.map_or_else(String::new, |time| time.to_string())
}

/// `98,123.9 tokens/s`, with its scenario if there are several; or the reason why there is none.
pub(super) fn figure(row: &RunSummary, scenarios: bool) -> String {
    let Some(deciding) = &row.deciding else {
        return row.reason.as_deref().map(cut).unwrap_or_default();
    };
    let value = deciding.value;
    let value = value.map(|value| number::format_figure(value, &deciding.unit));
    let value = value.unwrap_or_else(|| "no figure".to_owned());
    if scenarios {
        return cut(&format!("{} {value}", deciding.scenario));
    }
    cut(&value)
}

pub(super) fn cut(text: &str) -> String {
    shortened(text, LONGEST)
}

/// A text of at most so many letters.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let begin: String = text.chars().take(longest - 1).collect();
    format!("{}…", begin.trim_end())
}

/// The notice that `MLCommons` requires of `MLPerf` figures.
fn notice_of(rows: &[RunSummary]) -> Option<String> {
    let mut judged = rows.iter().filter(|row| row.deciding.is_some());
    judged.find_map(|row| trademark_notice(&row.submission))
}

#[cfg(test)]
mod tests;
