//! Writes a published result as a recipe: known values with their sources, and under `incomplete` a list
//! of those to complete. Pure.

mod container;
mod scenario;

use super::ImportableResult;
use super::model::PublishedSubmission;
use crate::published_text::{published_text, published_texts, to_single_line};
use retrial_recipe::writer::{Section, render_recipe};
use retrial_results::evidence::tree::accelerators::Accelerators;

/// A recipe that is being written.
#[derive(Debug, Default)]
struct RecipeDraft {
    keys: Section,
    /// The items to complete.
    incomplete: Vec<String>,
}

/// Writes the recipe of a published result; returns it with the number of items to complete.
pub fn write_recipe(published: &PublishedSubmission<'_>) -> (String, usize) {
    let mut draft = RecipeDraft::default();
    if published.round.is_none() {
        draft.add_incomplete("submission.round: no log has the seeds of a known round");
    }
    add_title(&mut draft, published);
    add_submission(&mut draft, published);
    container::add_container_keys(&mut draft, published);
    scenario::add_scenarios(&mut draft, published);
    let RecipeDraft { mut keys, incomplete } = draft;
    if !incomplete.is_empty() {
        keys.set("incomplete", published_texts(&incomplete));
    }
    let path = to_single_line(&published.path);
    let heading = [
        format!("From published results by `retrial new NAME --from-results`: {path}"),
        "Complete everything under `incomplete`: `retrial check` lists it, `retrial run` refuses until then."
            .to_owned(),
    ];
    (render_recipe(&heading, keys), incomplete.len())
}

impl RecipeDraft {
    fn add_incomplete(&mut self, text: impl Into<String>) {
        self.incomplete.push(text.into());
    }
}

fn add_title(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let round = published.round.unwrap_or("of an unknown round");
    let benchmark = published.entry.benchmark;
    let accelerators = published.entry.system.accelerators.as_ref();
    let on = accelerators
        .map_or_else(|| benchmark.system.clone(), Accelerators::format_count_and_models);
    let (submitter, name) = (&benchmark.submitter.name, &benchmark.name);
    let title = format!("{submitter}, MLPerf Inference {round}, {name}, {on}");
    draft.keys.set("title", published_text(&title));
}

fn add_submission(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let ImportableResult { benchmark, system, .. } = published.entry;
    let all = [
        ("suite", Some(super::index::SUITE)),
        ("round", published.round),
        ("division", Some(benchmark.submitter.division.word())),
        ("submitter", Some(&*benchmark.submitter.name)),
        ("system", Some(&*benchmark.system)),
        ("benchmark", Some(&*benchmark.name)),
    ];
    let mut submission = Section::default();
    for (key, value) in all {
        let Some(value) = value else { continue };
        submission.set(key, published_text(value));
    }
    if let Some(name) = &system.name {
        submission.comment_beside("system", name);
    }
    submission.set("sources", published_texts(&published.sources));
    draft.keys.set_section("submission", submission);
}
