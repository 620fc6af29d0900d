//! Recipe, choices and host to an ordered list of steps. Pure data: printed or executed.

pub mod build;
pub mod choices;
pub mod commit;
pub mod kept;
pub mod measurement;
pub mod model;
pub mod privilege;
pub mod shell;
mod sku;
pub mod step;
pub mod text;

pub use build::{PlanError, build};
pub use choices::{Keep, PlanOptions, PullPolicy};
pub use step::{Action, Condition, OfBatch, Plan, Step};
