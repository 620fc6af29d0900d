//! Executes a plan, step by step, so that killing the tool loses nothing.
//!
//! The benchmark runs inside the container under `/.retrial/step`, which writes its output,
//! process group and exit code to the run's control directory; this crate only starts,
//! follows and ends it. Each event is in the journal before the next step starts, so
//! [`execute()`] can resume a run at any point.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod control;
mod error;
mod execute;
mod measured;
pub mod measurement_lock;
pub mod models;
pub mod nodes;
mod prepared;
mod session;

mod cache_mounts;
mod cached;
mod claim;
mod collect;
mod container;
mod copy_out;
mod course;
mod create;
mod directories;
mod engine_access;
mod exec;
mod exit;
mod extract;
mod failure;
mod follow;
mod host;
mod image;
mod installed;
pub mod interrupt;
mod judge;
mod labels;
mod mirror;
mod model_mounts;
mod model_view;
mod mount_check;
mod mutex;
mod output;
mod populate;
mod progress;
mod readiness;
mod reattach;
mod redact;
mod replace;
mod restore_results;
mod run_values;
mod seed;
mod service;
mod skip;
mod sources;
mod step_line;
mod step_session;
pub mod tail;
mod target;
mod telemetry;
mod terminate;
mod watch;
mod watched;

pub use control::PACKAGES;
pub use error::RunError;
pub use execute::{Ended, execute};
pub use judge::{evidence_of, judge_files, judge_run};
pub use labels::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, label, labels_of, other_user, run_of,
};
pub use prepared::{Prepared, secrets};
pub use session::{Options, Session};
pub use sources::record_links;
