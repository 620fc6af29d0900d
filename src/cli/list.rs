//! `retrial list`: the recipes there are.

use serde_json::{Value, json};

use super::arguments::{Global, Output};
use super::failure::Failure;
use super::terminal;
use crate::catalog::Catalog;
use crate::recipe::model::Recipe;
use crate::recipe::resolve;
use crate::verdict::ExitCode;

/// Lists the built-in recipes.
pub fn list(global: &Global, part: Option<&str>) -> Result<ExitCode, Failure> {
    let catalog = Catalog::builtin();
    let mut recipes: Vec<Recipe> = Vec::new();
    for name in catalog.names() {
        let entry = catalog
            .open(&name)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let resolved = resolve(&entry.name, &entry.source, &entry, &[])
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        recipes.push(resolved.recipe);
    }
    if let Some(part) = part {
        let part = part.to_lowercase();
        recipes.retain(|recipe| {
            recipe.name.to_lowercase().contains(&part)
                || recipe.title.to_lowercase().contains(&part)
        });
    }
    if global.output == Output::Json {
        let rows: Vec<Value> = recipes.iter().map(row).collect();
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
        .map(|recipe| recipe.name.len())
        .max()
        .unwrap_or(0);
    terminal::print_lines(
        recipes
            .iter()
            .map(|recipe| format!("{:<width$}  {}", recipe.name, recipe.title)),
    );
    Ok(ExitCode::Success)
}

fn row(recipe: &Recipe) -> Value {
    let submission = &recipe.submission;
    let gpus = recipe.requires.gpus.as_ref().map(|gpus| {
        json!({ "vendor": gpus.vendor, "models": gpus.models, "count": gpus.count, "partition": gpus.partition })
    });
    json!({
        "name": recipe.name,
        "title": recipe.title,
        "suite": submission.suite,
        "round": submission.round,
        "submitter": submission.submitter,
        "system": submission.system,
        "benchmark": submission.benchmark,
        "gpus": gpus,
        "source": submission.sources.first(),
    })
}
