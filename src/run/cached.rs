//! A run's cached directories: their place, their lock, their state, and their mounts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::Halt;
use super::known::with_known;
use super::labels::{CACHE_LABEL, RUN_LABEL};
use super::session::Session;
use crate::plan::cached::CachedDirectory;
use crate::plan::step::Step;
use crate::store::StoreError;
use crate::store::cache::{CacheEntry, CacheState};
use crate::store::journal::StepEnd;
use crate::store::lock::{FileLock, LockAttempt};
use retrial_container::Mount;

/// Between two attempts to take a lock that another run has.
const PAUSE: Duration = Duration::from_millis(100);

/// The cached directories that a container mounts.
#[derive(Default)]
pub struct CachedMounts {
    /// The mounts.
    pub mounts: Vec<Mount>,
    /// Their identities, so that whoever cleans up sees that they are in use.
    pub identities: Vec<String>,
}

/// The cached directories for the container of a step: those of earlier steps.
pub async fn mounts(session: &Session, step: &Step) -> Result<CachedMounts, Halt> {
    let mut all = CachedMounts::default();
    for (number, directory) in session.plan.cached_directories() {
        if number < step.number {
            let directory = &with_known(session, directory, None);
            let entry = entry(session, directory, &image(session).await?);
            let source = entry.content().display().to_string();
            all.mounts.push(directory.mount(source));
            all.identities.push(entry.identity());
        }
    }
    Ok(all)
}

/// Takes the lock of a cached directory, and names whoever populates it meanwhile.
pub async fn lock(session: &Session, step: &Step, entry: &CacheEntry) -> Result<FileLock, Halt> {
    let me = format!("run {} (process {})", session.run.id(), std::process::id());
    let mut is_named = false;
    loop {
        let holder = match entry.lock(&me)? {
            LockAttempt::Acquired(lock) => return Ok(lock),
            LockAttempt::HeldBy(holder) => holder,
        };
        // Whoever took it just now has not written its name yet.
        if !is_named && !holder.is_empty() {
            is_named = true;
            let label = entry.label();
            session.decide(
                step,
                format!("waiting for {holder}, which populates {label}"),
            )?;
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
    // Files that the recipe lists are right, whatever they were made from.
    let models = directory.of_image.then(|| session.state().models);
    let check = move |stop: &AtomicBool| {
        let state = entry.check(&files, writable, thorough, stop)?;
        Ok(match (state, models) {
            (CacheState::Valid(manifest), Some(models)) if manifest.origin.models != models => {
                CacheState::Invalid("it was populated with another commit of a model".to_owned())
            }
            (state, _) => state,
        })
    };
    interruptible(session, check).await
}

/// Its place in the cache.
pub fn entry(session: &Session, directory: &CachedDirectory, image: &str) -> CacheEntry {
    let cache = Path::new(&session.plan.cache);
    CacheEntry::new(cache, &directory.key, &directory.name(image))
}

/// The id of the image that is launched.
pub async fn image(session: &Session) -> Result<String, Halt> {
    if let Some(image) = session.state().image {
        return Ok(image);
    }
    // With `--skip pull`.
    let image = session.engine.image(&session.plan.image).await?;
    let missing = || format!("the engine has no image {}", session.plan.image);
    Ok(image.ok_or_else(|| Halt::host(missing()))?.id)
}

/// Reads many files on a thread of its own, until the run is to stop.
pub async fn interruptible<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&AtomicBool) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Halt> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let mut work = tokio::task::spawn_blocking(move || work(&seen));
    tokio::select! {
        done = &mut work => Ok(done.map_err(|error| StoreError::Unusable {
            path: session.plan.cache.clone().into(),
            because: error.to_string(),
        })??),
        () = session.stop.cancelled() => {
            stop.store(true, Ordering::Relaxed);
            let _ = work.await;
            Err(StepEnd::Stopped.into())
        }
    }
}

/// Removes invalid directories and stages that nobody uses any more. A run whose container lives
/// removes its own.
pub async fn remove_stale(session: &Session, entry: &CacheEntry) -> Result<(), Halt> {
    let containers = session.engine.containers(RUN_LABEL).await?;
    let label = |name: &str| {
        let labels = containers.iter().filter_map(|one| one.labels.get(name));
        labels.cloned().collect::<Vec<_>>()
    };
    let mine = entry.identity();
    let mounted = label(CACHE_LABEL);
    let in_use = mounted.iter().any(|all| all.lines().any(|one| one == mine));
    entry.remove_stale(&label(RUN_LABEL), in_use);
    Ok(())
}
