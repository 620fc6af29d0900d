//! Recipe, options and host to an ordered list of steps. Pure data: printed or executed.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod access;
pub mod build;
pub mod cached_directory;
mod changes;
mod command_line;
pub mod commit;
mod derivation;
pub mod deviation;
pub mod difference;
pub mod download;
mod exec;
pub mod failure;
mod lookup;
pub mod measurement;
pub mod model;
pub mod options;
pub mod privilege;
mod recipe_files;
pub mod remaining;
mod rocm_use;
pub mod service;
pub mod shell;
mod sku;
pub mod step;
pub mod text;

pub use build::{PlanError, build_plan};
pub use changes::{OPTIONS_FILE, SMOKE_TEST_CHANGE};
pub use derivation::Derivation;
pub use lookup::service_containers;
pub use options::{KeepContainer, PlanOptions, PullPolicy};
pub use recipe_files::named_recipe_files;
pub use step::{Action, BatchPosition, Plan, Step, StepCondition};
