//! Stops a job through Slurm: first TERM to Retrial in it, which ends the benchmark, keeps its evidence and
//! removes its container; after a grace period the job is cancelled.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::record::{self, JobEventKind};
use crate::error::ClusterError;
use crate::slurm::{JobPhase, Slurm, SlurmError};
use retrial_store::{RecordDirectory, StoreError};

/// How long Retrial may take to end the benchmark in its job.
const TERMINATION_GRACE_PERIOD: Duration = Duration::from_secs(90);
/// How long Slurm may take to end the job after it was cancelled.
const CANCELLATION_TIMEOUT: Duration = Duration::from_mins(3);
/// The time before a call of scancel that failed is repeated.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A job that is being ended.
pub struct JobStopper {
    slurm: Slurm,
    id: String,
    since: Instant,
    call: Option<JoinHandle<Result<StopRequest, SlurmError>>>,
    last_call: Option<(StopRequest, Instant)>,
    /// The last order that Slurm accepted.
    accepted_order: Option<StopRequest>,
}

/// A request to Slurm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopRequest {
    /// Do not start it.
    Withdraw,
    /// Send TERM to Retrial in it.
    Terminate,
    /// Cancel the job, which Slurm then kills.
    Cancel,
}

impl JobStopper {
    /// Ends the job of a run or an array from now on, and records that.
    ///
    /// # Errors
    /// If the request cannot be recorded.
    pub fn start(
        slurm: Slurm,
        id: String,
        directory: &RecordDirectory,
        note: impl FnOnce(&str),
    ) -> Result<Self, StoreError> {
        record::record_job_event(directory, JobEventKind::StopRequested)?;
        note(&format!("stopping job {id}; a second signal leaves it to Slurm"));
        Ok(Self {
            slurm,
            id,
            since: Instant::now(),
            call: None,
            last_call: None,
            accepted_order: None,
        })
    }

    /// The id that Slurm gave the job.
    pub fn job_id(&self) -> &str {
        &self.id
    }

    /// Calls scancel for a job in this phase, if that is due. Notes why the last call failed.
    ///
    /// # Errors
    /// If the job runs on long after it was cancelled.
    pub async fn advance(
        &mut self,
        phase: JobPhase,
        note: impl FnOnce(&str),
    ) -> Result<(), ClusterError> {
        if let Some(call) = self.call.take_if(|call| call.is_finished())
            && let Ok(result) = call.await
        {
            match result {
                Ok(order) => self.accepted_order = Some(order),
                Err(error) => note(&format!("waiting for Slurm: {error}")),
            }
        }
        let order = match phase {
            JobPhase::Ended => return Ok(()),
            _ if self.since.elapsed() > TERMINATION_GRACE_PERIOD + CANCELLATION_TIMEOUT => {
                return Err(ClusterError::StillRunning {
                    id: self.id.clone(),
                    timeout: CANCELLATION_TIMEOUT,
                });
            }
            _ if self.since.elapsed() > TERMINATION_GRACE_PERIOD => StopRequest::Cancel,
            JobPhase::Pending => StopRequest::Withdraw,
            JobPhase::Running => StopRequest::Terminate,
        };
        let is_due =
            |(tried, at): (StopRequest, Instant)| tried != order || at.elapsed() > RETRY_INTERVAL;
        let is_due = self.last_call.is_none_or(is_due);
        if self.call.is_none() && self.accepted_order != Some(order) && is_due {
            self.last_call = Some((order, Instant::now()));
            let (slurm, id) = (self.slurm.clone(), self.id.clone());
            self.call = Some(tokio::spawn(async move {
                match order {
                    StopRequest::Withdraw => slurm.cancel_pending(&id).await,
                    StopRequest::Terminate => slurm.terminate_script(&id).await,
                    StopRequest::Cancel => slurm.cancel(&id).await,
                }
                .map(|()| order)
            }));
        }
        Ok(())
    }
}
