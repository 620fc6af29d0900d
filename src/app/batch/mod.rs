//! Batches of runs: from a file or a command line to a verdict on cells and claims.

pub mod array;
pub mod bisect;
pub mod cells;
pub mod estimate;
pub mod file;
pub mod follow;
pub mod judge;
pub mod planned;
pub mod record;
mod run_maker;
mod search;
pub mod start;
mod tags;
mod workers;
