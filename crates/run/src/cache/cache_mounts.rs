//! Cache mounts: directories in which programs cache compiled code for later runs. As with `RUN
//! --mount=type=cache,sharing=private` of a Dockerfile, concurrent containers have separate directories: the
//! label of a running container names its own. The directory of a failed run is not reused, and its content is
//! never evidence.

use std::path::Path;

use super::cached_directories::{digest_companions, image_id, new_origin, remove_stale_entries};
use super::seed;
use crate::access::RunSession;
use crate::container::{CACHE_LABEL, mounts_cached_directory};
use crate::error::Halt;
use crate::step::StepSession;
use retrial_container::{ContainerSpec, Mount};
use retrial_engine::api::ContainerState;
use retrial_plan::cached_directory::short_identity;
use retrial_store::cache::CacheEntry;
use retrial_store::journal::{CacheMount, EventKind, StepEnd};
use retrial_store::lock::{FileLock, LockAttempt};

/// The directories of a container that is about to be created. They stay locked until this is dropped, when the
/// container is running.
#[derive(Default)]
pub struct LockedCacheMounts {
    mounted: Vec<(CacheMount, FileLock)>,
}

/// Acquires a directory for each cache mount of a container, and mounts it.
pub async fn acquire_cache_mounts(
    session: &StepSession<'_>,
    spec: &mut ContainerSpec,
) -> Result<LockedCacheMounts, Halt> {
    let mut caches = LockedCacheMounts::default();
    for (mount, path) in std::mem::take(&mut spec.cache_mounts) {
        let image = image_id(session, &spec.image).await?;
        let machine = retrial_host::machine_name(&session.run_session.options.root);
        let companions =
            digest_companions(session.run_session, session.run_session.plan.companion_mounts())
                .await?;
        let plan = &session.run_session.plan;
        let identity = plan.cache_mount_identity(&path, &image, &machine, &companions);
        let (entry, lock) = acquire_free_entry(session, &mount, &identity).await?;
        let run = new_origin(session.run_session, image);
        let earlier = entry.claim_for_run(&run)?;
        if earlier.is_none() {
            let stage = entry.stage_for_run(session.run_session.run.id());
            stage.create_empty()?;
            seed::copy_image_content(session, &run.image, &path, &stage.content_directory(), "")
                .await?;
            entry.claim_stage_for_run(&stage, &run)?;
            remove_stale_entries(session.run_session, &entry).await?;
        }
        spec.mounts.push(Mount {
            source: entry.content_directory().display().to_string(),
            target: path.clone(),
            read_only: false,
        });
        let label = spec.labels.entry(CACHE_LABEL.to_owned()).or_default();
        if !label.is_empty() {
            label.push('\n');
        }
        label.push_str(&entry.location());
        let mounted = CacheMount {
            container: String::new(),
            mount,
            path,
            directory: entry.name().to_owned(),
            identity,
            reused_from: earlier.map(|earlier| earlier.run),
        };
        caches.mounted.push((mounted, lock));
    }
    Ok(caches)
}

impl LockedCacheMounts {
    /// Records which directories the container got.
    pub fn record_mounted(
        &mut self,
        session: &StepSession<'_>,
        container: &str,
    ) -> Result<(), Halt> {
        for (mounted, _) in &mut self.mounted {
            container.clone_into(&mut mounted.container);
            session.record(EventKind::CacheMounted(mounted.clone()))?;
        }
        Ok(())
    }
}

/// The first directory of an identity that no running container has.
async fn acquire_free_entry(
    session: &StepSession<'_>,
    mount: &str,
    identity: &str,
) -> Result<(CacheEntry, FileLock), Halt> {
    let work = session.run_session.describe_work();
    let mut number = 0;
    loop {
        number += 1;
        let directory = format!("{}-{number}", short_identity(identity));
        let entry = cache_entry(session.run_session, mount, &directory, identity);
        let LockAttempt::Acquired(lock) = entry.try_lock(&work)? else {
            continue;
        };
        let containers = session.with_engine(|engine| engine.list_containers(CACHE_LABEL));
        let location = entry.location();
        let is_user = |container: &ContainerState| {
            container.running && mounts_cached_directory(container, &location)
        };
        if !containers.await?.iter().any(is_user) && entry.has_own_identity() {
            return Ok((entry, lock));
        }
    }
}

fn cache_entry(session: &RunSession, mount: &str, directory: &str, identity: &str) -> CacheEntry {
    let cache = Path::new(&session.plan.cache);
    CacheEntry::with_name(cache, mount, directory, identity)
}

/// Releases the directories of a removed container: the files become ours, and later runs reuse them if no step
/// failed.
pub async fn release_cache_mounts(session: &RunSession, container: &str) {
    let state = session.state();
    let is_failed = |end: &StepEnd| matches!(end, StepEnd::Failed { .. } | StepEnd::Stopped);
    let has_no_failure = state.ended.values().all(|(end, _)| !is_failed(end));
    let is_good = has_no_failure && !session.stop.is_cancelled();
    let mounts = state.cache_mounts.iter();
    for mounted in mounts.filter(|mounted| mounted.container == container) {
        let (mount, directory) = (&mounted.mount, &mounted.directory);
        let entry = cache_entry(session, mount, directory, &mounted.identity);
        // Another process has locked it: it is no longer ours.
        let Ok(LockAttempt::Acquired(_lock)) = entry.try_lock(&session.describe_work()) else {
            continue;
        };
        if !entry.is_claimed_by(session.run.id()) {
            continue;
        }
        if !rustix::process::getuid().is_root() {
            // A later run's container may run as another user.
            let _ = seed::take_ownership(session, &entry.content_directory()).await;
        }
        if is_good && let Err(error) = entry.release_claim() {
            // A claimed directory is populated again: that costs time, and is safe.
            tracing::debug!(key = mounted.identity, %error, "the claim was not released");
        }
    }
}
