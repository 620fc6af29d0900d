//! Executes a plan, step by step, so that killing the tool loses nothing.
//!
//! The benchmark runs inside the container under `/.retrial/step`, which writes its output,
//! process group and exit code to the run's control directory; this module only starts,
//! follows and ends it. Each event is in the journal before the next step starts, so
//! [`execute()`] can resume a run at any point.

mod control;
mod error;
mod execute;
mod measured;
pub(crate) mod measurement_lock;
pub(crate) mod models;
pub(crate) mod nodes;
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
mod engine_retry;
mod exec;
mod exit;
mod extract;
mod failure;
mod follow;
mod host;
mod image;
mod installed;
pub(crate) mod interrupt;
mod judge;
mod labels;
mod mirror;
mod model_mounts;
mod model_view;
mod mount_check;
mod output;
mod populate;
mod progress;
mod readiness;
mod reattach;
mod redact;
mod restore_results;
mod run_values;
mod seed;
mod service;
mod skip;
mod step_line;
mod step_session;
pub(crate) mod tail;
mod target;
mod telemetry;
mod terminate;
mod watch;
mod watched;

pub(crate) use control::PACKAGES;
pub use error::RunError;
pub use execute::{Ended, execute};
pub use judge::judge_run;
pub(crate) use judge::{evidence_of, judge_files};
pub(crate) use labels::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, USER_LABEL, labels_of, other_user,
};
pub(crate) use prepared::Prepared;
pub use session::{Options, Session};
