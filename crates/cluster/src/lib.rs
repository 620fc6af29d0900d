//! Runs and batches on the nodes of a cluster.
//!
//! - `site`: the files that define how jobs are submitted, and the script of a job. Pure.
//! - `slurm`: Slurm's programs.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod site;
pub mod slurm;
