//! Batches on the nodes of a cluster: a task for each round of the batch, submitted as arrays of jobs. Each
//! task is executed on one node as a batch is, with a journal of its own; followers only read.
//!
//! - `manifest`: the arrays in a batch's directory.
//! - `start`: `batch --site`, and `resume`, `stop` and `plan` of such a batch.
//! - `resubmission`: which tasks are to be submitted, and in which arrays.
//! - `follow`: follows arrays to their end, through the queue and the tasks' journals (`followed_task`).
//! - `conclude`: the verdict on all tasks, or the remaining ones.
//! - `task`: a task on its node.

mod conclude;
mod follow;
mod followed_task;
mod manifest;
mod resubmission;
mod start;
mod task;

pub use start::{
    SiteBatch, batch_target, first_array_script, plan_site_batch, stop_arrays, submit_and_follow,
};
pub use task::execute_task;
