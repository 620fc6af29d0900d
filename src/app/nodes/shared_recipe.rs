//! The recipe in the directory of a run, which all its machines read.

use crate::app::failure::Failure;
use retrial_recipe::model::Recipe;
use retrial_recipe::{NoTemplates, Source, resolve_recipe};
use retrial_store::{RunDirectory, StoreError};

/// Reads the recipe of a run from the run's directory.
///
/// # Errors
/// If it cannot be read.
pub fn read_shared_recipe(run: &RunDirectory, name: &str) -> Result<Recipe, Failure> {
    let path = run.join("recipe.yaml");
    let text = std::fs::read_to_string(&path).map_err(StoreError::io("read", &path))?;
    let source = Source::new(path.display().to_string(), text);
    // It was resolved, and its companion files were checked before.
    let resolved =
        resolve_recipe(name, &source, &NoTemplates, &[]).map_err(Failure::of_problems)?;
    Ok(resolved.recipe)
}
