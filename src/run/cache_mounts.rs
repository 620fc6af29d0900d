//! Cache mounts: directories in which programs keep what they compile, kept for later runs. As with
//! `RUN --mount=type=cache,sharing=private` of a Dockerfile, two containers at a time have one each: the label of a running container
//! says which it has. What a failed run left is not reused, and nothing in them is evidence.

use std::path::Path;

use super::cached::{image, origin, remove_stale};
use super::error::Halt;
use super::labels::CACHE_LABEL;
use super::seed;
use super::session::Session;
use super::step_session::StepSession;
use crate::store::cache::CacheEntry;
use crate::store::journal::{CacheMounted, StepEnd, What};
use crate::store::lock::{FileLock, LockAttempt};
use retrial_container::{ContainerSpec, Mount};

/// The directories of a container that is about to be created. Nobody else takes them until this is dropped;
/// by then the container runs.
#[derive(Default)]
pub struct Taken {
    mounted: Vec<(CacheMounted, FileLock)>,
}

/// Takes a directory for each cache mount of a container, and mounts it.
pub async fn take(session: &StepSession<'_>, spec: &mut ContainerSpec) -> Result<Taken, Halt> {
    let mut taken = Taken::default();
    for (mount, path) in std::mem::take(&mut spec.cache_mounts) {
        let image = image(session, &spec.image).await?;
        let machine = crate::host::machine_name(&session.options.root);
        let name = session.plan.cache_mount(&path, &image, &machine);
        let (directory, entry, lock) = free(session, &mount, &name).await?;
        let run = origin(session, image);
        let earlier = entry.take(&run)?;
        if earlier.is_none() {
            let stage = entry.stage(session.run.id());
            stage.begin()?;
            seed::seed(session, &run.image, &path, &stage.content(), "").await?;
            entry.take_new(&stage, &run)?;
            remove_stale(session, &entry).await?;
        }
        spec.mounts.push(Mount {
            source: entry.content().display().to_string(),
            target: path.clone(),
            read_only: false,
        });
        let label = spec.labels.entry(CACHE_LABEL.to_owned()).or_default();
        if !label.is_empty() {
            label.push('\n');
        }
        label.push_str(&entry.identity());
        let mounted = CacheMounted {
            container: String::new(),
            mount,
            path,
            directory,
            reused_from: earlier.map(|earlier| earlier.run),
        };
        taken.mounted.push((mounted, lock));
    }
    Ok(taken)
}

impl Taken {
    /// Records which directories the container got.
    pub fn record(&self, session: &StepSession<'_>, container: &str) -> Result<(), Halt> {
        for (mounted, _) in &self.mounted {
            let mounted = CacheMounted {
                container: container.to_owned(),
                ..mounted.clone()
            };
            session.record(What::CacheMounted(mounted))?;
        }
        Ok(())
    }
}

/// The first directory that no running container has.
async fn free(
    session: &StepSession<'_>,
    mount: &str,
    name: &str,
) -> Result<(String, CacheEntry, FileLock), Halt> {
    let me = session.holder();
    let mut number = 0;
    loop {
        number += 1;
        let directory = format!("{name}-{number}");
        let entry = entry(session, mount, &directory);
        let LockAttempt::Acquired(lock) = entry.lock(&me)? else {
            continue;
        };
        let containers = session.with_engine(|| session.engine.containers(CACHE_LABEL));
        let mine = entry.identity();
        let mut running = containers.await?.into_iter().filter(|one| one.running);
        if !running.any(|one| one.labels[CACHE_LABEL].lines().any(|one| one == mine)) {
            return Ok((directory, entry, lock));
        }
    }
}

fn entry(session: &Session, mount: &str, directory: &str) -> CacheEntry {
    CacheEntry::new(Path::new(&session.plan.cache), mount, directory)
}

/// Gives back the directories of a container that was removed: their files become ours, and later runs reuse
/// them if no step failed.
pub async fn give_back(session: &Session, container: &str) {
    let state = session.state();
    let is_failed = |end: &StepEnd| matches!(end, StepEnd::Failed { .. } | StepEnd::Stopped);
    let is_good = state.ended.values().all(|(end, _)| !is_failed(end));
    let is_good = is_good && !session.stop.is_cancelled();
    let mounts = state.cache_mounts.iter();
    for mounted in mounts.filter(|mounted| mounted.container == container) {
        let entry = entry(session, &mounted.mount, &mounted.directory);
        // Whoever has the lock found it free: it is not ours any more.
        let Ok(LockAttempt::Acquired(_lock)) = entry.lock(session.run.id()) else {
            continue;
        };
        if !entry.is_taken_by(session.run.id()) {
            continue;
        }
        if !rustix::process::getuid().is_root() {
            // A later run's container may have another user, too.
            let _ = seed::own(session, &entry.content()).await;
        }
        if is_good {
            let _ = entry.give_back();
        }
    }
}
