//! `retrial catalogue`: the page of all built-in recipes, docs/recipes.md (`make docs` writes it).

use std::iter;

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::launch::stand_ins::resolve_with_stand_ins;
use crate::app::terminal;
use retrial_recipe::{ParamSetting, summarize};
use retrial_report::catalogue::{CatalogueEntry, render_catalogue};
use retrial_results::verdict::ExitCode;

/// Prints docs/recipes.md: every built-in recipe, also with its variants that are submissions of their own.
pub fn print_catalogue() -> Result<ExitCode, Failure> {
    let mut entries = Vec::new();
    for opened in catalog::builtin_recipes() {
        let (_, variants) = summarize(&opened.source, &opened)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        let variants = variants.into_iter().map(|one| Some(ParamSetting::new(one.axis, one.value)));
        for choice in iter::once(None).chain(variants) {
            let settings: Vec<ParamSetting> = choice.iter().cloned().collect();
            entries.push(CatalogueEntry {
                file: opened.source.path.to_string(),
                choice: choice.map(|set| format!("--set {}={}", set.name, set.value)),
                recipe: resolve_with_stand_ins(opened.clone(), settings)?.0.resolved.recipe,
            });
        }
    }
    terminal::print_text(&render_catalogue(&entries, catalog::omitted_results()));
    Ok(ExitCode::Success)
}
