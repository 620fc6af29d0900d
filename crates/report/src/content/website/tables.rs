//! Tables of a website: columns of runs and verdicts, and tables cut to a size.

use std::ops::Range;

use jiff::tz::TimeZone;
use maud::html;

use crate::content::figures::format_ratio;
use crate::content::marks::unverified_word;
use crate::content::runs;
use crate::document::{Block, Column, RowTable, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::RunSummary;

/// Adds the columns of a run's verdict and figure; with `scenarios`, the figure's scenario too.
pub(super) fn add_run_columns<R>(
    rows: RowTable<R>,
    unverified: bool,
    scenarios: bool,
    run: impl Fn(&R) -> &RunSummary,
) -> RowTable<R> {
    let figure = Column::number("figure").with_note(unverified_word(unverified));
    let to_published = Column::number("ratio").with_note("to published");
    rows.status("verdict", |row| runs::outcome_or_state(run(row), "•"))
        .column(figure, |row| {
            runs::format_deciding_figure(run(row), scenarios)
        })
        .column(to_published, |row| {
            format_ratio(runs::deciding_ratio(run(row)))
        })
}

/// When a run started.
pub(super) fn format_start_utc(row: &RunSummary) -> String {
    runs::format_start(row, &TimeZone::UTC)
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

/// The weight of every row of a table.
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
        64 + html! { (cell.text.as_str()) }.into_string().len() + link
    });
    weights.sum()
}
