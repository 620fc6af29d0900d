//! Runs on several machines: which they are, how they are compared before the first step, and the process on
//! each of them besides the first.

mod agent;
mod allocation;
mod compare;
mod head;
mod shared;

pub use agent::serve;
pub use allocation::{Allocation, parse};
pub use compare::{Differences, KnownMachine, compare, facts};
pub use head::begin;
pub use shared::{nonce, recipe_of, write_nonce};
