//! Recipe, options and host to an ordered list of steps. Pure data: printed or executed.

pub mod build;
pub mod cached;
mod command_line;
pub mod commit;
pub mod deviation;
pub mod download;
pub mod failure;
pub mod measurement;
pub mod model;
pub mod options;
pub mod privilege;
mod purpose;
pub mod remaining;
pub mod service;
pub mod shell;
mod sku;
pub mod step;
pub mod text;

pub use build::{PlanError, build};
pub use options::{Keep, PlanOptions, PullPolicy};
pub use step::{Action, Condition, OfBatch, Plan, Step};
