//! The runs there are, a line each, with as many columns as there is room for.

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use super::grid::{Cell, GAP, columns, wrapped};
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
    Column::Figure,
    Column::Ratio,
    Column::Choices,
];

/// A column with what stands in it, run by run.
struct Filled {
    column: Column,
    cells: Vec<String>,
    width: usize,
}

/// The table of runs, for a terminal so wide.
#[must_use]
pub fn runs(rows: &[Row], width: u16, colored: bool, zone: &TimeZone) -> String {
    let paint = Paint { color: colored };
    let width = usize::from(width).max(NARROWEST);
    let notice = notice_of(rows);
    let unverified = if notice.is_some() { "unverified" } else { "" };
    let second = |column: Column| match column {
        Column::Figure => unverified,
        _ => "",
    };
    let reader = Reader::of(rows, zone);
    let filled = Column::ALL.into_iter().map(|column| {
        let cells: Vec<String> = rows.iter().map(|row| column.cell(row, &reader)).collect();
        let widest = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        let head = column.head().width().max(second(column).width());
        Filled {
            column,
            width: if widest == 0 { 0 } else { widest.max(head) },
            cells,
        }
    });
    // What is empty in every run needs no column, nor does a machine that is everybody's.
    let alike = rows.windows(2).all(|pair| pair[0].host == pair[1].host);
    let mut shown: Vec<Filled> = filled
        .filter(|filled| filled.width > 0 && !(filled.column == Column::Host && alike))
        .collect();
    for least in LEAST_TOLD {
        let total: usize = shown.iter().map(|filled| filled.width + GAP).sum();
        if total <= width + GAP {
            break;
        }
        shown.retain(|filled| filled.column != least);
    }
    let head: Vec<(&str, &str)> = shown
        .iter()
        .map(|filled| (filled.column.head(), second(filled.column)))
        .collect();
    let mut cells: Vec<_> = shown
        .into_iter()
        .map(|filled| (filled.column, filled.cells.into_iter()))
        .collect();
    let lines: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let texts = cells.iter_mut();
            texts
                .map(|(column, texts)| cell(*column, row, texts.next().unwrap_or_default()))
                .collect()
        })
        .collect();
    // A narrow terminal breaks the lines that are left.
    let mut text = columns(&head, &lines, usize::MAX, paint).unwrap_or_default();
    if let Some(notice) = &notice {
        text.push('\n');
        text += &wrapped(notice, width.min(WIDEST), 0);
    }
    text
}

fn cell(column: Column, row: &Row, text: String) -> Cell {
    match row.outcome {
        Some(outcome) if column == Column::Outcome => Cell::painted(text, color(outcome)),
        _ => Cell::of([text]),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::history::{Deciding, Stand};
    use crate::recipe::model::Mode;
    use crate::verdict::Outcome;

    fn row(number: i64, host: &str) -> Row {
        let began = Timestamp::from_second(1_795_256_000 + number * 3600).unwrap();
        Row {
            id: format!("20261121-1{number}0000-resnet50-0f1e"),
            title: "ResNet-50 on the CPU".to_owned(),
            host: host.to_owned(),
            variant: [("rocm".to_owned(), format!("7.{number}.1"))].into(),
            began: Some(began),
            ended: Some(began + jiff::SignedDuration::from_secs(75)),
            stand: Stand::Ended,
            outcome: Some(Outcome::Reproduced),
            deciding: Some(Deciding {
                scenario: "Offline".to_owned(),
                mode: Mode::Performance,
                figure: "samples_per_second".to_owned(),
                value: Some(1234.5),
                unit: "samples/s".to_owned(),
                ratio: Some(0.98),
            }),
            ..Row::default()
        }
    }

    fn shown(rows: &[Row], width: u16) -> String {
        runs(rows, width, false, &TimeZone::UTC)
    }

    #[test]
    fn as_many_columns_as_there_is_room_for() {
        let mut rows = [row(0, "node-a"), row(1, "node-b")];
        rows[1].outcome = None;
        rows[1].deciding = None;
        rows[1].because = Some("the registry does not answer".to_owned());
        let heads = |width: u16| -> Vec<String> {
            let text = shown(&rows, width);
            let wide = text.lines().map(UnicodeWidthStr::width).max();
            assert!(wide.is_none_or(|wide| wide <= usize::from(width)), "{text}");
            let head = text.lines().next().unwrap_or_default().to_owned();
            head.split_whitespace().map(str::to_owned).collect()
        };
        let all = [
            "run", "outcome", "what", "with", "figure", "ratio", "began", "took", "host",
        ];
        assert_eq!(heads(200), all);
        assert_eq!(
            heads(140),
            [
                "run", "outcome", "what", "with", "figure", "ratio", "took", "host"
            ]
        );
        assert_eq!(heads(120), &all[..6]);
        assert_eq!(heads(100), ["run", "outcome", "with", "figure", "ratio"]);
        assert_eq!(heads(80), ["run", "outcome", "with", "ratio"]);
        assert_eq!(heads(60), ["run", "outcome", "with"]);
    }

    #[test]
    fn what_is_alike_or_empty_has_no_column() {
        let text = shown(&[row(0, "node-a"), row(1, "node-a")], 200);
        assert!(!text.contains("host") && !text.contains("node-a"), "{text}");
        assert!(!text.contains("Offline"), "{text}");
    }

    #[test]
    fn nothing_of_a_row_reaches_the_terminal_raw() {
        let mut rows = [row(0, "node-a"), row(1, "b")];
        rows[0].title = "\u{1b}[31mred\nnext".to_owned();
        rows[0].host = "\u{7}".to_owned();
        let text = shown(&rows, 200);
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
        assert_eq!(text.lines().count(), 5);
    }
}
