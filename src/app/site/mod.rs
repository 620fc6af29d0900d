//! Runs on the nodes of a cluster: submitted as a job, followed by the files that the job writes
//! into the shared directory, stopped and resumed through the scheduler.
//!
//! - `site_files`: site files. `request`: the submission, before a node is known.
//! - `record`: the records of jobs in a run's directory.
//! - `submit`: one job at a time for a run, even if replies are lost.
//! - `follow`: follows a job by `slurm_queries` and by the `events` that it writes, and shows it
//!   (`display`, and `waiting_line` for the queue). `job_stopper` ends it, `end` reports how the run ended.
//! - `node`: the first action of the job on its node.

mod display;
pub mod end;
mod events;
pub mod follow;
pub mod incoming_journal;
pub mod job_stopper;
pub mod node;
pub mod record;
pub mod request;
pub mod site_files;
pub mod slurm_queries;
mod start;
pub mod submit;
pub mod waiting_line;

pub use record::{is_submitted, latest_job_id};
pub use start::{Liveness, open_or_saved_site, resume_run, stop_run, submit_run};
