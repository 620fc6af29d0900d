//! Runs on the nodes of a cluster: submitted as a job, followed by the files that the job writes
//! into the shared directory, stopped and resumed through the scheduler.
//!
//! - `site_files`: site files. `request`: the submission, before a node is known.
//! - `start`: submits, resumes and stops a run.
//! - `follow`: follows the job of a run (`run_job`) or the arrays of a batch. `end` reports how the run ended.
//! - `node`: the first action of the job on its node.

pub mod end;
pub mod follow;
pub mod node;
pub mod request;
mod run_job;
pub mod site_files;
mod start;

pub use start::{has_job, open_or_saved_site, resume_run, stop_run, submit_run};
