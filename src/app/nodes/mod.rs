//! Runs on several machines: their allocation, their comparison before the first step, and the process on each
//! machine other than the head.

mod agent;
mod allocation;
mod compare;
mod head;
mod shared;

pub use agent::serve;
pub use allocation::{NodeAllocation, parse};
pub use compare::{KnownMachine, MachineDifferences, compare, examine};
pub use head::begin;
pub use shared::{recipe_of, write_nonce};
