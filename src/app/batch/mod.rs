//! Batches of runs: from a file or a command line to a verdict on cells and claims.

pub mod array;
pub mod bisect;
pub mod cells;
pub mod estimate;
pub mod file;
pub mod follow;
pub mod judge;
mod make;
pub mod planned;
pub mod record;
mod search;
pub mod start;
mod watch;
mod workers;
