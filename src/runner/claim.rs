//! GPUs are claimed by the labelled container that runs on them, so a claim lives exactly as
//! long as the benchmark. A lock file guards only the time from looking to starting.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use super::container::{GPU_LABEL, RUN_LABEL};
use super::engine_back::with_engine;
use super::session::Session;
use crate::journal::{StepEnd, StepFault};
use crate::plan::step::Step;
use crate::store::StoreError;

/// How long another run may take to create its container.
const PATIENCE: Duration = Duration::from_mins(10);

/// The GPUs that the run's container claims, for its label: indices, or `all`.
pub fn claim_of(session: &Session) -> Option<String> {
    session.plan.requires.gpus.as_ref()?;
    Some(if session.plan.gpus.is_empty() {
        "all".to_owned()
    } else {
        session.plan.gpus.join(",")
    })
}

/// Held from looking whether the GPUs are free until the container runs on them.
pub enum Claim {
    /// The run may create its container.
    Free(Option<File>),
    /// It may not; this is the step's end.
    Taken(StepEnd),
}

/// Looks whether another container of ours has a GPU that this run wants.
pub async fn claim(session: &Session, step: &Step) -> Result<Claim, StoreError> {
    let Some(mine) = claim_of(session) else {
        return Ok(Claim::Free(None));
    };
    let lock = guard(session).await?;
    let others = match with_engine(session, step, || session.engine.containers(GPU_LABEL)).await {
        Ok(others) => others,
        Err(error) => return Ok(Claim::Taken(StepEnd::host(error.to_string()))),
    };
    let label =
        |labels: &std::collections::BTreeMap<String, String>, name| labels.get(name).cloned();
    let taken = others
        .iter()
        .filter(|other| other.running)
        .find_map(|other| {
            let run = label(&other.labels, RUN_LABEL).unwrap_or_default();
            let theirs = label(&other.labels, GPU_LABEL).unwrap_or_default();
            (run != session.run.id() && overlap(&mine, &theirs)).then_some((run, theirs))
        });
    Ok(match taken {
        None => Claim::Free(lock),
        Some((run, gpus)) => Claim::Taken(StepEnd::failed(
            StepFault::Host,
            format!("GPUs ({gpus}) are in use by run {run}"),
            format!(
                "wait for it (retrial logs -f {run}), end it (retrial stop {run}), or choose others with --gpus"
            ),
        )),
    })
}

/// Whether two claims name a GPU in common.
fn overlap(one: &str, other: &str) -> bool {
    let all = |claim: &str| claim.split(',').any(|gpu| gpu == "all");
    all(one)
        || all(other)
        || one
            .split(',')
            .any(|gpu| other.split(',').any(|theirs| theirs == gpu))
}

/// The lock of all runs of this home.
async fn guard(session: &Session) -> Result<Option<File>, StoreError> {
    let home = session
        .run
        .path()
        .parent()
        .and_then(Path::parent)
        .unwrap_or(session.run.path());
    let path = home.join("gpus.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
            Err(TryLockError::WouldBlock)
                if since.elapsed() < PATIENCE && !session.stop.is_cancelled() =>
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_overlap_by_whole_numbers() {
        assert!(overlap("0,1", "1,2"));
        assert!(!overlap("1", "10,11"));
        assert!(overlap("all", "3"));
        assert!(overlap("3", "all"));
    }
}
