//! Executes a plan, step by step, so that killing the tool loses nothing.
//!
//! The benchmark runs inside the container under `/.retrial/step`, which writes its output,
//! process group and exit code to the run's control directory; this crate only starts,
//! follows and ends it. Each event is in the journal before the next step starts, so
//! [`execute()`] can resume a run at any point.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod cache;
mod container;
mod control;
mod error;
mod execute;
mod failure;
mod failure_tracker;
mod image;
pub mod interrupt;
pub mod model;
mod mutex;
pub mod nodes;
mod prepared;
mod progress;
mod redact;
mod results;
mod service;
mod step;
mod telemetry;

pub use access::{RunSession, SessionOptions, measurement_lock};
pub use container::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, label, labels_of, other_user,
    record_links, run_of,
};
pub use control::PACKAGES;
pub use error::RunError;
pub use execute::{RunEnd, execute};
pub use prepared::{PreparedRun, secrets};
pub use results::judge::{evidence_of, judge_files, judge_run};
pub use step::tail;
