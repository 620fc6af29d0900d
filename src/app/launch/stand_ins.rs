//! Recipes that are shown, locked or judged without being run: params that must be set, and are not, get a
//! stand-in.

use std::path::Path;

use super::open::{OpenedRecipe, find_recipe};
use crate::app::catalog::FoundRecipe;
use crate::app::failure::Failure;
use crate::app::options::RecipeRequest;
use retrial_recipe::{LoadedRecipe, ParamSetting, resolve_recipe};

const STAND_IN_DIRECTORY: &str = "/to-be-set";

fn stand_in_path(name: &str) -> String {
    format!("{STAND_IN_DIRECTORY}/{name}")
}

/// Returns whether a path is a stand-in, or below one.
pub fn is_stand_in(path: &Path) -> bool {
    path.starts_with(STAND_IN_DIRECTORY)
}

/// Finds and resolves a recipe, with stand-ins. Returns the names of their params, too.
pub fn open_with_stand_ins(
    request: &RecipeRequest,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    let entry = find_recipe(&request.recipe)?;
    resolve_with_stand_ins(entry, request.settings.to_vec())
}

/// Resolves a recipe with a placeholder path for each param that must be set and is not, and returns their names. Where
/// a path is not valid, as for an image or a number, the missing params are the problem.
pub fn resolve_with_stand_ins(
    entry: FoundRecipe,
    settings: Vec<ParamSetting>,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    resolve_unset(entry, settings, |name, _| stand_in_path(name))
}

/// The same with the number 1 for each count that is not set: of what is planned, nothing that a count changes may be
/// shown or judged.
pub fn resolve_with_stand_in_counts(
    entry: FoundRecipe,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    resolve_unset(entry, Vec::new(), |name, kind| match kind {
        "int" => "1".to_owned(),
        _ => stand_in_path(name),
    })
}

fn resolve_unset(
    entry: FoundRecipe,
    mut settings: Vec<ParamSetting>,
    stand_in: impl Fn(&str, &str) -> String,
) -> Result<(OpenedRecipe, Vec<String>), Failure> {
    let problems = match resolve_recipe(&entry.name, &entry.source, &entry, &settings) {
        Ok(resolved) => return Ok((OpenedRecipe::new(entry, resolved), Vec::new())),
        Err(problems) => problems,
    };
    let unset_problems = problems.iter().filter(|problem| problem.code == "unset");
    let unset: Vec<String> =
        unset_problems.map(|problem| problem.span.slice().to_owned()).collect();
    let declared = LoadedRecipe::from_source(&entry.name, &entry.source, &entry);
    let params = declared.map(|loaded| loaded.declared_params()).unwrap_or_default();
    let stand_ins = unset.iter().map(|name| {
        let param = params.iter().find(|param| param.name == *name);
        ParamSetting::new(name, stand_in(name, param.map_or("path", |param| &param.kind)))
    });
    settings.extend(stand_ins);
    let with_stand_ins = resolve_recipe(&entry.name, &entry.source, &entry, &settings);
    let resolved = with_stand_ins.map_err(|_| Failure::of_problems(problems))?;
    Ok((OpenedRecipe::new(entry, resolved), unset))
}

/// Replaces stand-ins in a text by the names of their params.
pub fn name_stand_ins(text: String, unset: &[String]) -> String {
    unset.iter().fold(text, |text, name| {
        text.replace(&stand_in_path(name), &format!("${{{{ params.{name} }}}}"))
    })
}
