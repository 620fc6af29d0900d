//! Tables of a website: columns of runs and verdicts, and tables cut to a size.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::tz::TimeZone;

use super::group::Series;
use crate::format;
use crate::history::RunSummary;
use crate::report::content::figures::ratio;
use crate::report::content::{marks, runs};
use crate::report::document::{Block, Cell, Rows, Table};
use crate::results::verdict::Outcome;

/// A run's verdict, or its state if it has none.
pub(super) fn verdict(row: &RunSummary) -> Cell {
    match row.outcome {
        Some(outcome) if row.imported_from.is_some() => {
            Cell::status(outcome.into(), &format!("{outcome} (imported)"))
        }
        Some(outcome) => marks::outcome(outcome),
        None => format!("• {}", row.state()).into(),
    }
}

/// When a run started.
pub(super) fn started(row: &RunSummary) -> String {
    runs::started(row, &TimeZone::UTC)
}

/// The deciding figure's ratio to the published one.
pub(super) fn ratio_of(row: &RunSummary) -> String {
    let deciding = row.deciding.as_ref().filter(|one| one.value.is_some());
    ratio(deciding.and_then(|one| one.ratio))
}

/// Adds a column for each outcome, with the number of series whose newest verdict it is.
pub(super) fn with_outcomes<R>(
    rows: Rows<R>,
    latest: impl Fn(&R) -> BTreeMap<Outcome, usize>,
) -> Rows<R> {
    let outcomes = Outcome::ALL.into_iter();
    outcomes.fold(rows, |rows, outcome| {
        rows.number(outcome.word(), |row| {
            let count = latest(row).get(&outcome).copied();
            count.map_or(String::new(), |count| count.to_string())
        })
    })
}

/// Counts verdicts.
pub(super) fn counted(verdicts: impl Iterator<Item = Outcome>) -> BTreeMap<Outcome, usize> {
    let mut counts = BTreeMap::new();
    for outcome in verdicts {
        *counts.entry(outcome).or_default() += 1;
    }
    counts
}

/// The newest verdicts of series.
pub(super) fn newest<'a>(
    series: impl Iterator<Item = &'a Series<'a>>,
) -> impl Iterator<Item = Outcome> {
    series.filter_map(|one| one.newest_judged()?.outcome)
}

/// The table, with as many rows as fit into so many bytes of HTML, and a remark on the others.
pub(super) fn fitting(table: Block, bytes: usize, others: &str) -> Vec<Block> {
    let Block::Table(mut table) = table else {
        return vec![table];
    };
    let mut left = bytes;
    let mut dropped = 0;
    for group in &mut table.groups {
        let count = group.rows.len();
        let fits = |row: &Vec<Cell>| {
            let rest = left.checked_sub(weight(row));
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let kept = group.rows.iter().map(fits).take_while(|fits| *fits).count();
        group.rows.truncate(kept);
        dropped += count - kept;
    }
    table.groups.retain(|group| !group.rows.is_empty());
    let remark = (dropped > 0).then(|| Block::paragraph(format!("{} {others}.", more(dropped))));
    [Block::Table(table)].into_iter().chain(remark).collect()
}

fn more(count: usize) -> String {
    format::count(count, "more row")
}

/// The weight of every row of a table.
pub(super) fn weights(table: &Table) -> Vec<usize> {
    table.rows().map(|row| weight(row)).collect()
}

/// Divides rows of these weights into parts, each of at most so many rows and bytes.
pub(super) fn split(weights: &[usize], rows: usize, bytes: usize) -> Vec<Range<usize>> {
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

/// At least the size of a row in HTML, bytes.
fn weight(cells: &[Cell]) -> usize {
    let weights = cells.iter().map(|cell| {
        let link = cell.link.as_ref().map_or(0, |link| 20 + 3 * link.len());
        64 + escaped(&cell.text) + link
    });
    weights.sum()
}

fn escaped(text: &str) -> usize {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' => 6,
        b'&' => 5,
        b'<' | b'>' => 4,
        _ => 1,
    });
    bytes.sum()
}
