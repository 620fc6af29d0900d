//! The execution of a plan by one process: `steps` executes one after the other, `skip` decides which are not
//! executed, and `step` records the start and the end of one. Its work is done on the machines that have it
//! (`peers`), again if its container is replaced (`retry`), by its `action`.
//!
//! A process that continues a run begins with `reattach`. What follows from the ends of the steps is the run's `outcome`.

mod action;
mod outcome;
mod peers;
mod reattach;
mod repetition;
mod retry;
mod skip;
mod step;
mod steps;

pub use reattach::open_run;
pub use step::execute_step;
pub use steps::execute_plan;

use crate::access::RunSession;
use crate::access::measurement_lock::SharedGuard;
use crate::telemetry::TelemetryRecorder;
use outcome::RunOutcome;
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_store::journal::AbortReason;

#[derive(Debug)]
pub struct RunEnd {
    pub verdict: Option<Verdict>,
    pub exit: ExitCode,
    /// The reason, if it ended early.
    pub reason: Option<AbortReason>,
}

/// The execution of the plan by one process.
pub struct RunExecution<'a> {
    session: &'a RunSession,
    /// Steps that are not executed again.
    pub completed_steps: Vec<u32>,
    outcome: RunOutcome,
    verdict: Option<Verdict>,
    pub telemetry: TelemetryRecorder,
    /// Held from the first measurement to the last.
    measuring: Option<SharedGuard>,
}
