//! Executes a plan, step by step, so that a kill of the tool loses nothing.
//!
//! The benchmark runs inside the container under `/.retrial/step`, which writes its output,
//! process group and exit code to the run's control directory; this module only starts,
//! follows and ends it. What happened is in the journal before the next thing begins, so
//! [`execute()`] can take up a run at any point.

pub mod control;
pub mod error;
pub mod execute;
pub mod models;
pub mod prepared;
pub mod quiet;
pub mod session;

mod claim;
mod collect;
mod container;
mod copy_out;
mod ending;
mod engine_back;
mod exec;
mod fill;
mod follow;
mod host;
mod image;
mod installed;
mod judge;
mod kept;
mod latest;
mod model_mounts;
mod model_view;
mod mount_check;
mod output;
mod place;
mod reattach;
mod redact;
mod seed;
mod skip;
mod watch;
mod watching;

pub use container::{GPU_LABEL, KEPT_LABEL, PATH_LABEL, RUN_LABEL, USER_LABEL};
pub use error::RunError;
pub use execute::{Ended, execute};
pub use judge::{evidence_of, judge_files, judge_run};
pub use prepared::Prepared;
pub use session::{Options, Session};
