//! `retrial catalogue`: the page of all built-in recipes, docs/recipes.md (`make docs` writes it).

use crate::app::catalog::{self, Catalog};
use crate::app::failure::Failure;
use crate::app::{open, terminal};
use crate::report::catalogue::{Entry, render};
use crate::results::verdict::ExitCode;
use retrial_recipe::{Setting, resolve, summarize_all};

/// Prints the page.
pub fn catalogue() -> Result<ExitCode, Failure> {
    let mut entries = Vec::new();
    for found in Catalog::builtin().list() {
        let (_, variants) = summarize_all(&found.source, &found)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        let mut choices = vec![None];
        choices.extend(variants.into_iter().map(|one| Some((one.axis, one.value))));
        for choice in choices {
            let settings: Vec<Setting> = choice
                .iter()
                .map(|(axis, value)| Setting::new(axis.clone(), value.clone()))
                .collect();
            entries.push(Entry {
                file: found.source.path.to_string(),
                choice: choice.map(|(axis, value)| format!("--set {axis}={value}")),
                recipe: look(&found, settings)?,
            });
        }
    }
    terminal::print(&render(&entries, catalog::left_out()));
    Ok(ExitCode::Success)
}

/// Resolves it with a stand-in for every param that must be set.
fn look(
    found: &catalog::Opened,
    mut settings: Vec<Setting>,
) -> Result<retrial_recipe::model::Recipe, Failure> {
    if let Err(problems) = resolve(&found.name, &found.source, found, &settings) {
        let unset = problems.iter().filter(|problem| problem.code == "unset");
        let names: Vec<String> = unset
            .map(|problem| problem.span.slice().to_owned())
            .collect();
        settings.extend(
            names
                .iter()
                .map(|name| Setting::new(name.clone(), open::stand_in(name))),
        );
    }
    resolve(&found.name, &found.source, found, &settings)
        .map(|resolved| resolved.recipe)
        .map_err(|problems| Failure::usage(problems.render(false)))
}
