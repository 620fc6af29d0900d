//! What one process has of a run while it executes it: plan, journal and events, the way to the engine, the run's
//! directories, and its turn to measure. Nothing here executes a step.

pub mod directories;
mod engine;
pub mod measurement_lock;
mod run_values;
mod session;

pub use run_values::fill_run_values;
pub use session::{RunSession, SessionOptions};
