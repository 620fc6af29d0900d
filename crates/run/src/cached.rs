//! A run's cached directories: paths, locks, states and mounts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::Halt;
use super::labels::{RUN_LABEL, mounts_cached};
use super::run_values::with_run_values;
use super::session::Session;
use super::step_session::StepSession;
use retrial_container::Mount;
use retrial_plan::cached::CachedDirectory;
use retrial_store::StoreError;
use retrial_store::cache::{CacheEntry, CacheState, Origin};
use retrial_store::journal::StepEnd;
use retrial_store::lock::{FileLock, LockAttempt};

/// The interval between attempts to acquire a lock that another run holds.
const PAUSE: Duration = Duration::from_millis(100);

/// The cached directories that a container mounts.
#[derive(Default)]
pub struct CachedMounts {
    /// The mounts.
    pub mounts: Vec<Mount>,
    /// Their identities, by which cleanup detects that they are in use.
    pub identities: Vec<String>,
}

/// The cached directories for the container of a step: those of earlier steps.
pub async fn mounts(session: &StepSession<'_>) -> Result<CachedMounts, Halt> {
    let mut all = CachedMounts::default();
    for (number, directory) in session.plan.cached_directories() {
        if number < session.step.number {
            let directory = &with_run_values(session, directory, None);
            let image = image(session, &session.plan.image).await?;
            let entry = entry(session, directory, &image);
            let source = entry.content().display().to_string();
            all.mounts.push(directory.mount(source));
            all.identities.push(entry.identity());
        }
    }
    Ok(all)
}

/// Acquires the lock of a cached directory, and reports the holder while it waits.
pub async fn lock(session: &StepSession<'_>, entry: &CacheEntry) -> Result<FileLock, Halt> {
    let work = session.work();
    let mut is_named = false;
    loop {
        let holder = match entry.lock(&work)? {
            LockAttempt::Acquired(lock) => return Ok(lock),
            LockAttempt::HeldBy(holder) => holder,
        };
        // The new holder has not written its name yet.
        if !is_named && holder.process.is_some() {
            is_named = true;
            let label = entry.label();
            session.decide(format!("waiting for {holder}, which populates {label}"))?;
        }
        session.pause(PAUSE).await?;
    }
}

/// Checks whether a cached directory is valid.
pub async fn check(
    session: &Session,
    entry: &CacheEntry,
    directory: &CachedDirectory,
) -> Result<CacheState, Halt> {
    let (entry, files) = (entry.clone(), directory.files.clone());
    let (writable, thorough) = (directory.writable, session.plan.verify_cache);
    // Files that the recipe lists are valid regardless of their origin.
    let models = directory.of_image.then(|| session.state().models);
    let check = move |stop: &AtomicBool| {
        let state = entry.check(&files, writable, thorough, stop)?;
        Ok(match (state, models) {
            (CacheState::Valid(manifest), Some(models)) if manifest.origin.models != models => {
                CacheState::Invalid(
                    "it was populated with a different commit of a model".to_owned(),
                )
            }
            (state, _) => state,
        })
    };
    interruptible(session, check).await
}

/// Its entry in the cache.
pub fn entry(session: &Session, directory: &CachedDirectory, image: &str) -> CacheEntry {
    let cache = Path::new(&session.plan.cache);
    CacheEntry::new(cache, &directory.key, &directory.name(image))
}

/// The id of an image of the plan: the one that is launched, or a service's.
pub async fn image(session: &StepSession<'_>, reference: &str) -> Result<String, Halt> {
    let launched = session.state().image;
    if let Some(image) = launched.filter(|_| reference == session.plan.image) {
        return Ok(image);
    }
    // It may be present without a pull: `--skip pull`.
    let image = session
        .with_engine(|| session.engine.image(reference))
        .await?;
    let missing = || Halt::host(format!("the engine has no image {reference}"));
    Ok(image.ok_or_else(missing)?.id)
}

/// The origin of a cached directory that is populated now.
pub fn origin(session: &Session, image: String) -> Origin {
    Origin {
        recipe: session.plan.recipe.clone(),
        run: session.run.id().to_owned(),
        image,
        models: session.state().models,
        at: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
    }
}

/// Reads many files on a thread of its own, until the run is to stop.
pub async fn interruptible<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&AtomicBool) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Halt> {
    let stop = Arc::new(AtomicBool::new(false));
    let cancelled = Arc::clone(&stop);
    let mut work = tokio::task::spawn_blocking(move || work(&cancelled));
    tokio::select! {
        done = &mut work => Ok(done.map_err(|error| StoreError::Unusable {
            path: session.plan.cache.clone().into(),
            reason: error.to_string(),
        })??),
        () = session.stop.cancelled() => {
            stop.store(true, Ordering::Relaxed);
            let _ = work.await;
            Err(StepEnd::Stopped.into())
        }
    }
}

/// Removes invalid directories and unused stages. A run with a live container removes its own.
pub async fn remove_stale(session: &Session, entry: &CacheEntry) -> Result<(), Halt> {
    let containers = session.engine.containers(RUN_LABEL).await?;
    let mut all = containers.iter();
    let runs = all.clone().filter_map(|one| one.labels.get(RUN_LABEL));
    let runs: Vec<String> = runs.cloned().collect();
    let in_use = all.any(|container| mounts_cached(container, &entry.identity()));
    entry.remove_stale(&runs, in_use);
    Ok(())
}
