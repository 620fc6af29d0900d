//! From a batch file, or a command line with `--vary`, to cells and the order in which they run.
//! Pure: texts of recipes come from the catalog.
//!
//! ```text
//! text ──read──▶ Batch ──plan(recipes)──▶ BatchPlan: cells, what is left out, schedule, claims
//! ```
//!
//! A cell is one recipe with one value of each axis; a turn is one trial of a cell, and each turn is
//! an ordinary run. Who executes it, what came of it and how that is judged stand elsewhere
//! (`runner::batch`, `verdict::batch`).

mod cell;
mod claim;
pub mod journal;
mod keys;
mod known;
mod matrix;
mod model;
mod names;
mod outlook;
mod read;
pub mod run;
mod schedule;
pub mod schema;
mod typed;
mod values;
pub mod verdict;
mod yaml;

pub use cell::{BatchPlan, Cell, LeftOut, Omission};
pub use claim::{Claim, Part, Says};
pub use known::Known;
pub use matrix::plan;
pub use model::{
    Axis, Batch, BatchRecipe, Combination, Conduct, OnFailure, Order, Other, Placed, PullAhead,
    WrittenClaim, WrittenOther,
};
pub use names::same_scenario;
pub use outlook::{ImageNeed, ImageSource, ModelNeed, Outlook, ResolvedCell};
pub use read::{is_batch, read, read_as_far};
pub use schedule::{Schedule, Turn};
pub use typed::Typed;
pub use values::Values;
pub use yaml::text as yaml;

#[cfg(test)]
mod tests;
