//! What is asked of a figure: the log ratios that a claim and its margin let through, and on which
//! side of them an interval lies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recipe::model::Claim;

/// Rounding of logarithms: a figure that lies exactly on the margin is no worse than asked.
const ROUNDING: f64 = 1e-12;

/// On which side of what was asked a figure lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What was asked holds.
    Holds,
    /// It does not.
    Worse,
    /// Not decided.
    Open,
}

/// The log ratios that a claim lets through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    claim: Claim,
    low: f64,
    high: f64,
}

impl Asked {
    /// Of a claim with a margin, a fraction.
    pub fn of(claim: Claim, margin: f64) -> Self {
        let low = (1.0 - margin).ln();
        match claim {
            Claim::NotWorse => Self {
                claim,
                low,
                high: f64::INFINITY,
            },
            // As far above as below on the logarithm's scale: A is to B as B is to A.
            Claim::Equivalent => Self {
                claim,
                low: -low.abs(),
                high: low.abs(),
            },
            Claim::Better => Self {
                claim,
                low: -low,
                high: f64::INFINITY,
            },
        }
    }

    /// Where one-sided bounds lie. For an equivalence each bound has its own test (Schuirmann's two
    /// one-sided tests), so the error stays that of one bound.
    pub fn side(&self, lower: f64, upper: f64) -> Side {
        let (low, high) = (self.low - ROUNDING, self.high + ROUNDING);
        match self.claim {
            // What is as good is not better.
            Claim::Better if lower > self.low + ROUNDING => Side::Holds,
            Claim::Better if upper <= self.low + ROUNDING => Side::Worse,
            Claim::Better => Side::Open,
            _ if lower >= low && upper <= high => Side::Holds,
            _ if upper < low || lower > high => Side::Worse,
            _ => Side::Open,
        }
    }

    /// How far a log ratio lies from the nearest edge.
    pub fn distance(&self, center: f64) -> f64 {
        (center - self.low).abs().min((self.high - center).abs())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Claim::NotWorse, 0.96, 0.99, Side::Holds)]
    #[case(Claim::NotWorse, 0.95, 0.95, Side::Holds)]
    #[case(Claim::NotWorse, 0.94, 0.99, Side::Open)]
    #[case(Claim::NotWorse, 0.90, 0.949, Side::Worse)]
    #[case(Claim::NotWorse, 1.20, 1.30, Side::Holds)]
    #[case(Claim::Equivalent, 0.96, 1.04, Side::Holds)]
    #[case(Claim::Equivalent, 0.95, 1.0 / 0.95, Side::Holds)]
    #[case(Claim::Equivalent, 0.96, 1.06, Side::Open)]
    #[case(Claim::Equivalent, 0.90, 0.94, Side::Worse)]
    #[case(Claim::Equivalent, 1.06, 1.08, Side::Worse)]
    fn with_a_margin_of_five_percent(
        #[case] claim: Claim,
        #[case] lower: f64,
        #[case] upper: f64,
        #[case] expected: Side,
    ) {
        let asked = Asked::of(claim, 0.05);
        assert_eq!(asked.side(lower.ln(), upper.ln()), expected);
    }

    #[rstest]
    #[case(1.001, 1.1, Side::Holds)]
    #[case(1.0, 1.0, Side::Worse)]
    #[case(0.99, 1.1, Side::Open)]
    #[case(0.9, 0.99, Side::Worse)]
    fn better_is_more_than_as_good(#[case] lower: f64, #[case] upper: f64, #[case] expected: Side) {
        assert_eq!(
            Asked::of(Claim::Better, 0.0).side(lower.ln(), upper.ln()),
            expected
        );
    }

    #[test]
    fn the_nearest_edge_counts() {
        let asked = Asked::of(Claim::Equivalent, 0.05);
        let edge = -0.95_f64.ln();
        assert!((asked.distance(0.04) - (edge - 0.04)).abs() < 1e-12);
        assert!((asked.distance(-0.04) - (edge - 0.04)).abs() < 1e-12);
        assert!((asked.distance(0.2) - (0.2 - edge)).abs() < 1e-12);
    }
}
