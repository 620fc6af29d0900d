//! Claims that one figure is better than another, or as good: how each part is tested, all of them corrected for one
//! another, a sentence for each.
//!
//! 1. [`ClaimPart`]: two figures, and the required ratio; [`PartTest`]: how it is decided.
//! 2. [`judge_claims`]: the error is shared between all parts of all claims (Holm).
//! 3. `figure_claim`: the claims of a recipe, between figures of one run. Those of a batch are between its cells.

mod figure_claim;
mod gap;
mod judge;
mod model;
mod part;
mod sentence;

pub use super::outcome::ClaimOutcome;
pub(crate) use figure_claim::judge_figure_claims;
pub use gap::GapTest;
pub use judge::{TestedClaim, judge_claims};
pub use model::{ClaimPart, ClaimVerdict, Gap, RequiredRatio, Statistic};
pub use part::{DecisionMethod, PartTest};
pub use sentence::summarize_claims;
