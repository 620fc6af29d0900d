//! The outcome of an export: for people, and as JSON.

use serde::Serialize;

use super::checks::count_nouns;
use super::marks::{BAD, GOOD};
use super::verdict::notice_block;
use crate::document::{Block, Conclusion, Document, ListItem, Section};
use retrial_document::measures::format::format_count;
use retrial_submission::export::Export;

/// An export for people; `to` is the tree's directory.
pub fn export_document(export: &Export, to: &str) -> Document {
    let text = format!(
        "{to}: {} in {}, layout {}, {} division, {}, {}",
        format_count(export.results.len(), "result"),
        format_count(export.files.len(), "file"),
        export.round,
        export.division,
        export.submitter,
        export.system,
    );
    let results = export.results.iter().map(|result| {
        let first_figure = result.figures.values().next();
        let value = first_figure.map(|value| format!("{value}, ")).unwrap_or_default();
        let text = format!("{value}trial {} of {} ({})", result.trial, result.run, result.reason);
        ListItem::with_key(result.label(), text)
    });
    let notes = export.notes.iter().map(|note| ListItem::new(format!("note: {note}")));
    let violations = export.violations.iter();
    let violated = violations.map(|violation| {
        ListItem::new(format!("{}: {}", violation.path, violation.rule)).with_mark(BAD)
    });
    let mut blocks = vec![Block::paragraph(text)];
    blocks.extend(Block::list(results));
    blocks.extend(Block::list(notes.chain(violated)));
    for items in
        export.missing.chunk_by(|left, right| (&left.path, &left.fix) == (&right.path, &right.fix))
    {
        let title = format!("missing in {}: {}", items[0].path, items[0].fix);
        let missing_items = items.iter().map(|missing| ListItem::new(&missing.item).with_mark(BAD));
        blocks.push(Section::new_block(title, Block::list(missing_items)));
    }
    blocks.push(Block::Conclusion(export_conclusion(export)));
    blocks.extend(notice_block(export.notice.as_deref()));
    Document::new("", blocks)
}

fn export_conclusion(export: &Export) -> Conclusion {
    let problems = count_nouns([
        (export.violations.len(), "violated rule"),
        (export.missing.len(), "missing item"),
    ]);
    if problems.is_empty() {
        return Conclusion::new(GOOD, "complete", "nothing is missing");
    }
    Conclusion::new(BAD, "not complete", problems)
}

/// An export for programs.
#[derive(Serialize)]
struct PrintedExport<'a> {
    to: &'a str,
    complete: bool,
    #[serde(flatten)]
    export: &'a Export,
}

/// An export as indented JSON.
pub fn export_json(export: &Export, to: &str) -> String {
    let printed = PrintedExport { to, complete: export.is_complete(), export };
    // Its types cannot fail.
    serde_json::to_string_pretty(&printed).unwrap_or_default() + "\n"
}
