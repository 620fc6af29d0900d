//! The acceptance region of a claim: the log ratios that it accepts, and how an interval decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_readings::claim::Claim;

/// Rounding of logarithms: a figure exactly on the margin is within it.
const LOG_ROUNDING_ERROR: f64 = 1e-12;

/// The decision of an interval about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The claim holds.
    Holds,
    /// The claim does not hold.
    Worse,
    /// The interval does not decide.
    Open,
}

/// The log ratios that a claim accepts.
#[derive(Debug, Clone, Copy)]
pub struct AcceptanceRegion {
    claim: Claim,
    low: f64,
    high: f64,
}

impl AcceptanceRegion {
    /// Returns the region of a claim with a margin (a fraction).
    pub fn new(claim: Claim, margin: f64) -> Self {
        let low = (1.0 - margin).ln();
        match claim {
            Claim::NotWorse => Self { claim, low, high: f64::INFINITY },
            // As far above as below on the logarithm's scale: A is to B as B is to A.
            Claim::Equivalent => Self { claim, low: -low.abs(), high: low.abs() },
            Claim::Better => Self { claim, low: -low, high: f64::INFINITY },
        }
    }

    /// Decides by two one-sided bounds. For an equivalence each bound has its own test (Schuirmann's two
    /// one-sided tests), so the error stays that of one bound.
    pub fn decide(&self, lower: f64, upper: f64) -> Decision {
        let (low, high) = (self.low - LOG_ROUNDING_ERROR, self.high + LOG_ROUNDING_ERROR);
        match self.claim {
            // What is as good is not better.
            Claim::Better if lower > self.low + LOG_ROUNDING_ERROR => Decision::Holds,
            Claim::Better if upper <= self.low + LOG_ROUNDING_ERROR => Decision::Worse,
            Claim::Better => Decision::Open,
            _ if lower >= low && upper <= high => Decision::Holds,
            _ if upper < low || lower > high => Decision::Worse,
            _ => Decision::Open,
        }
    }

    /// Returns its edges as ratios: the lower one is 0 and the upper one infinite where there is none.
    pub fn edges(&self) -> (f64, f64) {
        (self.low.exp(), self.high.exp())
    }

    /// Returns the distance of a log ratio from the nearest edge of the region.
    pub fn distance_to_edge(&self, center: f64) -> f64 {
        (center - self.low).abs().min((self.high - center).abs())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Claim::NotWorse, 0.96, 0.99, Decision::Holds)]
    #[case(Claim::NotWorse, 0.95, 0.95, Decision::Holds)]
    #[case(Claim::NotWorse, 0.94, 0.99, Decision::Open)]
    #[case(Claim::NotWorse, 0.90, 0.949, Decision::Worse)]
    #[case(Claim::NotWorse, 1.20, 1.30, Decision::Holds)]
    #[case(Claim::Equivalent, 0.96, 1.04, Decision::Holds)]
    #[case(Claim::Equivalent, 0.95, 1.0 / 0.95, Decision::Holds)]
    #[case(Claim::Equivalent, 0.96, 1.06, Decision::Open)]
    #[case(Claim::Equivalent, 0.90, 0.94, Decision::Worse)]
    #[case(Claim::Equivalent, 1.06, 1.08, Decision::Worse)]
    fn decisions_with_a_margin_of_five_percent(
        #[case] claim: Claim,
        #[case] lower: f64,
        #[case] upper: f64,
        #[case] expected: Decision,
    ) {
        let region = AcceptanceRegion::new(claim, 0.05);
        assert_eq!(region.decide(lower.ln(), upper.ln()), expected);
    }

    #[rstest]
    #[case(1.001, 1.1, Decision::Holds)]
    #[case(1.0, 1.0, Decision::Worse)]
    #[case(0.99, 1.1, Decision::Open)]
    #[case(0.9, 0.99, Decision::Worse)]
    fn better_requires_more_than_not_worse(
        #[case] lower: f64,
        #[case] upper: f64,
        #[case] expected: Decision,
    ) {
        assert_eq!(
            AcceptanceRegion::new(Claim::Better, 0.0).decide(lower.ln(), upper.ln()),
            expected
        );
    }

    #[test]
    fn the_distance_is_to_the_nearest_edge() {
        let region = AcceptanceRegion::new(Claim::Equivalent, 0.05);
        let edge = -0.95_f64.ln();
        assert!((region.distance_to_edge(0.04) - (edge - 0.04)).abs() < 1e-12);
        assert!((region.distance_to_edge(-0.04) - (edge - 0.04)).abs() < 1e-12);
        assert!((region.distance_to_edge(0.2) - (0.2 - edge)).abs() < 1e-12);
    }
}
