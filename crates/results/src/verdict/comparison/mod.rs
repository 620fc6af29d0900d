//! One measurement against another: is it faster, by how much, and is that more than noise?
//!
//! [`Difference`](retrial_stats::Difference) is the statistics: two samples of trials, paired or not,
//! with bounds on their ratio and every claim of [`Claim`](retrial_recipe::model::Claim) (not worse,
//! equivalent, better).
//! [`compare()`] puts whole runs side by side: every figure that both have, Holm's correction over
//! all of them, and a limit that fails a build.

mod build;
mod environment;
mod fact;
mod measurement;
mod model;
mod options;
mod pair;
mod sentence;
mod stacks;
mod subject;

pub use build::compare;
pub use environment::{AlikeFact, EnvironmentFact, EnvironmentGroup, environments};
pub use fact::{Fact, FactGroup};
pub use measurement::{MeasuredFigure, Measurement, TelemetryFigure};
pub use model::{Change, ComparedFigure, Comparison, Comparisons, MeasuredSide, SubjectSummary};
pub use options::{FailIf, FailIfError, Options};
pub use stacks::is_known_stack;
pub use subject::Subject;

pub use build::{are_named, changes, pair_up};
pub use pair::{Measured, Pair};
pub use sentence::of as sentence;

#[cfg(test)]
mod tests;
