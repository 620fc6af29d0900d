//! The start of a run, which each command that starts one goes through in the same order. A step takes what the one
//! before it returns, so that none can be skipped:
//!
//! ```text
//! open ──▶ OpenedRecipe ──plan──▶ PlannedRun ──check──▶ CheckedRun ──approve──▶ ApprovedPlan ──prepare──▶ PreparedRun ──start
//! ```
//!
//! `run` takes them all. A run on a site is prepared on its node (`resume --in-job`), other machines of a run by their
//! agents, and the trial runs of a batch each before it starts: what they prepare is an approved plan, too.
//!
//! The other files are what the steps use: `paths` (what approval must know of each path, and the copy of the recipe's
//! files), `host_mounts`, `approvals` (remembered answers), `secrets`, `stand_ins`, `missing_requirements`, `preflight` (what `doctor`
//! examines, too) with `image_probe`, `network`, `gpu_support` and `free_space`, and `background`.

mod approvals;
mod approve;
mod approved_plan;
pub mod background;
mod check;
pub mod free_space;
pub mod gpu_support;
mod host_mounts;
mod image_probe;
mod known_issues;
pub mod missing_requirements;
mod network;
mod open;
mod paths;
mod plan;
pub mod preflight;
mod prepare;
mod prepare_error;
mod secrets;
pub mod stand_ins;
mod start;

pub use approve::{approval_key, require_approved};
pub use approved_plan::ApprovedPlan;
pub use check::{CheckedRun, RefusedRun};
pub use open::{BatchFile, OpenedRecipe, find_recipe};
pub use paths::check_paths_again;
pub use plan::{PlannedRun, is_moving_name};
pub use prepare_error::PrepareError;
pub use start::{continue_run, start_run};
