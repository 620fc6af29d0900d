//! Batches on the nodes of a cluster: a task for each round of the batch, submitted as arrays of jobs. Each
//! task is executed on one node as a batch is, with a journal of its own; followers only read.
//!
//! - `start`: `batch --site`, and `resume`, `stop` and `plan` of such a batch.
//! - `followed_arrays`: their state while they are followed.
//! - `conclude`: the verdict on all tasks, or the remaining ones.
//! - `task`: a task on its node.

mod conclude;
mod followed_arrays;
mod start;
mod task;

pub use start::{
    SiteBatch, batch_target, first_array_script, plan_site_batch, stop_arrays, submit_and_follow,
};
pub use task::execute_task;
