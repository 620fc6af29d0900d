//! `retrial lock`: writes down which images and commits a recipe's names stand for, under all of
//! its variants. Nothing is pulled or downloaded but listings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::arguments::LockArguments;
use crate::app::catalog::{Catalog, Opened};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, RecipeRequest};
use crate::app::{lock_file, open, runtime, terminal};
use crate::results::verdict::ExitCode;
use crate::run::models::hash;
use crate::store::StoreError;
use crate::store::run_directory::write_atomically;
use retrial_container::ImageRef;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;
use retrial_engine::credentials;
use retrial_hub::{FetchError, Hub, ModelSpec};
use retrial_recipe::lock::{Lock, LockedModel};
use retrial_recipe::model::{Image, ModelSource};
use retrial_recipe::{self, fingerprint};

/// Locks a recipe, or compares its lock with what there is now.
pub fn lock(global: &GlobalOptions, arguments: &LockArguments) -> Result<ExitCode, Failure> {
    let entry = Catalog::builtin().open(&arguments.recipe);
    let entry = entry.map_err(|error| Failure::usage(error.to_string()))?;
    let standard = lock_file::place(global, &entry);
    let path = arguments.file.clone().unwrap_or(standard);
    let before = lock_file::read(&path)?;
    if arguments.check && before.is_none() {
        return Err(Failure::usage(format!(
            "{} is not locked: there is no {}\n  lock it: retrial lock {0}",
            arguments.recipe,
            path.display()
        )));
    }
    let named = named(&entry, &arguments.recipe)?;
    let now = runtime::runtime()?.block_on(resolved(global, &entry, &named))?;
    match before {
        Some(before) if arguments.check => Ok(report_differences(global, &path, &before, &now)),
        before => {
            write(&path, &now)?;
            tell(global, arguments, &path, before.as_ref(), &now);
            Ok(ExitCode::Success)
        }
    }
}

/// What the recipe names, under all of its variants.
struct Named {
    images: BTreeSet<String>,
    /// Repository and revision.
    models: BTreeSet<(String, String)>,
}

fn named(entry: &Opened, recipe: &str) -> Result<Named, Failure> {
    let variants = retrial_recipe::variants(&entry.source, entry).map_err(|problems| {
        terminal::note(&problems.render(terminal::error_color()));
        Failure::told(ExitCode::Usage)
    })?;
    let mut named = Named {
        images: BTreeSet::new(),
        models: BTreeSet::new(),
    };
    for choice in variants.choices() {
        let (opened, _) = open::recipe_to_look_at(&RecipeRequest {
            recipe: recipe.to_owned(),
            settings: choice.into_iter().collect(),
        })?;
        let recipe = opened.resolved.recipe;
        if let Image::Pull {
            reference,
            digest: None,
        } = recipe.image
            && !reference.contains('@')
        {
            named.images.insert(reference);
        }
        for (_, model) in recipe.models {
            if let ModelSource::Hub {
                repository,
                revision,
                ..
            } = model.source
            {
                named.models.insert((repository, revision));
            }
        }
    }
    Ok(named)
}

async fn resolved(global: &GlobalOptions, entry: &Opened, named: &Named) -> Result<Lock, Failure> {
    let mut lock = Lock {
        recipe: entry.name.clone(),
        fingerprint: fingerprint(&entry.source, entry).unwrap_or_default(),
        ..Lock::default()
    };
    if !named.images.is_empty() {
        let engine = open::engine(global).await?;
        for reference in &named.images {
            let digest = digest(&engine, reference).await?;
            lock.images.insert(reference.clone(), digest);
        }
    }
    if !named.models.is_empty() {
        let hub = Hub::from_environment().map_err(|error| fetch_failure(&error))?;
        for (repository, revision) in &named.models {
            let model = commit(&hub, repository, revision).await?;
            lock.models
                .insert(Lock::model_key(repository, revision), model);
        }
    }
    Ok(lock)
}

/// The digest in the registry; where that does not answer, the one that the engine has it by.
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
        let (repository, digest) = digest.split_once('@')?;
        let same = ImageRef::parse(repository).is_ok_and(|other| other.name() == name);
        same.then(|| digest.to_owned())
    });
    let Some(digest) = of_name else {
        return Err(Failure::host(format!("cannot lock {reference}: {error}")));
    };
    terminal::note(&format!(
        "warning: {reference}: {error}\n  locked as the engine has it: {digest}"
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

fn write(path: &Path, lock: &Lock) -> Result<(), Failure> {
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    }
    let path: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&path, lock.to_yaml().as_bytes())?;
    Ok(())
}

fn tell(
    global: &GlobalOptions,
    arguments: &LockArguments,
    path: &Path,
    before: Option<&Lock>,
    now: &Lock,
) {
    let differences = before.map_or_else(Vec::new, |before| before.differences(now));
    if global.output == Output::Json {
        let told = json!({ "path": path, "images": now.images, "models": commits(now), "changed": differences });
        return terminal::print(&format!("{told:#}\n"));
    }
    let mut out = format!("{}\n", path.display());
    for (name, what) in now.images.iter().chain(&commits(now)) {
        let _ = writeln!(out, "  {name}\n    {what}");
    }
    terminal::print(&out);
    if global.quiet {
        return;
    }
    for difference in differences {
        terminal::note(&format!("changed: {difference}"));
    }
    if let Some(file) = &arguments.file {
        let (recipe, file) = (&arguments.recipe, file.display());
        terminal::note(&format!("follow it: retrial run {recipe} --lock {file}"));
    }
}

fn commits(lock: &Lock) -> BTreeMap<String, String> {
    let models = lock.models.iter();
    models
        .map(|(name, model)| (name.clone(), model.commit.clone()))
        .collect()
}

fn report_differences(global: &GlobalOptions, path: &Path, before: &Lock, now: &Lock) -> ExitCode {
    let differences = before.differences(now);
    if global.output == Output::Json {
        let told = json!({ "path": path, "differences": differences });
        terminal::print(&format!("{told:#}\n"));
    } else if differences.is_empty() {
        terminal::print(&format!("{} is what there is now\n", path.display()));
    } else {
        terminal::print_lines(differences.iter().cloned());
    }
    if differences.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::NotReproduced
    }
}
