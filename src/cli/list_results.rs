//! `retrial list --results TREE`: the published results of which `new` makes recipes.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::published;
use crate::app::recipes::RecipeFilter;
use crate::app::terminal;
use retrial_readings::sanitize;
use retrial_results::evidence::tree::accelerators::Accelerators;
use retrial_results::verdict::{ExitCode, published_notice};
use retrial_submission::import::{ImportableFigure, ImportableResult, ResultsIndex};

/// The placeholder of an id that no table has.
const NO_ID: &str = "-";

/// Lists the results of a tree that match.
pub fn list_published_results(
    global: &GlobalOptions,
    tree: &Path,
    filter: &RecipeFilter,
) -> Result<ExitCode, Failure> {
    let index = ResultsIndex::open(tree, catalog::built_in_rounds())?;
    let entries = index.entries();
    let matches = published::filter_results(&index, &entries, filter)?;
    if global.output == OutputFormat::Json {
        let objects: Vec<Value> = matches.iter().map(|entry| as_json(&index, entry)).collect();
        terminal::print_pretty_json(&objects);
        return Ok(ExitCode::Success);
    }
    if matches.is_empty() {
        terminal::print_note("no published result matches");
        return Ok(ExitCode::Success);
    }
    let round = index.round_name.as_deref().unwrap_or("(unknown round)");
    terminal::print_lines([format!("mlperf-inference {}", sanitize(round))]);
    terminal::print_lines(as_text(&matches));
    terminal::print_notice(published_notice(["mlperf-inference"]));
    Ok(ExitCode::Success)
}

fn as_text(entries: &[&ImportableResult<'_>]) -> Vec<String> {
    let columns = |entry: &ImportableResult<'_>| {
        let benchmark = entry.benchmark;
        let submitter = &benchmark.submitter;
        [
            match entry.ids[..] {
                [] => NO_ID.to_owned(),
                _ => entry.ids.join(" "),
            },
            format!("{}/{}", submitter.division, submitter.name),
            benchmark.system.clone(),
            benchmark.name.clone(),
        ]
        .map(|text| sanitize(&text).into_owned())
    };
    let rows: Vec<[String; 4]> = entries.iter().map(|entry| columns(entry)).collect();
    let widths = |at: usize| rows.iter().map(move |row| row[at].chars().count());
    let [first, second, third] = [0, 1, 2].map(|at| widths(at).max().unwrap_or(0));
    let lines = rows.iter().zip(entries).flat_map(|(row, entry)| {
        let [id, submitter, system, benchmark] = row;
        let figures: Vec<String> = entry.figures.iter().map(render_figure).collect();
        let accelerators =
            entry.system.accelerators.as_ref().map(Accelerators::format_count_and_models);
        let on = accelerators.map(|on| format!("{}: ", sanitize(&on)));
        [
            format!("  {id:<first$}  {submitter:<second$}  {system:<third$}  {benchmark}"),
            format!("    {}{}", on.unwrap_or_default(), figures.join(", ")),
        ]
    });
    lines.collect()
}

fn render_figure(figure: &ImportableFigure) -> String {
    let scenario = sanitize(figure.scenario.as_str());
    match &figure.value {
        Some((value, unit)) => format!("{scenario} {value} {}", sanitize(unit)),
        None => format!("{scenario} (no figure)"),
    }
}

/// Uses the names of fields that `list` has for a recipe.
fn as_json(index: &ResultsIndex<'_>, entry: &ImportableResult<'_>) -> Value {
    let benchmark = entry.benchmark;
    let scenarios = entry.figures.iter().map(|figure| {
        let (value, unit) = figure.value.clone().unzip();
        json!({ "scenario": figure.scenario, "value": value, "unit": unit })
    });
    json!({
        "ids": entry.ids,
        "suite": "mlperf-inference",
        "round": index.round_name,
        "division": benchmark.submitter.division,
        "submitter": benchmark.submitter.name,
        "system": benchmark.system,
        "benchmark": benchmark.name,
        "gpus": entry.system.accelerators.as_ref().map(Accelerators::format_count_and_models),
        "source": benchmark.relative_path().display().to_string(),
        "scenarios": scenarios.collect::<Vec<_>>(),
    })
}
