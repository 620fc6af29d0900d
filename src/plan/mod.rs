//! Recipe, options and host to an ordered list of steps. Pure data: printed or executed.

pub mod build;
pub(crate) mod cached;
mod command_line;
pub(crate) mod commit;
pub(crate) mod deviation;
pub mod download;
mod exec;
pub(crate) mod failure;
mod lookup;
pub(crate) mod measurement;
pub(crate) mod model;
pub mod options;
pub(crate) mod privilege;
pub(crate) mod remaining;
pub(crate) mod service;
pub mod shell;
mod sku;
pub mod step;
pub mod text;

pub use build::{PlanError, build};
pub use lookup::own_containers;
pub use options::{Keep, PlanOptions, PullPolicy};
pub use step::{Action, Condition, OfBatch, Plan, Step};
