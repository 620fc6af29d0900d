//! `retrial catalogue`: the page of all built-in recipes, docs/recipes.md (`make docs` writes it).

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::{open, terminal};
use retrial_recipe::{Setting, summarize_all};
use retrial_report::catalogue::{Entry, render};
use retrial_results::verdict::ExitCode;

/// Prints the page.
pub fn catalogue() -> Result<ExitCode, Failure> {
    let mut entries = Vec::new();
    for opened in catalog::list() {
        let (_, variants) = summarize_all(&opened.source, &opened)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        let mut choices = vec![None];
        choices.extend(variants.into_iter().map(|one| Some((one.axis, one.value))));
        for choice in choices {
            let settings: Vec<Setting> = choice
                .iter()
                .map(|(axis, value)| Setting::new(axis.clone(), value.clone()))
                .collect();
            entries.push(Entry {
                file: opened.source.path.to_string(),
                choice: choice.map(|(axis, value)| format!("--set {axis}={value}")),
                recipe: open::look(opened.clone(), settings)?.0.resolved.recipe,
            });
        }
    }
    terminal::print(&render(&entries, catalog::omitted()));
    Ok(ExitCode::Success)
}
