//! Files of the shared directory that all machines read.

use std::path::Path;

use jiff::Timestamp;

use crate::app::failure::Failure;
use retrial_recipe::model::Recipe;
use retrial_recipe::{NoTemplates, Source, resolve_recipe};
use retrial_store::files::write_atomically;
use retrial_store::open::read_text_beneath;
use retrial_store::{RunDirectory, StoreError};

/// The file by which a machine shows that it has the directory.
const NONCE_FILE: &str = "nodes/nonce";
/// The largest nonce that is read, bytes.
const MAX_NONCE_BYTES: u64 = 1000;

/// Writes the nonce; its directory exists.
///
/// # Errors
/// If it cannot be written.
pub fn write_nonce(run: &RunDirectory) -> Result<String, Failure> {
    let nonce = format!("{} {}", run.id(), Timestamp::now().as_nanosecond());
    write_atomically(&run.join(NONCE_FILE), nonce.as_bytes())?;
    Ok(nonce)
}

/// The nonce, if this machine has the directory.
pub fn read_nonce(run: &RunDirectory) -> Option<String> {
    read_text_beneath(run.path(), Path::new(NONCE_FILE), MAX_NONCE_BYTES).ok()
}

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
        resolve_recipe(name, &source, &NoTemplates, &[]).map_err(Failure::report_problems)?;
    Ok(resolved.recipe)
}
