//! Writes a published result as a recipe: known values with their sources, and under `incomplete` a list
//! of those to complete. Pure.

mod container;
mod scenario;
mod write;

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::ImportableResult;
use super::model::PublishedSubmission;
use retrial_results::evidence::tree::accelerators::Accelerators;
use write::{mapping_to_yaml, to_single_line};

/// A recipe that is being written.
#[derive(Debug, Default)]
struct RecipeDraft {
    /// Sections, with a blank line between them.
    sections: Vec<String>,
    /// The items to complete.
    incomplete: Vec<String>,
}

/// Writes the recipe of a published result; returns it with the number of items to complete.
pub fn write_recipe(published: &PublishedSubmission<'_>) -> (String, usize) {
    let mut draft = RecipeDraft::default();
    if published.round.is_none() {
        draft.add_incomplete("submission.round: no log has the seeds of a known round");
    }
    draft.sections.push(render_submission(published));
    container::add_container_sections(&mut draft, published);
    scenario::add_scenarios(&mut draft, published);
    let head = render_header(published, &draft.incomplete);
    let mut sections = [head].into_iter().chain(draft.sections);
    (sections.join("\n"), draft.incomplete.len())
}

impl RecipeDraft {
    fn add_incomplete(&mut self, text: impl Into<String>) {
        self.incomplete.push(text.into());
    }
}

fn render_header(published: &PublishedSubmission<'_>, incomplete: &[String]) -> String {
    let round = published.round.unwrap_or("of an unknown round");
    let benchmark = published.entry.benchmark;
    let accelerators = published.entry.system.accelerators.as_ref();
    let on = accelerators.map_or_else(
        || benchmark.system.clone(),
        Accelerators::format_count_and_models,
    );
    let mut head = format!(
        "# From published results by `retrial new NAME --from-results`: {}\n\
         # Complete everything under `incomplete`: `retrial check` lists it, `retrial run` refuses until then.\n\
         schema: 1\n",
        to_single_line(&published.path)
    );
    let (submitter, name) = (&benchmark.submitter.name, &benchmark.name);
    let title = format!("{submitter}, MLPerf Inference {round}, {name}, {on}");
    head.push_str(&mapping_to_yaml(&[("title", to_single_line(&title))]));
    if !incomplete.is_empty() {
        head.push_str("\nincomplete:\n");
        for item in incomplete {
            let _ = writeln!(
                head,
                "  - {}",
                write::quote_if_needed(&to_single_line(item))
            );
        }
    }
    head
}

fn render_submission(published: &PublishedSubmission<'_>) -> String {
    let mut text = String::from("submission:\n");
    let ImportableResult {
        benchmark, system, ..
    } = published.entry;
    let all = [
        ("suite", Some(super::index::SUITE)),
        ("round", published.round),
        ("division", Some(benchmark.submitter.division.as_str())),
        ("submitter", Some(&*benchmark.submitter.name)),
        ("system", Some(&*benchmark.system)),
        ("benchmark", Some(&*benchmark.name)),
    ];
    for (key, value) in all {
        let Some(value) = value else { continue };
        let value = write::quote_if_needed(&to_single_line(value));
        let name = system.name.as_ref().filter(|_| key == "system");
        let note = name.map(|name| format!("    # {}", to_single_line(name)));
        let _ = writeln!(text, "  {key}: {value}{}", note.unwrap_or_default());
    }
    text.push_str("  sources:\n");
    for source in &published.sources {
        let _ = writeln!(
            text,
            "    - {}",
            write::quote_if_needed(&to_single_line(source))
        );
    }
    text
}
