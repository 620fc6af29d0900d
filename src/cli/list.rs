//! `retrial list`: the recipes there are.

use serde_json::{Value, json};

use super::arguments::{Global, Output};
use super::failure::Failure;
use super::terminal;
use crate::catalog::Catalog;
use crate::recipe::{Summary, summarize};
use crate::verdict::ExitCode;

/// Lists the built-in recipes.
pub fn list(global: &Global, part: Option<&str>) -> Result<ExitCode, Failure> {
    let mut recipes: Vec<(String, Summary)> = Vec::new();
    for found in Catalog::builtin().list() {
        let summary = summarize(&found.source, &found)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        recipes.push((found.name, summary));
    }
    if let Some(part) = part {
        let part = part.to_lowercase();
        recipes.retain(|(name, recipe)| {
            name.to_lowercase().contains(&part) || recipe.title.to_lowercase().contains(&part)
        });
    }
    if global.output == Output::Json {
        let rows: Vec<Value> = recipes
            .iter()
            .map(|(name, recipe)| row(name, recipe))
            .collect();
        let text = serde_json::to_string_pretty(&rows)
            .map_err(|error| Failure::host(error.to_string()))?;
        terminal::print(&format!("{text}\n"));
        return Ok(ExitCode::Success);
    }
    if recipes.is_empty() {
        terminal::note("no recipe has that in its name or title; `retrial list` shows all");
    }
    let width = recipes
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    terminal::print_lines(
        recipes
            .iter()
            .map(|(name, recipe)| format!("{name:<width$}  {}", recipe.title)),
    );
    Ok(ExitCode::Success)
}

fn row(name: &str, recipe: &Summary) -> Value {
    json!({
        "name": name,
        "title": recipe.title,
        "suite": recipe.suite,
        "round": recipe.round,
        "submitter": recipe.submitter,
        "system": recipe.system,
        "benchmark": recipe.benchmark,
        "gpus": recipe.gpus,
        "source": recipe.source,
    })
}
