//! Has Slurm end a job: TERM to Retrial in it first, which ends the benchmark, keeps its evidence and
//! removes its container; after a while the job.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::slurm::{JobPhase, Slurm, SlurmError};

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
    call: Option<JoinHandle<Result<Order, SlurmError>>>,
    tried: Option<(Order, Instant)>,
    /// The last one that Slurm took.
    taken: Option<Order>,
}

/// What Slurm is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Do not start it.
    Withdraw,
    /// Send TERM to Retrial in it.
    Terminate,
    /// End it.
    Cancel,
}

impl Stopping {
    /// From now on.
    pub fn start(slurm: Slurm, id: String) -> Self {
        Self {
            slurm,
            id,
            since: Instant::now(),
            call: None,
            tried: None,
            taken: None,
        }
    }

    /// Whether Slurm has had its time, too.
    pub fn is_over(&self) -> bool {
        self.since.elapsed() > GRACE + END
    }

    /// Calls scancel for a job in this phase, if that is due. Returns why the last call failed.
    pub async fn next(&mut self, phase: JobPhase) -> Option<SlurmError> {
        let mut failed = None;
        if let Some(call) = self.call.take_if(|call| call.is_finished())
            && let Ok(result) = call.await
        {
            match result {
                Ok(order) => self.taken = Some(order),
                Err(error) => failed = Some(error),
            }
        }
        let order = match phase {
            _ if self.since.elapsed() > GRACE => Order::Cancel,
            JobPhase::Waiting => Order::Withdraw,
            JobPhase::Active => Order::Terminate,
            JobPhase::Over => return None,
        };
        let is_due = match self.tried {
            Some((tried, at)) if tried == order => at.elapsed() > AGAIN,
            _ => true,
        };
        if self.call.is_none() && self.taken != Some(order) && is_due {
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
        failed
    }
}
