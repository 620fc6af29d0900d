//! Batches of runs: from a file or a command line to a verdict on cells and claims.

mod cells;
pub mod file;
pub mod follow;
mod make;
pub mod record;
pub mod start;
mod watch;
mod workers;
