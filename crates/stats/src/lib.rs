//! Ratios of repeated measurements to a reference or to each other, with one-sided bounds, and the
//! decisions that follow. Pure: numbers in, numbers out; nothing here knows a benchmark.
//!
//! ```
//! use retrial_stats::{Aggregate, AcceptanceRegion, Better, Claim, Decision, Estimate, ReferenceComparison};
//!
//! let comparison = ReferenceComparison {
//!     reference: 100.0,
//!     sigma: 0.0,
//!     better: Better::Higher,
//!     aggregate: Aggregate::Mean,
//!     noise: None,
//!     rounding_error: 0.0,
//!     typical: true,
//! };
//! let estimate = Estimate::from_trials(&[99.1, 99.4, 99.2], &comparison);
//! let (lower, upper) = estimate.bounds(0.05).expect("three trials have bounds");
//! let decision = AcceptanceRegion::new(Claim::NotWorse, 0.05).decide(lower, upper);
//! assert_eq!(decision, Decision::Holds);
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod descriptive;
mod difference;
mod estimate;
mod holm;
mod more_trials;
mod order_effect;
mod outliers;
mod quantile;
mod region;
mod sample;
mod scatter;
pub mod search;
mod slow_trials;
mod standard_error;

pub use descriptive::median;
pub use difference::Difference;
pub use estimate::{BoundsMethod, Estimate, ReferenceComparison, aggregate_trials};
pub use holm::holm_step_down;
pub use more_trials::{MoreTrials, estimate_more_trials};
pub use order_effect::OrderEffect;
pub use outliers::find_outliers;
pub use quantile::student_quantile;
pub use region::{AcceptanceRegion, Decision};
pub use retrial_readings::claim::{Aggregate, Better, Claim};
pub use sample::{Sample, TrialVariance};
pub use scatter::Scatter;
