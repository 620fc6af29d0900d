//! From a batch file, or a command line with `--vary`, to cells and the order in which they run.
//! Pure: texts of recipes come from the catalog.
//!
//! ```text
//! text ──read──▶ Batch ──plan(recipes)──▶ BatchPlan: cells, exclusions, schedule, claims
//! ```
//!
//! A cell is one recipe with one value of each axis; a trial run is one trial of a cell, and each trial run is
//! an ordinary run. `run` executes them, and `verdict` judges what came of them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod accuracy;
mod axis_domain;
mod cell;
mod check_names;
mod claim;
mod cli_overrides;
mod estimate;
mod joint_changes;
pub mod journal;
mod listed_values;
mod matrix;
mod model;
mod names;
mod plan;
mod planned_figures;
mod read;
pub mod run;
mod schedule;
pub mod schema;
pub mod search;
mod values;
pub mod verdict;
mod yaml;

pub use axis_domain::AxisDomain;
pub use cell::{Cell, ExcludedCell, ExclusionReason};
pub use claim::{Assertion, BatchClaim, CellPair, warn_of_unmeasured_accuracy};
pub use cli_overrides::{CliOverrides, search_title};
pub use estimate::{BatchEstimate, ImageNeed, ImageSource, ModelNeed, ResolvedCell};
pub use listed_values::fill_axes;
pub use matrix::plan_batch;
pub use model::{
    Batch, BatchExecution, BatchRecipe, Combination, ExternalResult, ExternalRuns, OnFailure,
    PullAhead, RunOrder, Spanned, WrittenAxis, WrittenClaim,
};
pub use plan::BatchPlan;
pub use read::{is_batch, read_batch};
pub use schedule::{Schedule, TrialRun};
pub use values::NamedValues;
pub use yaml::to_yaml as yaml;

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::pedantic, clippy::unwrap_used, reason = "tests")]
pub mod tests;
