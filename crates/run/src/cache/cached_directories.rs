//! A run's cached directories: paths, locks, states and mounts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::access::{RunSession, fill_run_values};
use crate::container::{RUN_LABEL, mounts_cached_directory, use_copies};
use crate::error::Halt;
use crate::interrupt::run_on_thread;
use crate::step::StepSession;
use retrial_container::Mount;
use retrial_plan::cached_directory::CachedDirectory;
use retrial_store::StoreError;
use retrial_store::cache::{CacheEntry, CacheOrigin, CacheState};
use retrial_store::companions::digest_mounts;
use retrial_store::journal::{StepEnd, StepFault};
use retrial_store::lock::{FileLock, LockAttempt};

/// The interval between attempts to acquire a lock that another run holds.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The cached directories that a container mounts.
#[derive(Default)]
pub struct CachedMounts {
    /// The mounts of the cached directories' content.
    pub mounts: Vec<Mount>,
    /// Their paths, by which cleanup detects that they are in use.
    pub locations: Vec<String>,
}

/// The cached directories for the container of a step: those of earlier steps.
pub async fn mount_cached_directories(session: &StepSession<'_>) -> Result<CachedMounts, Halt> {
    let mut all = CachedMounts::default();
    let state = session.run_session.state();
    for (number, directory) in earlier_directories(session) {
        let directory = &fill_run_values(session.run_session, directory, None);
        let entry = state.cached.get(&number).map(|cached| {
            let cache = Path::new(&session.run_session.plan.cache);
            CacheEntry::with_name(cache, &directory.key, &cached.directory, &cached.identity)
        });
        let Some(entry) =
            entry.filter(|entry| entry.has_own_identity() && entry.content_directory().exists())
        else {
            return Err(Halt::failure(
                StepFault::Host,
                format!("the cached directory {} is gone", directory.key),
                "it was removed since this run began: begin another one",
            ));
        };
        let source = entry.content_directory().display().to_string();
        all.mounts.push(directory.to_mount(source));
        all.locations.push(entry.location());
    }
    Ok(all)
}

/// The cached directories of earlier steps, with the numbers of these.
fn earlier_directories<'a>(
    session: &StepSession<'a>,
) -> impl Iterator<Item = (u32, &'a CachedDirectory)> + use<'a> {
    let number = session.step.number;
    let all = session.run_session.plan.cached_directories();
    all.filter(move |(earlier, _)| *earlier < number)
}

/// The whole identity of the directory that a step populates from an image.
pub async fn full_identity(
    session: &StepSession<'_>,
    directory: &CachedDirectory,
    image: &str,
) -> Result<String, Halt> {
    let companions_digest =
        digest_companions(session.run_session, directory.companions.clone()).await?;
    let state = session.run_session.state();
    let earlier_cached =
        earlier_directories(session).filter_map(|(number, _)| state.cached.get(&number));
    let earlier_identities: Vec<&str> =
        earlier_cached.map(|cached| cached.identity.as_str()).collect();
    Ok(directory.full_identity(image, &companions_digest, &earlier_identities))
}

/// A digest of files next to the recipe.
pub async fn digest_companions(
    session: &RunSession,
    mut mounts: Vec<Mount>,
) -> Result<String, Halt> {
    use_copies(session, &mut mounts);
    Ok(run_on_thread(&session.stop, move || digest_mounts(&mounts)).await?)
}

/// Acquires the directory of an identity with its lock.
pub async fn acquire_entry(
    session: &StepSession<'_>,
    key: &str,
    identity: &str,
) -> Result<(CacheEntry, FileLock), Halt> {
    let cache = Path::new(&session.run_session.plan.cache);
    loop {
        let entry = CacheEntry::find(cache, key, identity);
        let lock = lock_entry(session, &entry).await?;
        // The previous holder of the lock may have populated it for another identity.
        if entry.has_own_identity() {
            return Ok((entry, lock));
        }
    }
}

/// Acquires the lock of a cached directory, and reports the holder while it waits.
async fn lock_entry(session: &StepSession<'_>, entry: &CacheEntry) -> Result<FileLock, Halt> {
    let work = session.run_session.describe_work();
    let mut is_named = false;
    loop {
        let holder = match entry.try_lock(&work)? {
            LockAttempt::Acquired(lock) => return Ok(lock),
            LockAttempt::HeldBy(holder) => holder,
        };
        // The new holder has not written its name yet.
        if !is_named && holder.process.is_some() {
            is_named = true;
            let label = entry.label();
            session.record_decision(format!("waiting for {holder}, which populates {label}"))?;
        }
        session.run_session.sleep_unless_stopped(LOCK_RETRY_INTERVAL).await?;
    }
}

/// Checks whether a cached directory is valid.
pub async fn check_cache_state(
    session: &RunSession,
    entry: &CacheEntry,
    directory: &CachedDirectory,
) -> Result<CacheState, Halt> {
    let (entry, files) = (entry.clone(), directory.files.clone());
    let (writable, thorough) = (directory.writable, session.plan.verify_cache);
    // Files that the recipe lists are valid regardless of their origin.
    let models = directory.of_image.then(|| session.state().models.clone());
    let check = move |stop: &AtomicBool| {
        let state = entry.check_state(&files, writable, thorough, stop)?;
        Ok(match (state, models) {
            (CacheState::Valid(manifest), Some(models)) if manifest.origin.models != models => {
                CacheState::Invalid(
                    "it was populated with a different commit of a model".to_owned(),
                )
            }
            (state, _) => state,
        })
    };
    run_interruptible(session, check).await
}

/// The id of an image of the plan: the one that is launched, or a service's.
pub async fn image_id(session: &StepSession<'_>, reference: &str) -> Result<String, Halt> {
    let launched = session.run_session.state().image.clone();
    if let Some(image) = launched.filter(|_| reference == session.run_session.plan.image) {
        return Ok(image);
    }
    // It may be present without a pull: `--skip pull`.
    let image = session.with_engine(|engine| engine.find_image(reference)).await?;
    let missing = || Halt::host_failure(format!("the engine has no image {reference}"));
    Ok(image.ok_or_else(missing)?.id)
}

/// The origin of a cached directory that is populated now.
pub fn new_origin(session: &RunSession, image: String) -> CacheOrigin {
    CacheOrigin {
        recipe: session.plan.recipe.clone(),
        run: session.run.id().to_owned(),
        image,
        models: session.state().models.clone(),
        at: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
    }
}

/// Reads many files on a thread of its own, until the run is to stop.
pub async fn run_interruptible<T: Send + 'static>(
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
            // The run is stopped, whatever the work has reached.
            let _ = work.await;
            Err(StepEnd::Stopped.into())
        }
    }
}

/// Removes invalid directories and unused stages. A run with a live container removes its own.
pub async fn remove_stale_entries(session: &RunSession, entry: &CacheEntry) -> Result<(), Halt> {
    let listing = session.with_engine(|engine| engine.list_containers(RUN_LABEL));
    let containers = listing.await?;
    let mut all = containers.iter();
    let run_labels = all.clone().filter_map(|one| one.labels.get(RUN_LABEL));
    let runs: Vec<String> = run_labels.cloned().collect();
    let in_use = all.any(|container| mounts_cached_directory(container, &entry.location()));
    entry.remove_stale(&runs, in_use);
    Ok(())
}
