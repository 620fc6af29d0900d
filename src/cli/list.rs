//! `retrial list`: built-in recipes by suite and round.

use itertools::Itertools as _;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::recipes::{self, ListedRecipe, RecipeFilter};
use crate::app::terminal;
use retrial_results::verdict::ExitCode;

/// Lists the built-in recipes that match.
pub fn list_recipes(global: &GlobalOptions, filter: &RecipeFilter) -> Result<ExitCode, Failure> {
    let matching_recipes = recipes::find_recipes(filter)?;
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&matching_recipes);
        return Ok(ExitCode::Success);
    }
    if matching_recipes.is_empty() {
        terminal::print_note("no recipe matches; `retrial list` shows all");
    }
    terminal::print_lines(as_text(&matching_recipes));
    Ok(ExitCode::Success)
}

fn as_text(recipes: &[ListedRecipe]) -> Vec<String> {
    let widths = recipes.iter().map(|recipe| recipe.name.len());
    let width = widths.max().unwrap_or(0);
    let mut lines = Vec::new();
    let with_summaries = recipes.iter().map(|recipe| (recipe, &recipe.summary));
    let groups = with_summaries.chunk_by(|(_, summary)| (&summary.suite, &summary.round));
    for ((suite, round), group) in &groups {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(suite.iter().chain(round).join(" "));
        for (recipe, summary) in group {
            lines.push(format!("  {:<width$}  {}", recipe.name, summary.title));
            let word = if recipe.matches { "also" } else { "with" };
            for (axis, variants) in &recipe.variants.iter().chunk_by(|one| &one.axis) {
                let values = variants.map(|one| &one.value).join("|");
                lines.push(format!("    {word} --set {axis}={values}"));
            }
        }
    }
    lines
}
