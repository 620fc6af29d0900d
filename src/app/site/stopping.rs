//! Stops a job through Slurm: first TERM to Retrial in it, which ends the benchmark, keeps its evidence and
//! removes its container; after a grace period the job is cancelled.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::record::{self, JobEventKind};
use crate::app::failure::Failure;
use retrial_document::measures::format;
use retrial_slurm::{JobPhase, Slurm, SlurmError};
use retrial_store::{Record, StoreError};

/// How long Retrial may take to end the benchmark in its job.
const GRACE: Duration = Duration::from_secs(90);
/// How long Slurm may take to end the job after it was cancelled.
const END: Duration = Duration::from_mins(3);
/// The time before a call of scancel that failed is repeated.
const AGAIN: Duration = Duration::from_secs(5);

/// A job that is being ended.
pub struct Stopping {
    slurm: Slurm,
    id: String,
    since: Instant,
    call: Option<JoinHandle<Result<Order, SlurmError>>>,
    tried: Option<(Order, Instant)>,
    /// The last order that Slurm accepted.
    accepted: Option<Order>,
}

/// A request to Slurm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Do not start it.
    Withdraw,
    /// Send TERM to Retrial in it.
    Terminate,
    /// Cancel the job, which Slurm then kills.
    Cancel,
}

impl Stopping {
    /// Ends the job of a run or an array from now on, and records that.
    pub fn start(
        slurm: Slurm,
        id: String,
        directory: &Record,
        note: impl FnOnce(&str),
    ) -> Result<Self, StoreError> {
        record::record(directory, JobEventKind::StopRequested)?;
        note(&format!(
            "stopping job {id}; a second signal leaves it to Slurm"
        ));
        Ok(Self {
            slurm,
            id,
            since: Instant::now(),
            call: None,
            tried: None,
            accepted: None,
        })
    }

    /// Calls scancel for a job in this phase, if that is due. Notes why the last call failed.
    pub async fn next(&mut self, phase: JobPhase, note: impl FnOnce(&str)) -> Result<(), Failure> {
        if let Some(call) = self.call.take_if(|call| call.is_finished())
            && let Ok(result) = call.await
        {
            match result {
                Ok(order) => self.accepted = Some(order),
                Err(error) => note(&format!("waiting for Slurm: {error}")),
            }
        }
        let order = match phase {
            JobPhase::Over => return Ok(()),
            _ if self.since.elapsed() > GRACE + END => {
                return Err(Failure::host(format!(
                    "job {} has not ended {} after it was cancelled",
                    self.id,
                    format::limit(END.as_secs())
                ))
                .with_help(format!("see it: squeue -j {}", self.id)));
            }
            _ if self.since.elapsed() > GRACE => Order::Cancel,
            JobPhase::Waiting => Order::Withdraw,
            JobPhase::Active => Order::Terminate,
        };
        let is_due = |(tried, at): (Order, Instant)| tried != order || at.elapsed() > AGAIN;
        let is_due = self.tried.is_none_or(is_due);
        if self.call.is_none() && self.accepted != Some(order) && is_due {
            self.tried = Some((order, Instant::now()));
            let (slurm, id) = (self.slurm.clone(), self.id.clone());
            self.call = Some(tokio::spawn(async move {
                match order {
                    Order::Withdraw => slurm.cancel_waiting(&id).await,
                    Order::Terminate => slurm.terminate(&id).await,
                    Order::Cancel => slurm.cancel(&id).await,
                }
                .map(|()| order)
            }));
        }
        Ok(())
    }
}
