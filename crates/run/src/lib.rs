//! Executes a plan, step by step, so that killing the tool loses nothing.
//!
//! The benchmark runs inside the container under `/.retrial/step`, which writes its output,
//! process group and exit code to the run's control directory; this crate only starts,
//! follows and ends it. Each event is in the journal before the next step starts, so
//! [`execute_plan()`] can resume a run at any point.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod cache;
mod container;
mod control;
mod detection;
mod error;
mod execution;
mod image;
pub mod interrupt;
pub mod model;
mod mutex;
pub mod nodes;
mod prepared_run;
mod progress;
mod redact;
mod results;
mod service;
mod step;
mod telemetry;

pub use access::{RunSession, SessionOptions, measurement_lock};
pub use container::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, container_labels, describe_run,
    find_other_user, label_value, revoke_privileges_of_run,
};
pub use control::PACKAGES_SCRIPT;
pub use error::RunError;
pub use execution::{RunEnd, execute_plan};
pub use prepared_run::{PreparedRun, read_secrets};
pub use progress::MAX_SILENCE;
pub use redact::{hide_in_log, redact_log_text};
pub use results::judge::{
    RejudgeError, judge_files, judge_run, judge_run_by_recipe, read_complete_evidence,
    read_evidence,
};
pub use step::tail;
