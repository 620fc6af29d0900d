//! One part of a claim as a test: what it requires, and its outcome at an error.

use super::gap::GapTest;
use super::model::{ClaimPart, RequiredRatio};
use crate::verdict::outcome::ClaimOutcome;
use retrial_stats::{Decision, Difference};

/// A part, and how it is decided.
pub struct PartTest {
    /// The two sides and the required ratio; outcome, ratio and sentence are set once all parts are tested.
    pub part: ClaimPart,
    pub test: DecisionMethod,
}

/// How a part is decided.
pub enum DecisionMethod {
    /// Decided by the ratio of two samples.
    Ratio(Difference),
    /// Decided by the ratios of three samples.
    Gap(Box<GapTest>),
    /// Decided by the benchmark's own limits: there is no error.
    Limits(ClaimOutcome, String),
    /// Undecidable, since a side of it is missing or unusable: why, as a lower-case fragment.
    NotTestable(String),
}

impl PartTest {
    /// Returns whether it is one of the family of tests that shares the error.
    pub fn shares_error(&self) -> bool {
        matches!(self.test, DecisionMethod::Ratio(_) | DecisionMethod::Gap(_))
    }

    /// Returns its outcome with error `alpha` either way.
    pub fn outcome(&self, alpha: f64) -> ClaimOutcome {
        let holds = self.ratio_outcome(alpha);
        if self.part.required.negated { holds.negate() } else { holds }
    }

    /// Tests whether the ratio is as required.
    fn ratio_outcome(&self, alpha: f64) -> ClaimOutcome {
        match &self.test {
            DecisionMethod::Ratio(difference) => {
                let RequiredRatio { claim, margin, .. } = self.part.required;
                match claim.map(|claim| difference.decide(claim, margin, alpha)) {
                    Some(Decision::Holds) => ClaimOutcome::Supported,
                    Some(Decision::Worse) => ClaimOutcome::Contradicted,
                    Some(Decision::Open) | None => ClaimOutcome::NotDecided,
                }
            }
            DecisionMethod::Gap(gap) => gap.outcome(self.part.required.margin, alpha),
            DecisionMethod::Limits(outcome, _) => *outcome,
            DecisionMethod::NotTestable(_) => ClaimOutcome::NotDecided,
        }
    }
}
