//! The runs there are, a row each.

use jiff::tz::TimeZone;

use super::figures::unverified_word;
use super::{marks, verdict};
use crate::format;
use crate::history::{RunSummary, Stand};
use crate::report::document::{Block, Cell, Column, Document, Table};
use crate::results::verdict::{notice, number};

/// A longer text of somebody else's is cut.
const LONGEST: usize = 48;

/// The runs as a table; where there is no room, columns that can be looked up elsewhere go first.
#[must_use]
pub fn document(rows: &[RunSummary], zone: &TimeZone) -> Document {
    let notice = notice_of(rows);
    let columns = vec![
        Column::head("run"),
        Column::status("outcome"),
        Column::text("what").spare(3),
        Column::text("with").spare(6),
        Column::number("figure")
            .noted(unverified_word(notice.is_some()))
            .spare(4),
        Column::number("ratio").spare(5),
        Column::text("started").spare(0),
        Column::number("duration").spare(1),
        Column::text("host").spare(2),
    ];
    let scenarios = several(
        rows.iter()
            .filter_map(|row| Some(&row.deciding.as_ref()?.scenario)),
    );
    // A machine that is everybody's needs no column.
    let hosts = several(rows.iter().map(|row| &row.host));
    let cells = rows.iter().map(|row| {
        let ratio = row.deciding.as_ref().and_then(|deciding| deciding.ratio);
        vec![
            row.id.as_str().into(),
            status(row),
            cut(&row.title).into(),
            cut(&row.choices()).into(),
            figure(row, scenarios).into(),
            ratio.map(number::ratio).unwrap_or_default().into(),
            started(row, zone).into(),
            row.seconds()
                .map(format::duration)
                .unwrap_or_default()
                .into(),
            if hosts { cut(&row.host) } else { String::new() }.into(),
        ]
    });
    let mut blocks = vec![Block::Table(Table::new("Runs", columns, cells))];
    blocks.extend(verdict::notice(notice.as_deref()));
    Document {
        blocks,
        ..Document::default()
    }
}

fn several<'a>(mut values: impl Iterator<Item = &'a String>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn status(row: &RunSummary) -> Cell {
    match (row.stand, row.outcome) {
        (Stand::Running { pid }, _) => format!("running ({pid})").into(),
        (_, Some(outcome)) => marks::outcome(outcome),
        (_, None) => format!("- {}", row.state()).into(),
    }
}

pub(super) fn started(row: &RunSummary, zone: &TimeZone) -> String {
    let began = row.began.map(|began| began.to_zoned(zone.clone()));
    began.map_or_else(String::new, |began| {
        began.strftime("%Y-%m-%d %H:%M").to_string()
    })
}

/// `98,123.9 tokens/s`, with its scenario where there are several; why there is none, where the run
/// says so.
fn figure(row: &RunSummary, scenarios: bool) -> String {
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

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let begin: String = text.chars().take(LONGEST - 1).collect();
    format!("{}…", begin.trim_end())
}

/// What `MLCommons`' policy asks for where figures of `MLPerf` are among them.
fn notice_of(rows: &[RunSummary]) -> Option<String> {
    let mut shown = rows.iter().filter(|row| row.deciding.is_some());
    shown.find_map(|row| notice(&row.submission))
}

#[cfg(test)]
mod tests;
