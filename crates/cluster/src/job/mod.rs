//! The job of a run, or of a batch's array: submitted once, followed by the files that it writes into the
//! shared directory and by Slurm's queue, and stopped through Slurm.
//!
//! - `target`: how jobs are submitted. `record`: the records of jobs in the directory of a run or an array.
//! - `submit`: one job at a time for a run, even if replies are lost.
//! - `queries`: Slurm's state of a job. `run_events`, `samples` and `incoming_file`: files that the job, or another
//!   process on this machine, writes. `liveness`: whether a run continues. `cause`: why it ended early.
//! - `stopper`: ends a job.

use std::time::Duration;

pub mod cause;
pub mod incoming_file;
pub mod liveness;
pub mod queries;
pub mod record;
pub mod run_events;
mod samples;
pub mod stopper;
pub mod submit;
pub mod target;

/// How long the journal of a job that is over may take to arrive through a network file system.
pub const JOURNAL_ARRIVAL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a job that Slurm does not list is searched for.
pub const MISSING_JOB_TIMEOUT: Duration = Duration::from_secs(30);
