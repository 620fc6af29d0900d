//! The arrays of a batch on a cluster: a task for each round of the batch, with a journal of its own, which followers
//! only read.
//!
//! - `manifest`: the arrays in a batch's directory.
//! - `resubmission`: which tasks are to be submitted, and in which arrays.
//! - `session`: the arrays of the batch's latest session.
//! - `followed_task`: the state of a task, as its journal and Slurm show it.

pub mod followed_task;
pub mod manifest;
pub mod resubmission;
pub mod session;
