//! What came of an export: for people, and as JSON.

use serde_json::{Value, json};

use crate::export::Export;
use crate::format;

/// For people; `to` is the tree's directory.
#[must_use]
pub fn text(export: &Export, to: &str) -> String {
    let mut lines = vec![format!(
        "{to}: {} in {}, layout {}, {} division, {}, {}",
        format::count(export.results.len(), "result"),
        format::count(export.files.len(), "file"),
        export.round,
        export.division,
        export.submitter,
        export.system,
    )];
    let named: Vec<String> = export
        .results
        .iter()
        .map(|one| {
            let mode = one.test.clone().unwrap_or_else(|| one.mode.to_string());
            format!("{} {} {mode}", one.benchmark, one.scenario)
        })
        .collect();
    let width = named.iter().map(String::len).max().unwrap_or(0);
    for (one, name) in export.results.iter().zip(named) {
        let figure = one
            .figure
            .as_ref()
            .map_or_else(String::new, |(_, value, unit)| {
                format!("{}, ", crate::verdict::number::figure(*value, unit))
            });
        lines.push(format!(
            "  {name:<width$}  {figure}trial {} of run {}: {}",
            one.trial, one.run, one.because
        ));
    }
    for note in &export.notes {
        lines.push(format!("note: {note}"));
    }
    for one in &export.broken {
        lines.push(format!("broken: {}: {}", one.place, one.rule));
    }
    lines.extend(missing(export));
    lines.push(conclusion(export));
    if let Some(notice) = &export.notice {
        lines.push(String::new());
        lines.push(notice.clone());
    }
    lines.join("\n") + "\n"
}

/// One line each, under where it would stand and what to do.
fn missing(export: &Export) -> Vec<String> {
    let mut lines = Vec::new();
    let mut before = None;
    for one in &export.missing {
        let heading = (&one.place, &one.advice);
        if before != Some(heading) {
            lines.push(format!("missing in {}; {}:", one.place, one.advice));
            before = Some(heading);
        }
        lines.push(format!("  {}", one.what));
    }
    lines
}

fn conclusion(export: &Export) -> String {
    let count = |count: usize, noun: &str| (count > 0).then(|| format::count(count, noun));
    let parts: Vec<String> = [
        count(export.broken.len(), "broken rule"),
        count(export.missing.len(), "missing item"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        "complete: nothing that the checker asks is missing".to_owned()
    } else {
        format!("not complete: {}", parts.join(", "))
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
