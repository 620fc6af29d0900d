//! A table of runs.

use jiff::tz::TimeZone;

use super::figures::unverified_word;
use super::verdict;
use crate::format;
use crate::history::{RunState, RunSummary};
use crate::report::document::{Cell, Column, Document, Table};
use crate::results::verdict::{notice, number};

/// Longer texts are cut.
const LONGEST: usize = 48;

/// The runs as a table; a narrow one omits the columns that can be looked up elsewhere.
#[must_use]
pub fn document(rows: &[RunSummary], zone: &TimeZone) -> Document {
    let notice = notice_of(rows);
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = several(scenarios.map(|deciding| &deciding.scenario));
    // A host that all have in common needs no column.
    let hosts = several(rows.iter().map(|row| &row.host));
    let host = |row: &RunSummary| if hosts { cut(&row.host) } else { String::new() };
    let ratio = |row: &RunSummary| row.deciding.as_ref()?.ratio.map(number::ratio);
    let duration = |row: &RunSummary| row.seconds().map(format::duration);
    let measured = Column::number("figure").noted(unverified_word(notice.is_some()));
    let table = Table::of("Runs", rows)
        .head("run", |row| &row.id)
        .status("outcome", |row| status(row))
        .column(Column::text("benchmark").spare(3), |row| cut(&row.title))
        .column(Column::text("variant").spare(6), |row| cut(&row.choices()))
        .column(measured.spare(4), |row| figure(row, scenarios))
        .column(Column::number("ratio").spare(5), |row| {
            ratio(row).unwrap_or_default()
        })
        .column(Column::text("started").spare(0), |row| started(row, zone))
        .column(Column::number("duration").spare(1), |row| {
            duration(row).unwrap_or_default()
        })
        .column(Column::text("host").spare(2), |row| host(row));
    let mut blocks = vec![table.block()];
    blocks.extend(verdict::notice(notice.as_deref()));
    Document {
        blocks,
        ..Document::default()
    }
}

pub(super) fn several<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.any(|value| Some(&value) != first.as_ref())
}

fn status(row: &RunSummary) -> Cell {
    match (row.run_state, row.outcome) {
        (RunState::Running { pid }, _) => format!("running ({pid})").into(),
        (_, Some(outcome)) => {
            let imported = row.imported_from.as_ref().map_or("", |_| " (imported)");
            Cell::status(outcome.into(), &format!("{outcome}{imported}"))
        }
        (_, None) => format!("- {}", row.state()).into(),
    }
}

pub(super) fn started(row: &RunSummary, zone: &TimeZone) -> String {
    let began = row.began.map(|began| began.to_zoned(zone.clone()));
    began.map_or_else(String::new, |began| {
        began.strftime("%Y-%m-%d %H:%M").to_string()
    })
}

/// `98,123.9 tokens/s`, with its scenario if there are several; or the reason why there is none.
pub(super) fn figure(row: &RunSummary, scenarios: bool) -> String {
    match (&row.deciding, &row.because) {
        (Some(deciding), _) => {
            let value = deciding.value;
            let value = value.map(|value| number::figure(value, &deciding.unit));
            let value = value.unwrap_or_else(|| "no figure".to_owned());
            if scenarios {
                cut(&format!("{} {value}", deciding.scenario))
            } else {
                cut(&value)
            }
        }
        (None, Some(because)) => cut(because),
        (None, None) => String::new(),
    }
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
    let mut shown = rows.iter().filter(|row| row.deciding.is_some());
    shown.find_map(|row| notice(&row.submission))
}

#[cfg(test)]
mod tests;
