//! Has Slurm end a job: TERM to Retrial in it first, which ends the benchmark, keeps its evidence and
//! removes its container; after a while the job.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::slurm::{Slurm, SlurmError};

/// How long Retrial may take in its job.
const GRACE: Duration = Duration::from_secs(90);
/// How long Slurm may take after that.
pub const END: Duration = Duration::from_mins(3);
/// Before a call that failed is made again.
const AGAIN: Duration = Duration::from_secs(5);

/// A job that is to end.
pub struct Stopping {
    slurm: Slurm,
    id: String,
    since: Instant,
    /// The job itself is to be cancelled.
    is_late: bool,
    call: Option<JoinHandle<Result<(), SlurmError>>>,
    called: Option<Instant>,
    is_done: bool,
}

impl Stopping {
    /// From now on.
    pub fn start(slurm: Slurm, id: String) -> Self {
        Self {
            slurm,
            id,
            since: Instant::now(),
            is_late: false,
            call: None,
            called: None,
            is_done: false,
        }
    }

    /// Whether Slurm has had its time, too.
    pub fn is_over(&self) -> bool {
        self.since.elapsed() > GRACE + END
    }

    /// Calls scancel if that is due. Returns why the last call failed.
    pub async fn next(&mut self) -> Option<SlurmError> {
        let mut failed = None;
        if let Some(call) = self.call.take_if(|call| call.is_finished())
            && let Ok(result) = call.await
        {
            self.is_done = result.is_ok();
            failed = result.err();
        }
        if !self.is_late && self.since.elapsed() > GRACE {
            self.is_late = true;
            self.is_done = false;
        }
        let is_due = self.called.is_none_or(|called| called.elapsed() > AGAIN);
        if self.call.is_none() && !self.is_done && is_due {
            self.called = Some(Instant::now());
            let (slurm, id, is_late) = (self.slurm.clone(), self.id.clone(), self.is_late);
            self.call = Some(tokio::spawn(async move {
                if is_late {
                    return slurm.cancel(&id).await;
                }
                slurm.cancel_waiting(&id).await?;
                slurm.terminate(&id).await
            }));
        }
        failed
    }
}
