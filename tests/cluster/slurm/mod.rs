//! Runs on a site: the real program and Slurm's programs. `fake` has stand-ins of the latter for what
//! the real ones cannot be made to show, and needs no engine; `cluster` is on the lab's cluster.
#![allow(clippy::unwrap_used, reason = "tests")]

mod cluster;
mod cluster_batch;
mod fake;
mod fake_batch;
mod program;
