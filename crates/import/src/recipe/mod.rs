//! Writes a published result as a recipe: known values with their sources, and under `incomplete` a list
//! of those to complete. Pure.

mod container;
mod scenario;
mod write;

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::ImportableResult;
use super::model::PublishedSubmission;
use write::{line, mapping};

/// A recipe that is being written.
#[derive(Debug, Default)]
struct RecipeDraft {
    /// Sections, with a blank line between them.
    sections: Vec<String>,
    /// The items to complete.
    incomplete: Vec<String>,
}

/// Writes the recipe of a published result; returns it with the number of items to complete.
pub fn text(published: &PublishedSubmission<'_>) -> (String, usize) {
    let mut draft = RecipeDraft::default();
    if published.round.is_none() {
        draft.miss("submission.round: no log has the seeds of a known round");
    }
    draft.sections.push(submission(published));
    container::sections(&mut draft, published);
    scenario::section(&mut draft, published);
    let head = head(published, &draft.incomplete);
    let mut sections = [head].into_iter().chain(draft.sections);
    (sections.join("\n"), draft.incomplete.len())
}

impl RecipeDraft {
    fn miss(&mut self, text: impl Into<String>) {
        self.incomplete.push(text.into());
    }
}

fn head(published: &PublishedSubmission<'_>, incomplete: &[String]) -> String {
    let round = published.round.unwrap_or("of an unknown round");
    let benchmark = published.entry.benchmark;
    let accelerators = published.entry.system.accelerators.as_ref();
    let on = accelerators.map_or_else(|| benchmark.system.clone(), super::Accelerators::shown);
    let mut head = format!(
        "# From published results by `retrial new NAME --from-results`: {}\n\
         # Complete everything under `incomplete`: `retrial check` lists it, `retrial run` refuses until then.\n\
         schema: 1\n",
        line(&published.path)
    );
    let (submitter, name) = (&benchmark.submitter.name, &benchmark.name);
    let title = format!("{submitter}, MLPerf Inference {round}, {name}, {on}");
    head.push_str(&mapping(&[("title", line(&title))]));
    if !incomplete.is_empty() {
        head.push_str("\nincomplete:\n");
        for item in incomplete {
            let _ = writeln!(head, "  - {}", write::quoted(&line(item)));
        }
    }
    head
}

fn submission(published: &PublishedSubmission<'_>) -> String {
    let mut text = String::from("submission:\n");
    let ImportableResult {
        benchmark, system, ..
    } = published.entry;
    let all = [
        ("suite", Some(super::index::SUITE)),
        ("round", published.round),
        ("division", Some(&*benchmark.submitter.division)),
        ("submitter", Some(&*benchmark.submitter.name)),
        ("system", Some(&*benchmark.system)),
        ("benchmark", Some(&*benchmark.name)),
    ];
    for (key, value) in all {
        let Some(value) = value else { continue };
        let value = write::quoted(&line(value));
        let name = system.name.as_ref().filter(|_| key == "system");
        let note = name.map(|name| format!("    # {}", line(name)));
        let _ = writeln!(text, "  {key}: {value}{}", note.unwrap_or_default());
    }
    text.push_str("  sources:\n");
    for source in &published.sources {
        let _ = writeln!(text, "    - {}", write::quoted(&line(source)));
    }
    text
}
