//! What came of an export: for people, and as JSON.

use serde_json::{Value, json};

use super::marks::{BAD, GOOD};
use super::verdict::notice;
use crate::export::Export;
use crate::format::count;
use crate::report::document::{Block, Conclusion, Document, Item, Section};
use crate::results::verdict::number::figure;

/// For people; `to` is the tree's directory.
#[must_use]
pub fn document(export: &Export, to: &str) -> Document {
    let said = format!(
        "{to}: {} in {}, layout {}, {} division, {}, {}",
        count(export.results.len(), "result"),
        count(export.files.len(), "file"),
        export.round,
        export.division,
        export.submitter,
        export.system,
    );
    let results = export.results.iter().map(|one| {
        let mode = one.test.clone().unwrap_or_else(|| one.mode.to_string());
        let shown = one.figure.as_ref();
        let shown = shown.map(|(_, value, unit)| format!("{}, ", figure(*value, unit)));
        let shown = shown.unwrap_or_default();
        let text = format!(
            "{shown}trial {} of run {}: {}",
            one.trial, one.run, one.because
        );
        Item::keyed(format!("{} {} {mode}", one.benchmark, one.scenario), text)
    });
    let notes = export
        .notes
        .iter()
        .map(|note| Item::new(format!("note: {note}")));
    let violated = export.broken.iter();
    let violated =
        violated.map(|one| Item::new(format!("{}: {}", one.place, one.rule)).marked(BAD));
    let mut blocks = vec![Block::paragraph(said)];
    blocks.extend(Block::list(results));
    blocks.extend(Block::list(notes.chain(violated)));
    for items in export
        .missing
        .chunk_by(|one, other| (&one.place, &one.advice) == (&other.place, &other.advice))
    {
        let title = format!("missing in {}; {}:", items[0].place, items[0].advice);
        let items = items.iter().map(|one| Item::new(&one.what).marked(BAD));
        blocks.push(Section::block(
            title,
            Block::list(items).into_iter().collect(),
        ));
    }
    blocks.push(Block::Conclusion(conclusion(export)));
    blocks.extend(notice(export.notice.as_deref()));
    Document {
        blocks,
        ..Document::default()
    }
}

fn conclusion(export: &Export) -> Conclusion {
    let parts = [
        (export.broken.len(), "violated rule"),
        (export.missing.len(), "missing item"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, noun)| count(number, noun)).collect();
    let (mark, word, sentence) = if parts.is_empty() {
        let sentence = "nothing that the checker requires is missing".to_owned();
        (GOOD, "complete", sentence)
    } else {
        (BAD, "not complete", parts.join(", "))
    };
    Conclusion {
        mark: Some(mark),
        word: word.into(),
        sentence: sentence.into(),
        ..Conclusion::default()
    }
}

/// For programs.
#[must_use]
pub fn value(export: &Export, to: &str) -> Value {
    let files: Vec<&str> = export.files.iter().map(|file| file.path.as_str()).collect();
    let results: Vec<Value> = export
        .results
        .iter()
        .map(|one| {
            json!({
                "benchmark": one.benchmark,
                "scenario": one.scenario,
                "mode": one.mode,
                "test": one.test,
                "path": one.path,
                "run": one.run,
                "trial": one.trial,
                "trials": one.trials,
                "because": one.because,
                "figures": one.figure.as_ref().map(|(name, value, unit)| {
                    json!({ (name.as_str()): { "value": value, "unit": unit } })
                }),
            })
        })
        .collect();
    json!({
        "to": to,
        "layout": export.round,
        "division": export.division,
        "submitter": export.submitter,
        "system": export.system,
        "complete": export.is_complete(),
        "results": results,
        "broken": export.broken,
        "missing": export.missing,
        "notes": export.notes,
        "files": files,
        "notice": export.notice,
    })
}
