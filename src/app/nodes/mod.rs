//! Runs on several machines: the head, and the process on each machine other than the head.

mod agent;
mod head;
mod shared_recipe;

pub use agent::{agent_log_path, serve_agent};
pub use head::start_machines;
pub use shared_recipe::read_shared_recipe;
