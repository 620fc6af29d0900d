//! Runs and batches on the nodes of a cluster. Prints nothing, and reacts to no signal: commands do.
//!
//! - `array`: the arrays of a batch, and which of its tasks are submitted again.
//! - `job`: the job of a run or of a batch's array: submitted, followed and stopped.
//! - `nodes`: the machines of a run on several.
//! - `site_files`: finds site files.
//! - `site`: the files that define how jobs are submitted, and the script of a job. Pure.
//! - `slurm`: Slurm's programs.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod array;
pub mod error;
pub mod job;
pub mod nodes;
pub mod site;
pub mod site_files;
pub mod slurm;
