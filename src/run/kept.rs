//! A run's kept directories: where they lie, whose turn it is, whether they are whole, and their
//! mounts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::container::{KEPT_LABEL, RUN_LABEL};
use super::error::RunError;
use super::models::with_commits;
use super::session::Session;
use crate::plan::cached::CachedDirectory;
use crate::plan::step::Step;
use crate::store::StoreError;
use crate::store::cache::{CacheEntry, CacheState};
use crate::store::journal::{StepEnd, What};
use crate::store::lock::{FileLock, LockAttempt};
use retrial_container::Mount;

/// Between two tries to take a lock that another run has.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the run's kept directories lie, for the container of a step: those before it.
pub async fn mounts(session: &Session, step: &Step) -> Result<Result<Kept, StepEnd>, RunError> {
    let mut all = Kept::default();
    let before = |(number, _): &(u32, &CachedDirectory)| *number < step.number;
    for (_, kept) in session.plan.cached_directories().filter(before) {
        let image = match image(session).await? {
            Ok(image) => image,
            Err(end) => return Ok(Err(end)),
        };
        let kept = &with_commits(session, kept);
        let place = place(session, kept, &image);
        all.mounts
            .push(kept.mount(place.content().display().to_string()));
        all.labels.push(place.label());
    }
    Ok(Ok(all))
}

/// Kept directories of a container.
#[derive(Default)]
pub struct Kept {
    /// Where they are mounted.
    pub mounts: Vec<Mount>,
    /// Which they are: whoever cleans up sees that they are in use.
    pub labels: Vec<String>,
}

/// The lock of a kept directory; waits for whoever fills it, and says so. None if the run is to stop.
pub async fn wait_for(
    session: &Session,
    step: &Step,
    place: &CacheEntry,
) -> Result<Option<FileLock>, RunError> {
    let me = format!("run {} (process {})", session.run.id(), std::process::id());
    let mut told = false;
    loop {
        let holder = match place.lock(&me)? {
            LockAttempt::Acquired(lock) => return Ok(Some(lock)),
            LockAttempt::HeldBy(holder) => holder,
        };
        // Whoever took it just now has not written its name yet.
        if !told && !holder.is_empty() {
            told = true;
            let decision = format!("waits for {holder}, which fills {}", place.label());
            session.say(Some(step), What::Decided { decision })?;
        }
        tokio::select! {
            () = session.stop.cancelled() => return Ok(None),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// Looks whether a kept directory is whole; none if the run is to stop meanwhile.
pub async fn looked_at(
    session: &Session,
    place: &CacheEntry,
    kept: &CachedDirectory,
) -> Result<Option<CacheState>, RunError> {
    let (place, files) = (place.clone(), kept.files.clone());
    let (writable, thorough) = (kept.writable, session.plan.verify_cache);
    // What is listed is right, whatever it was made from.
    let models = kept.of_image.then(|| session.state().models);
    let look = move |stop: &AtomicBool| {
        let standing = place.check(&files, writable, thorough, stop)?;
        Ok(match (standing, models) {
            (CacheState::Valid(manifest), Some(models)) if manifest.origin.models != models => {
                CacheState::Invalid("it was made with another commit of a model".to_owned())
            }
            (standing, _) => standing,
        })
    };
    Ok(interruptible(session, look).await?)
}

/// Where it lies.
pub fn place(session: &Session, kept: &CachedDirectory, image: &str) -> CacheEntry {
    let cache = Path::new(&session.plan.cache);
    CacheEntry::new(cache, &kept.key, &kept.name(image))
}

/// The id of the image that is launched.
pub async fn image(session: &Session) -> Result<Result<String, StepEnd>, RunError> {
    if let Some(image) = session.state().image {
        return Ok(Ok(image));
    }
    // Where `--skip pull` was said.
    Ok(match session.engine.image(&session.plan.image).await? {
        Some(image) => Ok(image.id),
        None => Err(StepEnd::host(format!(
            "the engine has no image {}",
            session.plan.image
        ))),
    })
}

/// Reads much, away from what follows signals; none if the run is to stop meanwhile.
pub async fn interruptible<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&AtomicBool) -> Result<T, StoreError> + Send + 'static,
) -> Result<Option<T>, StoreError> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let mut work = tokio::task::spawn_blocking(move || work(&seen));
    let done = tokio::select! {
        done = &mut work => done,
        () = session.stop.cancelled() => {
            stop.store(true, Ordering::Relaxed);
            let _ = work.await;
            return Ok(None);
        }
    };
    match done {
        Ok(result) => result.map(Some),
        Err(error) => Err(StoreError::Unusable {
            path: session.plan.cache.clone().into(),
            because: error.to_string(),
        }),
    }
}

/// Removes what is in nobody's use any more: what was not whole, and what others had begun to fill
/// before this one was there. A run whose container lives puts its own away.
pub async fn tidy(session: &Session, place: &CacheEntry) -> Result<(), RunError> {
    let containers = session.engine.containers(RUN_LABEL).await?;
    let label = |name: &str| {
        let labels = containers.iter().filter_map(|one| one.labels.get(name));
        labels.cloned().collect::<Vec<_>>()
    };
    let (runs, mounted) = (label(RUN_LABEL), label(KEPT_LABEL));
    let mine = place.label();
    let in_use = mounted
        .iter()
        .any(|all| all.split(',').any(|one| one == mine));
    place.remove_stale(&runs, in_use);
    Ok(())
}
