//! Runs on several machines: their allocation, their comparison before the first step, and the process on each
//! machine other than the head.

mod agent;
mod allocation;
mod compare;
mod head;
mod shared_files;

pub use agent::serve_agent;
pub use allocation::{NodeAllocation, parse_nodes_option};
pub use compare::{KnownMachine, MachineDifferences, compare_machines, examine_machine};
pub use head::start_machines;
pub use shared_files::{read_shared_recipe, write_nonce};
