//! The runs of a submission: the newest on its first page, and all of them on pages of their own.
//!
//! A page of runs is filled from the oldest run on, so that full pages stay as they are.

use std::ops::Range;

use itertools::{Itertools as _, join};

use super::group::SubmissionRuns;
use super::{FRONT, WebsiteOptions, WebsitePage, batches, tables};
use crate::content::{runs, verdict};
use crate::document::{Block, Document, Line, ListItem, RowTable, Section, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_results::verdict::trademark_notice;

/// The most runs on a submission's first page, and what they may take in bytes.
const MAX_FIRST_PAGE_RUNS: usize = 50;
const MAX_FIRST_PAGE_BYTES: usize = 60_000;
/// The most of a page of runs.
const MAX_PART_RUNS: usize = 250;
const MAX_PART_BYTES: usize = 220_000;
/// The most letters of a property's value.
const MAX_VALUE_LETTERS: usize = 120;

/// A property of runs that is listed once if all runs of a page have it in common.
#[derive(Clone, Copy)]
struct ListedProperty {
    name: &'static str,
    /// Which properties share a column.
    column: usize,
    /// Whether it is less important than others of its column: its name, which is printed before its value.
    note_label: Option<&'static str>,
    value: fn(&RunSummary) -> String,
}

const PROPERTIES: [ListedProperty; 7] = [
    ListedProperty::new("GPUs", 0, None, |row| runs::truncate_cell(&row.gpus)),
    ListedProperty::new("host", 0, None, tables::short_host),
    ListedProperty::new("ROCm", 0, Some("ROCm "), |row| runs::truncate_cell(&row.rocm)),
    ListedProperty::new("ROCm of the host", 0, Some("host's ROCm "), |row| {
        runs::truncate_cell(&row.rocm_host)
    }),
    ListedProperty::new("driver", 0, Some("driver "), |row| runs::truncate_cell(&row.driver)),
    ListedProperty::new("variant", 1, None, |row| {
        runs::truncate_text(&row.format_choices(), MAX_VALUE_LETTERS)
    }),
    ListedProperty::new("image", 1, Some(""), |row| {
        runs::truncate_text(tables::short_image(&row.image), MAX_VALUE_LETTERS)
    }),
];

impl ListedProperty {
    const fn new(
        name: &'static str,
        column: usize,
        note_label: Option<&'static str>,
        value: fn(&RunSummary) -> String,
    ) -> Self {
        Self { name, column, note_label, value }
    }

    /// The value as a part of its column's cell.
    fn format_part(&self, row: &RunSummary) -> Option<String> {
        let value = (self.value)(row);
        let label = self.note_label.unwrap_or_default();
        (!value.is_empty()).then(|| format!("{label}{value}"))
    }
}

/// A cell of the properties of one column.
fn properties_cell(properties: &[&ListedProperty], row: &RunSummary) -> TableCell {
    let (notes, texts): (Vec<&ListedProperty>, Vec<&ListedProperty>) =
        properties.iter().partition(|property| property.note_label.is_some());
    let format = |parts: Vec<&ListedProperty>| {
        join(parts.iter().filter_map(|property| property.format_part(row)), ", ")
    };
    match (format(texts), format(notes)) {
        (text, notes) if text.is_empty() => notes.into(),
        (text, notes) => TableCell::from(text).with_note(notes),
    }
}

/// The runs of each page of runs; none if a submission's first page has room for all of them.
pub(super) fn divide_runs(rows: &[&RunSummary], options: &WebsiteOptions<'_>) -> Vec<Range<usize>> {
    let all = runs_table("", rows, &PROPERTIES, options);
    let weights = tables::row_weights(&all.table);
    if rows.len() <= MAX_FIRST_PAGE_RUNS && weights.iter().sum::<usize>() <= MAX_FIRST_PAGE_BYTES {
        return Vec::new();
    }
    tables::divide_rows(&weights, MAX_PART_RUNS, MAX_PART_BYTES)
}

pub(super) fn newest_runs_section(
    group: &SubmissionRuns<'_>,
    options: &WebsiteOptions<'_>,
) -> Block {
    let rows: Vec<&RunSummary> =
        group.rows.iter().rev().take(MAX_FIRST_PAGE_RUNS).copied().collect();
    let mut blocks =
        runs_with_common_properties("Newest runs", &rows, MAX_FIRST_PAGE_BYTES, options);
    if !group.parts.is_empty() {
        let text = "The run pages, linked at the top and at the end, list all of them.";
        blocks.push(Block::paragraph(text));
    }
    Section::new_block("Runs", blocks)
}

pub(super) fn runs_page(
    group: &SubmissionRuns<'_>,
    part: usize,
    options: &WebsiteOptions<'_>,
) -> WebsitePage {
    let range = group.parts[part].clone();
    let rows: Vec<&RunSummary> = group.rows[range].iter().rev().copied().collect();
    let ends = [rows.last(), rows.first()];
    let [from, to] = ends.map(|row| row.map_or(String::new(), |row| format_start_day(row)));
    let mut blocks = vec![Block::paragraph(format!(
        "{}, started from {from} to {to}, newest first.",
        format::format_count(rows.len(), "run")
    ))];
    blocks.extend(runs_with_common_properties("Runs", &rows, usize::MAX, options));
    let submission = rows.first().map(|row| &row.submission);
    blocks.extend(verdict::notice_blocks(submission.into_iter()));
    let mut links: Vec<(Line, String)> =
        vec![("All submissions".into(), FRONT.to_owned()), (group.title.into(), group.page_name())];
    if part + 1 < group.parts.len() {
        links.push(("Newer runs".into(), group.runs_page_name(part + 1)));
    }
    if part > 0 {
        links.push(("Older runs".into(), group.runs_page_name(part - 1)));
    }
    let title = format!("{}: runs, page {}", group.title, part + 1);
    WebsitePage { document: Document::new(title, blocks), links }
}

fn format_start_day(row: &RunSummary) -> String {
    row.started.map_or_else(
        || "an unknown time".to_owned(),
        |started| started.strftime("%Y-%m-%d").to_string(),
    )
}

/// Runs as a table, below what they have in common.
fn runs_with_common_properties(
    caption: &str,
    rows: &[&RunSummary],
    bytes: usize,
    options: &WebsiteOptions<'_>,
) -> Vec<Block> {
    let differs =
        |property: &ListedProperty| !rows.iter().map(|row| (property.value)(row)).all_equal();
    let (differ, same): (Vec<ListedProperty>, Vec<ListedProperty>) =
        PROPERTIES.into_iter().partition(differs);
    let common = same.into_iter().filter_map(|property| {
        let value = (property.value)(rows.first()?);
        (!value.is_empty()).then(|| ListItem::with_key(property.name, value))
    });
    let table = runs_table(caption, rows, &differ, options).table;
    let table = tables::truncate_to_bytes(table, bytes, "on the pages of runs");
    Block::list(common).into_iter().chain(table).collect()
}

fn runs_table<'a>(
    caption: &str,
    rows: &[&'a RunSummary],
    properties: &[ListedProperty],
    options: &WebsiteOptions<'_>,
) -> RowTable<&'a RunSummary> {
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = !scenarios.map(|deciding| &deciding.scenario).all_equal();
    let is_noticed = rows.iter().any(|row| trademark_notice(&row.submission).is_some());
    let table = Table::builder(caption, rows.iter().copied())
        .head("run", |row| TableCell::from(&row.id).with_link((options.link)(row)));
    let table = tables::add_run_columns(table, is_noticed, scenarios, |row| row);
    let columns = properties.iter().into_group_map_by(|property| property.column);
    let columns = columns.into_iter().sorted_by_key(|(column, _)| *column);
    let table = columns.fold(table, |table, (_, properties)| {
        let name = join(properties.iter().map(|property| property.name), ", ");
        table.text(&name, |row| properties_cell(&properties, row))
    });
    table.text("part of", |row| batches::position_cell(row))
}
