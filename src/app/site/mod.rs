//! Runs on the nodes of a cluster: submitted as a job, followed by the files that the job writes
//! into the shared directory, stopped and resumed through the scheduler.
//!
//! - `find`: site files. `request`: the submission, before a node is known.
//! - `record`: the records of jobs in a run's directory.
//! - `submit`: one job at a time for a run, even if replies are lost.
//! - `follow`: follows a job by a `question` to Slurm and by the `events` that it writes, and shows it
//!   (`display`, and `waiting` for the queue). `stopping` ends it, `end` reports how the run ended.
//! - `node`: the first action of the job on its node.

mod display;
pub mod end;
mod events;
pub mod find;
pub mod follow;
pub mod incoming;
pub mod job_stopper;
pub mod node;
pub mod question;
pub mod record;
pub mod request;
mod start;
pub mod submit;
pub mod waiting;

pub use record::{is_submitted, job_of};
pub use start::{Liveness, found_or_saved, resume, run, stop};
