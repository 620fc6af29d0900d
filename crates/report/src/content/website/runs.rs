//! The runs of a submission as a table, below what they have in common.

use itertools::{Itertools as _, join};

use super::group::SubmissionRuns;
use super::{WebsiteOptions, batches, tables};
use crate::content::runs;
use crate::document::{Block, ListItem, RowTable, Section, Table, TableCell};
use retrial_history::RunSummary;
use retrial_results::verdict::trademark_notice;

/// The most letters of a property's value.
const MAX_VALUE_LETTERS: usize = 120;

/// A property of runs that is listed once if all runs have it in common.
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

/// The runs of a submission, the newest first.
pub(super) fn runs_section(group: &SubmissionRuns<'_>, options: &WebsiteOptions<'_>) -> Block {
    let rows: Vec<&RunSummary> = group.rows.iter().rev().copied().collect();
    let differs =
        |property: &ListedProperty| !rows.iter().map(|row| (property.value)(row)).all_equal();
    let (differ, same): (Vec<ListedProperty>, Vec<ListedProperty>) =
        PROPERTIES.into_iter().partition(differs);
    let common = same.into_iter().filter_map(|property| {
        let value = (property.value)(rows.first()?);
        (!value.is_empty()).then(|| ListItem::with_key(property.name, value))
    });
    let table = runs_table(&rows, &differ, options).into_block();
    Section::new_block("Runs", Block::list(common).into_iter().chain(table))
}

fn runs_table<'a>(
    rows: &[&'a RunSummary],
    properties: &[ListedProperty],
    options: &WebsiteOptions<'_>,
) -> RowTable<&'a RunSummary> {
    let scenarios = rows.iter().filter_map(|row| row.deciding.as_ref());
    let scenarios = !scenarios.map(|deciding| &deciding.scenario).all_equal();
    let is_noticed = rows.iter().any(|row| trademark_notice(&row.submission).is_some());
    let table = Table::builder("Runs", rows.iter().copied())
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
