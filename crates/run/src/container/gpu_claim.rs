//! GPUs are claimed by the labelled container that runs on them, so a claim lives exactly as long as the
//! benchmark, and is visible to every user of the engine. A lock covers only the time between check and start;
//! a run whose GPUs are busy waits until the other container ends.

use std::fs::{File, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use itertools::join;
use rustix::fs::{Mode, OFlags};

use super::labels::{GPU_LABEL, RUN_LABEL, describe_run, label_value};
use crate::access::RunSession;
use crate::error::Halt;
use crate::step::StepSession;
use retrial_engine::api::ContainerState;
use retrial_host::assign::claims_overlap;
use retrial_store::StoreError;
use retrial_store::journal::{StepEnd, StepFault};

/// The longest wait for another run to create its container.
const LOCK_TIMEOUT: Duration = Duration::from_mins(10);
/// Folders that all users of a machine share and may write to, by mode 1777. The first existing one is used, so
/// that all users choose the same; `/tmp` may be private to a user.
const SHARED_FOLDERS: [&str; 3] = ["/run/lock", "/dev/shm", "/tmp"];
/// The lock file's name in that folder.
const LOCK_FILE_NAME: &str = "retrial-gpus.lock";
/// The interval after which the engine is queried again: it may have been restarted.
const ENGINE_RECHECK_INTERVAL: Duration = Duration::from_mins(1);

/// The GPUs that the run's container claims, for its label: addresses, or `all`.
pub fn gpu_claim(session: &RunSession) -> Option<String> {
    session.plan.requires.gpus.as_ref()?;
    let assigned = session.plan.assigned_gpus.as_ref();
    Some(assigned.map_or_else(|| "all".to_owned(), |assigned| assigned.claim_keys().join(",")))
}

/// Waits until no other container of ours has a GPU that this run needs. The returned lock is held until
/// the run's own container runs on them.
pub async fn claim_gpus(session: &StepSession<'_>) -> Result<Option<File>, Halt> {
    let Some(mine) = gpu_claim(session.run_session) else {
        return Ok(None);
    };
    let mut reported = String::new();
    loop {
        let lock = lock_claims(session.run_session).await?;
        let others = session.with_engine(|engine| engine.list_containers(GPU_LABEL)).await?;
        let is_of_another_run = |other: &&ContainerState| {
            other.running && label_value(other, RUN_LABEL) != session.run_session.run.id()
        };
        let of_other_runs: Vec<&ContainerState> = others.iter().filter(is_of_another_run).collect();
        let conflict =
            |other: &&ContainerState| claims_overlap(&mine, label_value(other, GPU_LABEL));
        let holders: Vec<&ContainerState> =
            of_other_runs.iter().copied().filter(conflict).collect();
        let Some(holder) = holders.first() else {
            return Ok(lock);
        };
        // Other runs may check meanwhile.
        drop(lock);
        let describe = |holders: &[&ContainerState]| {
            join(holders.iter().map(|holder| describe_holder(holder)), "; ")
        };
        if session.run_session.plan.no_wait {
            // Any GPU would have done if none was chosen: a free one would have been assigned.
            let is_any_gpu_enough = session.run_session.plan.gpus.is_empty();
            let holder_text = describe(if is_any_gpu_enough { &of_other_runs } else { &holders });
            let run = label_value(holder, RUN_LABEL);
            let advice = format!(
                "wait for it (without --no-wait), end it (retrial stop {run}), or choose others with --gpus"
            );
            return Err(Halt::failure(StepFault::Host, holder_text, advice));
        }
        let holder_text = describe(&holders);
        if reported != holder_text {
            session.warn(format!("waiting: {holder_text}"))?;
            reported = holder_text;
        }
        let ended = session.with_engine(|engine| engine.wait_for_exit(&holder.id));
        tokio::select! {
            // The result is ignored: the next check decides.
            _ = tokio::time::timeout(ENGINE_RECHECK_INTERVAL, ended) => {}
            () = session.run_session.stop.cancelled() => return Err(StepEnd::Stopped.into()),
        }
    }
}

fn describe_holder(holder: &ContainerState) -> String {
    let gpus = describe_gpus(label_value(holder, GPU_LABEL));
    format!("{gpus} in use by {}", describe_run(holder))
}

fn describe_gpus(claim: &str) -> String {
    match claim {
        "all" => "all GPUs are".to_owned(),
        gpu if !gpu.contains(',') => format!("GPU {gpu} is"),
        several => format!("GPUs {} are", several.replace(',', ", ")),
    }
}

/// Acquires the lock shared by all runs on this machine, of any user. It is released when its process ends.
async fn lock_claims(session: &RunSession) -> Result<Option<File>, StoreError> {
    let path = lock_path();
    let file = open_lock_file(&path).map_err(StoreError::io("open", &path))?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
            Err(TryLockError::WouldBlock)
                if since.elapsed() < LOCK_TIMEOUT && !session.stop.is_cancelled() =>
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
        }
    }
}

fn lock_path() -> PathBuf {
    let writable = |folder: &&&str| {
        let mode = std::fs::metadata(folder).map(|status| status.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o1777 == 0o1777)
    };
    let folder = SHARED_FOLDERS.iter().find(writable).unwrap_or(&"/tmp");
    Path::new(folder).join(LOCK_FILE_NAME)
}

/// Reading is enough to lock. Another user's file in a sticky folder may not be opened with
/// `O_CREAT` (`fs.protected_regular`), so it is created only if it does not exist.
fn open_lock_file(path: &Path) -> std::io::Result<File> {
    let open_existing = || -> std::io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    };
    match open_existing() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        other => return other,
    }
    let created = File::options().write(true).create_new(true).open(path);
    if let Ok(file) = &created {
        // Regardless of the umask.
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    match created {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => open_existing(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_can_be_locked_by_other_users() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        let first = open_lock_file(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
        first.try_lock().unwrap();
        let second = open_lock_file(&path).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        second.try_lock().unwrap();
        assert!(lock_path().ends_with(LOCK_FILE_NAME));
    }
}
