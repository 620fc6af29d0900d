//! `retrial list`: built-in recipes by suite and round.

use itertools::Itertools as _;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::recipes::{self, ListedRecipe, RecipeFilter};
use crate::app::terminal;
use retrial_results::verdict::ExitCode;

/// Lists the built-in recipes that match.
pub fn list(global: &GlobalOptions, filter: &RecipeFilter) -> Result<ExitCode, Failure> {
    let recipes = recipes::find(filter)?;
    if global.output == OutputFormat::Json {
        terminal::print_pretty(&recipes);
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
    let recipes = recipes.iter().map(|recipe| (recipe, &recipe.summary));
    let groups = recipes.chunk_by(|(_, summary)| (&summary.suite, &summary.round));
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
