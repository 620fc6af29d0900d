//! `retrial list`: built-in recipes by suite and round.

use serde_json::{Value, json};

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::recipes::{self, ListedRecipe, RecipeFilter};
use crate::app::terminal;
use retrial_recipe::VariantSummary;
use retrial_results::verdict::ExitCode;

/// Lists the built-in recipes that match.
pub fn list(global: &GlobalOptions, filter: &RecipeFilter) -> Result<ExitCode, Failure> {
    let recipes = recipes::find(filter)?;
    if global.output == Output::Json {
        let objects: Vec<Value> = recipes.iter().map(as_json).collect();
        terminal::print_pretty(&objects)?;
        return Ok(ExitCode::Success);
    }
    if recipes.is_empty() {
        terminal::note("no recipe matches; `retrial list` shows all");
    }
    terminal::print_lines(as_text(&recipes));
    Ok(ExitCode::Success)
}

fn as_text(recipes: &[ListedRecipe]) -> Vec<String> {
    let widths = recipes.iter().map(|recipe| recipe.name.len());
    let width = widths.max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut group = None;
    for recipe in recipes {
        let own = (&recipe.summary.suite, &recipe.summary.round);
        if group != Some(own) {
            if group.is_some() {
                lines.push(String::new());
            }
            let words = [own.0.as_deref(), own.1.as_deref()];
            lines.push(words.into_iter().flatten().collect::<Vec<_>>().join(" "));
            group = Some(own);
        }
        lines.push(format!(
            "  {:<width$}  {}",
            recipe.name, recipe.summary.title
        ));
        let word = if recipe.matches { "also" } else { "with" };
        for axis in axes(&recipe.variants) {
            let of_axis = recipe.variants.iter().filter(|one| one.axis == axis);
            let values: Vec<&str> = of_axis.map(|one| one.value.as_str()).collect();
            lines.push(format!("    {word} --set {axis}={}", values.join("|")));
        }
    }
    lines
}

/// The axes, each once.
fn axes(variants: &[VariantSummary]) -> Vec<&str> {
    let mut axes: Vec<&str> = variants.iter().map(|one| one.axis.as_str()).collect();
    axes.dedup();
    axes
}

/// Describes a recipe with its default variants.
fn as_json(recipe: &ListedRecipe) -> Value {
    let summary = &recipe.summary;
    json!({
        "name": recipe.name,
        "title": summary.title,
        "suite": summary.suite,
        "round": summary.round,
        "submitter": summary.submitter,
        "system": summary.system,
        "benchmark": summary.benchmark,
        "gpus": summary.gpus,
        "source": summary.source,
    })
}
