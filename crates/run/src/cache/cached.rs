//! A run's cached directories: paths, locks, states and mounts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::access::{RunSession, with_run_values};
use crate::container::{RUN_LABEL, mounts_cached};
use crate::error::Halt;
use crate::interrupt::on_thread;
use crate::step::StepSession;
use retrial_container::Mount;
use retrial_plan::cached_directory::CachedDirectory;
use retrial_store::StoreError;
use retrial_store::cache::{CacheEntry, CacheOrigin, CacheState, digest_of};
use retrial_store::journal::{StepEnd, StepFault};
use retrial_store::lock::{FileLock, LockAttempt};

/// The interval between attempts to acquire a lock that another run holds.
const PAUSE: Duration = Duration::from_millis(100);

/// The cached directories that a container mounts.
#[derive(Default)]
pub struct CachedMounts {
    /// The mounts of the cached directories' content.
    pub mounts: Vec<Mount>,
    /// Their paths, by which cleanup detects that they are in use.
    pub locations: Vec<String>,
}

/// The cached directories for the container of a step: those of earlier steps.
pub async fn mounts(session: &StepSession<'_>) -> Result<CachedMounts, Halt> {
    let mut all = CachedMounts::default();
    let state = session.state();
    for (number, directory) in earlier(session) {
        let directory = &with_run_values(session, directory, None);
        let entry = state.cached.get(&number).map(|cached| {
            let cache = Path::new(&session.plan.cache);
            CacheEntry::named(cache, &directory.key, &cached.directory, &cached.identity)
        });
        let Some(entry) = entry.filter(|entry| entry.is_own() && entry.content().exists()) else {
            return Err(Halt::failed(
                StepFault::Host,
                format!("the cached directory {} is gone", directory.key),
                "it was removed since this run began: begin another one",
            ));
        };
        let source = entry.content().display().to_string();
        all.mounts.push(directory.to_mount(source));
        all.locations.push(entry.location());
    }
    Ok(all)
}

/// The cached directories of earlier steps, with the numbers of these.
fn earlier<'a>(
    session: &StepSession<'a>,
) -> impl Iterator<Item = (u32, &'a CachedDirectory)> + use<'a> {
    let number = session.step.number;
    let all = session.run_session().plan.cached_directories();
    all.filter(move |(earlier, _)| *earlier < number)
}

/// The whole identity of the directory that a step populates from an image.
pub async fn identity(
    session: &StepSession<'_>,
    directory: &CachedDirectory,
    image: &str,
) -> Result<String, Halt> {
    let companions = companions(session, directory.companions.clone()).await?;
    let state = session.state();
    let earlier = earlier(session).filter_map(|(number, _)| state.cached.get(&number));
    let earlier: Vec<&str> = earlier.map(|cached| cached.identity.as_str()).collect();
    Ok(directory.full_identity(image, &companions, &earlier))
}

/// A digest of files next to the recipe.
pub async fn companions(session: &RunSession, mounts: Vec<Mount>) -> Result<String, Halt> {
    Ok(on_thread(&session.stop, move || digest_of(&mounts)).await?)
}

/// Acquires the directory of an identity with its lock.
pub async fn acquire(
    session: &StepSession<'_>,
    key: &str,
    identity: &str,
) -> Result<(CacheEntry, FileLock), Halt> {
    let cache = Path::new(&session.plan.cache);
    loop {
        let entry = CacheEntry::find(cache, key, identity);
        let lock = lock(session, &entry).await?;
        // The previous holder of the lock may have populated it for another identity.
        if entry.is_own() {
            return Ok((entry, lock));
        }
    }
}

/// Acquires the lock of a cached directory, and reports the holder while it waits.
async fn lock(session: &StepSession<'_>, entry: &CacheEntry) -> Result<FileLock, Halt> {
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
    session: &RunSession,
    entry: &CacheEntry,
    directory: &CachedDirectory,
) -> Result<CacheState, Halt> {
    let (entry, files) = (entry.clone(), directory.files.clone());
    let (writable, thorough) = (directory.writable, session.plan.verify_cache);
    // Files that the recipe lists are valid regardless of their origin.
    let models = directory.of_image.then(|| session.state().models.clone());
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

/// The id of an image of the plan: the one that is launched, or a service's.
pub async fn image(session: &StepSession<'_>, reference: &str) -> Result<String, Halt> {
    let launched = session.state().image.clone();
    if let Some(image) = launched.filter(|_| reference == session.plan.image) {
        return Ok(image);
    }
    // It may be present without a pull: `--skip pull`.
    let image = session
        .with_engine(|engine| engine.image(reference))
        .await?;
    let missing = || Halt::host(format!("the engine has no image {reference}"));
    Ok(image.ok_or_else(missing)?.id)
}

/// The origin of a cached directory that is populated now.
pub fn origin(session: &RunSession, image: String) -> CacheOrigin {
    CacheOrigin {
        recipe: session.plan.recipe.clone(),
        run: session.run.id().to_owned(),
        image,
        models: session.state().models.clone(),
        at: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
    }
}

/// Reads many files on a thread of its own, until the run is to stop.
pub async fn interruptible<T: Send + 'static>(
    session: &RunSession,
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
pub async fn remove_stale(session: &RunSession, entry: &CacheEntry) -> Result<(), Halt> {
    let containers = session.with_engine(|engine| engine.containers(RUN_LABEL));
    let containers = containers.await?;
    let mut all = containers.iter();
    let runs = all.clone().filter_map(|one| one.labels.get(RUN_LABEL));
    let runs: Vec<String> = runs.cloned().collect();
    let in_use = all.any(|container| mounts_cached(container, &entry.location()));
    entry.remove_stale(&runs, in_use);
    Ok(())
}
