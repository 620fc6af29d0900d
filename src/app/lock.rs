//! Resolves a recipe's names to image digests and commits, under all of its variants. Only listings are
//! downloaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::options::{GlobalOptions, RecipeRequest};
use super::{open, terminal};
use crate::app::catalog::Opened;
use retrial_container::ImageRef;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;
use retrial_engine::credentials;
use retrial_hub::{FetchError, Hub, ModelSpec};
use retrial_recipe::fingerprint;
use retrial_recipe::lock::{Lock, LockedModel};
use retrial_recipe::model::{Image, ModelSource};
use retrial_run::models::hash;
use retrial_store::StoreError;
use retrial_store::files::write_atomically;

/// The images and models that a recipe names, under all of its variants.
#[derive(Default)]
struct References {
    images: BTreeSet<String>,
    /// Repository and revision.
    models: BTreeSet<(String, String)>,
}

/// Lists the images and models that a recipe names under all of its variants.
fn references(entry: &Opened, recipe: &str) -> Result<References, Failure> {
    let variants = retrial_recipe::variants(&entry.source, entry).map_err(Failure::problems)?;
    let mut references = References::default();
    for choice in variants.choices() {
        let (opened, _) = open::recipe_with_stand_ins(&RecipeRequest {
            recipe: recipe.to_owned(),
            settings: choice.into_iter().collect(),
        })?;
        let recipe = opened.resolved.recipe;
        if let Image::Pull {
            reference,
            digest: None,
            built_by: None,
        } = recipe.image
        {
            references.images.insert(reference);
        }
        for (_, model) in recipe.models {
            if let ModelSource::Hub {
                repository,
                revision,
                ..
            } = model.source
            {
                references.models.insert((repository, revision));
            }
        }
    }
    Ok(references)
}

/// Resolves the names in a recipe through the registry and the hub.
pub async fn resolved(
    global: &GlobalOptions,
    entry: &Opened,
    recipe: &str,
) -> Result<Lock, Failure> {
    let references = references(entry, recipe)?;
    let mut lock = Lock {
        recipe: entry.name.clone(),
        fingerprint: fingerprint(&entry.source, entry).unwrap_or_default(),
        ..Lock::default()
    };
    if !references.images.is_empty() {
        let engine = open::engine(global).await?;
        for reference in &references.images {
            let digest = digest(&engine, reference).await?;
            lock.images.insert(reference.clone(), digest);
        }
    }
    if !references.models.is_empty() {
        let hub = Hub::from_environment().map_err(|error| fetch_failure(&error))?;
        for (repository, revision) in &references.models {
            let model = commit(&hub, repository, revision).await?;
            lock.models
                .insert(Lock::model_key(repository, revision), model);
        }
    }
    Ok(lock)
}

/// Returns the digest in the registry, or the engine's local digest if the registry does not answer.
async fn digest(engine: &dyn Engine, reference: &str) -> Result<String, Failure> {
    let auth = credentials::for_image(reference).await?;
    let error = match engine.registry_digest(reference, auth).await {
        Ok(digest) => return Ok(digest),
        Err(error) => error,
    };
    let name = ImageRef::parse(reference)
        .map_err(EngineError::from)?
        .name();
    let local = engine.image(reference).await?;
    let digests = local.map(|image| image.repo_digests).unwrap_or_default();
    let of_name = digests.iter().find_map(|digest| {
        let parsed = ImageRef::parse(digest).ok()?;
        parsed.digest.clone().filter(|_| parsed.name() == name)
    });
    let Some(digest) = of_name else {
        return Err(Failure::host(format!("cannot lock {reference}: {error}")));
    };
    terminal::note(&format!(
        "warning: {reference}: {error}\n  locked to the engine's local digest: {digest}"
    ));
    Ok(digest)
}

async fn commit(hub: &Hub, repository: &str, revision: &str) -> Result<LockedModel, Failure> {
    let model = ModelSpec {
        repository: repository.to_owned(),
        revision: revision.to_owned(),
        ..ModelSpec::default()
    };
    // Attempts and waits are not shown: this is a question, not a download.
    let (progress, _unread) = unbounded_channel();
    let snapshot = hub
        .resolve(&model, &progress, &CancellationToken::new())
        .await;
    let snapshot = snapshot.map_err(|error| fetch_failure(&error))?;
    let files = snapshot.files.into_iter();
    Ok(LockedModel {
        commit: snapshot.commit,
        files: files.map(|file| (file.path, hash(&file.digest))).collect(),
    })
}

fn fetch_failure(error: &FetchError) -> Failure {
    if error.is_request() {
        Failure::usage(error.to_string())
    } else {
        Failure::host(error.to_string())
    }
}

/// Writes a lock file.
pub fn write(path: &Path, lock: &Lock) -> Result<(), Failure> {
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    }
    let path: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&path, lock.to_yaml().as_bytes())?;
    Ok(())
}
