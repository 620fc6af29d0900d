//! One measurement against another: is it faster, by how much, and is that more than noise?
//!
//! [`Difference`](retrial_stats::Difference) is the statistics: two samples of trials, paired or not,
//! with bounds on their ratio and every claim of [`Claim`](retrial_recipe::model::Claim) (not worse,
//! equivalent, better).
//! [`compare_subjects()`] puts whole runs side by side: every figure that both have, Holm's correction over
//! all of them, and a limit that fails a build.

mod build;
pub mod components;
mod environment;
mod fact;
mod joint_change;
mod measurement;
mod model;
mod options;
mod pair;
mod sentence;
mod stacks;
mod subject;

pub use build::compare_subjects;
pub use environment::{
    AlikeFact, EnvironmentFact, EnvironmentGroup, RECIPE_DIGEST, RECIPE_NAME, VARIANT_PREFIX,
    compare_fact_groups,
};
pub use fact::{Fact, FactGroup};
pub use joint_change::{StackVersions, describe_joint_change, describe_joint_changes};
pub(crate) use measurement::measured_figure;
pub use measurement::{MeasuredFigure, PooledMeasurement, TelemetryFigure};
pub use model::{Change, ComparedFigure, Comparison, Comparisons, MeasuredSide, SubjectSummary};
pub use options::{ComparisonOptions, FailIf, FailIfError};
pub use stacks::is_known_stack;
pub use subject::ComparisonSubject;

pub use build::{corrected_changes, differ_in_benchmarks, pair_up};
pub use pair::{FigurePair, SideMeasurement};
pub use sentence::describe_comparison as sentence;
pub(super) use sentence::describe_ratio;

#[cfg(test)]
mod tests;
