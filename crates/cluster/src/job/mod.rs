//! The job of a run, or of a batch's array: submitted once, followed by the files that it writes into the
//! shared directory and by Slurm's queue, and stopped through Slurm.
//!
//! - `target`: how jobs are submitted. `record`: the records of jobs in the directory of a run or an array.
//! - `submit`: one job at a time for a run, even if replies are lost.
//! - `queries`: Slurm's state of a job. `events` and `incoming_journal`: what the job writes.
//! - `stopper`: ends a job.

pub mod events;
pub mod incoming_journal;
pub mod queries;
pub mod record;
pub mod stopper;
pub mod submit;
pub mod target;
