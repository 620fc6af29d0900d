//! A recipe's lock file, and plans that follow it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::opened_file::{OpenedFile, read_document_file};
use crate::app::options::{GlobalOptions, PlanRequest};
use retrial_plan::step::FollowedLock;
use retrial_recipe::lock::RecipeLock;
use retrial_recipe::model::Recipe;
use retrial_recipe::{Source, compute_fingerprint};
use retrial_store::StoreError;

/// `mine.lock.yaml` next to `mine.yaml`; for a built-in recipe, a file below the home.
pub fn lock_path(global: &GlobalOptions, recipe: &catalog::FoundRecipe) -> PathBuf {
    let path = if recipe.is_builtin() {
        global.home.root().join("locks").join(&recipe.name)
    } else {
        PathBuf::from(&*recipe.source.path)
    };
    // `.yaml` and `.yml` only: a name may have other dots.
    let is_yaml = |ending: &&std::ffi::OsStr| *ending == "yaml" || *ending == "yml";
    match path.extension().filter(is_yaml) {
        Some(_) => path.with_extension("lock.yaml"),
        None => path.with_added_extension("lock.yaml"),
    }
}

/// Reads a lock file, and prints its problems; also who owns it and can write it. None if it does not exist.
pub fn read_lock(path: &Path) -> Result<Option<(RecipeLock, OpenedFile)>, Failure> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(StoreError::io("read", path))?,
    };
    let (bytes, opened) = read_document_file(file, path).map_err(StoreError::io("read", path))?;
    let source = Source::from_bytes(path.display().to_string(), &bytes);
    match source.and_then(|source| RecipeLock::parse(&source)) {
        Ok(lock) => Ok(Some((lock, opened))),
        Err(problems) => Err(Failure::of_problems(problems)
            .with_help("lock the recipe again, or ignore the lock: --lock none")),
    }
}

/// Pins a recipe to its lock, if it has one.
pub fn apply_lock(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    entry: &catalog::FoundRecipe,
    recipe: &mut Recipe,
) -> Result<Option<FollowedLock>, Failure> {
    let (path, named) = match arguments.files.lock.as_deref() {
        Some("none") => return Ok(None),
        Some(path) => (PathBuf::from(path), true),
        None => (lock_path(global, entry), false),
    };
    let Some((lock, opened)) = read_lock(&path)? else {
        if named {
            let path = path.display();
            return Err(Failure::usage(format!("--lock {path}: no such file")));
        }
        return Ok(None);
    };
    entry.record_read(opened);
    let mut differs = Vec::new();
    if compute_fingerprint(&entry.source, entry).is_some_and(|now| now != lock.fingerprint) {
        differs.push("the recipe was changed since it was locked".to_owned());
    }
    differs.extend(lock.apply_to(recipe));
    Ok(Some(FollowedLock { path: path.display().to_string(), differs }))
}
