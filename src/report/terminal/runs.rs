//! The runs there are, a line each, with as many columns as there is room for.

use jiff::tz::TimeZone;

use super::grid::{Cell, columns, wrapped};
use super::style::{Paint, color};
use super::{NARROWEST, WIDEST};
use crate::history::Row;
use crate::report::runs::{Column, Reader, notice_of};

/// What is left out first where there is no room.
const LEAST_TOLD: [Column; 7] = [
    Column::Began,
    Column::Took,
    Column::Host,
    Column::What,
    Column::Ratio,
    Column::Figure,
    Column::Choices,
];

/// The table of runs, for a terminal so wide.
#[must_use]
pub fn runs(rows: &[Row], width: u16, colored: bool, zone: &TimeZone) -> String {
    let paint = Paint { color: colored };
    let width = usize::from(width).max(NARROWEST);
    let notice = notice_of(rows);
    let reader = Reader::of(rows, zone);
    let unverified = if notice.is_some() { "unverified" } else { "" };
    let mut shown = Column::ALL.to_vec();
    // What is empty in every run needs no column.
    shown.retain(|column| rows.iter().any(|row| !column.cell(row, &reader).is_empty()));
    // Nor does a machine that is everybody's.
    let alike = rows.windows(2).all(|pair| pair[0].host == pair[1].host);
    shown.retain(|column| *column != Column::Host || !alike);
    let mut leave = LEAST_TOLD.iter();
    loop {
        let head: Vec<(&str, &str)> = shown
            .iter()
            .map(|column| match column {
                Column::Figure => (column.head(), unverified),
                column => (column.head(), ""),
            })
            .collect();
        let lines: Vec<Vec<Cell>> = rows
            .iter()
            .map(|row| {
                shown
                    .iter()
                    .map(|column| cell(*column, row, &reader))
                    .collect()
            })
            .collect();
        let next = leave.find(|column| shown.contains(column));
        let room = if next.is_some() { width } else { usize::MAX };
        if let Some(mut text) = columns(&head, &lines, room, paint) {
            if let Some(notice) = &notice {
                text.push('\n');
                text += &wrapped(notice, width.min(WIDEST), 0);
            }
            return text;
        }
        shown.retain(|column| Some(column) != next);
    }
}

fn cell(column: Column, row: &Row, reader: &Reader) -> Cell {
    let text = column.cell(row, reader);
    match row.outcome {
        Some(outcome) if column == Column::Outcome => Cell::painted(text, color(outcome)),
        _ => Cell::of([text]),
    }
}
