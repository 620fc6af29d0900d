//! Resolves a recipe's names to image digests and commits, under all of its variants. Only listings are
//! downloaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::options::GlobalOptions;
use super::{open, terminal};
use crate::app::catalog::FoundRecipe;
use crate::app::launch::stand_ins::resolve_with_stand_ins;
use retrial_container::ImageRef;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;
use retrial_engine::credentials;
use retrial_hub::{FetchError, Hub, ModelSpec};
use retrial_recipe::lock::{LockedModel, RecipeLock};
use retrial_recipe::model::{Image, ModelSource};
use retrial_recipe::{ParamSetting, compute_fingerprint};
use retrial_run::model::format_digest;
use retrial_store::StoreError;
use retrial_store::files::{parent_directory, write_atomically};

/// The images and models that a recipe names, under all of its variants.
#[derive(Default)]
struct RecipeReferences {
    images: BTreeSet<String>,
    /// Models of the hub that the recipe's plans fetch, as repository and revision.
    models: BTreeSet<(String, String)>,
}

/// Lists the images and models that a recipe names under all of its variants.
fn list_references(entry: &FoundRecipe) -> Result<RecipeReferences, Failure> {
    let variants =
        retrial_recipe::read_variants(&entry.source, entry).map_err(Failure::of_problems)?;
    let mut references = RecipeReferences::default();
    for choice in variants.supported_choices() {
        let choice_settings = choice.into_iter();
        let settings = choice_settings.map(|(axis, value)| ParamSetting::new(axis, value));
        let (opened, _) = resolve_with_stand_ins(entry.clone(), settings.collect())?;
        let recipe = opened.resolved.recipe;
        if let Image::Pull { reference, digest: None, built_by: None } = recipe.image {
            references.images.insert(reference);
        }
        for (_, model) in recipe.models {
            if let ModelSource::Hub { repository, revision, .. } = model.source {
                references.models.insert((repository, revision));
            }
        }
    }
    Ok(references)
}

/// Resolves the names in a recipe, and further images, through the registry and the hub.
pub async fn resolve_lock(
    global: &GlobalOptions,
    entry: &FoundRecipe,
    images: &[String],
) -> Result<RecipeLock, Failure> {
    let mut references = list_references(entry)?;
    references.images.extend(images.iter().cloned());
    let mut lock = RecipeLock {
        recipe: entry.name.clone(),
        fingerprint: compute_fingerprint(&entry.source, entry).unwrap_or_default(),
        ..RecipeLock::default()
    };
    if !references.images.is_empty() {
        let engine = open::connect_engine(global).await?;
        for reference in &references.images {
            match resolve_digest(&engine, reference).await? {
                Some(digest) => _ = lock.images.insert(reference.clone(), digest),
                None => lock.local_images.push(reference.clone()),
            }
        }
    }
    if !references.models.is_empty() {
        let hub = Hub::from_environment().map_err(|error| fetch_failure(&error))?;
        for (repository, revision) in &references.models {
            let model = lock_model(&hub, repository, revision).await?;
            lock.models.insert(RecipeLock::model_key(repository, revision), model);
        }
    }
    Ok(lock)
}

/// Returns the digest in the registry; if the registry does not answer, the engine's own; none for an image of the
/// engine without a digest.
async fn resolve_digest(engine: &dyn Engine, reference: &str) -> Result<Option<String>, Failure> {
    let auth = credentials::find_image_credentials(reference).await?;
    let error = match engine.fetch_registry_digest(reference, auth).await {
        Ok(digest) => return Ok(Some(digest)),
        Err(error) => error,
    };
    let name = ImageRef::parse(reference).map_err(EngineError::from)?.name();
    let Some(local) = engine.find_image(reference).await? else {
        return Err(Failure::host(format!("cannot lock {reference}: {error}")));
    };
    let digests = local.repo_digests;
    let local_digest = digests.iter().find_map(|digest| {
        let parsed = ImageRef::parse(digest).ok()?;
        parsed.digest.clone().filter(|_| parsed.name() == name)
    });
    let help = match &local_digest {
        Some(digest) => format!("locked to the engine's local digest: {digest}"),
        None => "only this engine has it, without a digest: the rest is locked".to_owned(),
    };
    terminal::advise(format!("warning: {reference}: {error}"), help);
    Ok(local_digest)
}

async fn lock_model(hub: &Hub, repository: &str, revision: &str) -> Result<LockedModel, Failure> {
    let model = ModelSpec {
        repository: repository.to_owned(),
        revision: revision.to_owned(),
        ..ModelSpec::default()
    };
    let lookup_result = hub.resolve_unreported(&model).await;
    let snapshot = lookup_result.map_err(|error| fetch_failure(&error))?;
    let files = snapshot.files.into_iter();
    Ok(LockedModel {
        commit: snapshot.commit,
        files: files.map(|file| (file.path, format_digest(&file.digest))).collect(),
    })
}

fn fetch_failure(error: &FetchError) -> Failure {
    if error.is_invalid_request() {
        Failure::usage(ErrorText::of(error))
    } else {
        Failure::host(ErrorText::of(error))
    }
}

pub fn write_lock(path: &Path, lock: &RecipeLock) -> Result<(), Failure> {
    let directory = parent_directory(path);
    std::fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
    let path: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&path, lock.to_yaml().as_bytes())?;
    Ok(())
}
