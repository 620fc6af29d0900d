//! The gap to a third: how much better that one is than each of two.
//!
//! Seen as ratios, the gap of a candidate over the gap of a baseline is the ratio of the two
//! themselves, and the third's own noise is in neither: `(third / candidate) / (third / baseline)`.
//! Where all three were measured the statement is sharper than its two gaps are.

use super::model::Gap;
use crate::verdict::Bounds;
use crate::verdict::comparison::MeasuredSide;
use crate::verdict::outcome::ClaimOutcome;
use crate::verdict::published_figure::finite_exp;
use retrial_recipe::model::Claim;
use retrial_stats::{Decision, Difference};

/// The differences that decide on a gap.
pub struct GapTest {
    /// The candidate, compared with the baseline.
    pub between: Difference,
    /// The third cell, compared with the candidate.
    pub with_candidate: Difference,
    /// The third cell, compared with the baseline.
    pub with_baseline: Difference,
}

impl GapTest {
    /// Smaller by `margin` is supported where the candidate is shown to be so much better and the
    /// third is shown to be ahead of the baseline: both at `alpha`, so that together they err no
    /// more often. It is contradicted where either is shown to be false, at half of it each.
    pub fn outcome(&self, margin: f64, alpha: f64) -> ClaimOutcome {
        let ahead = |alpha: f64| self.with_baseline.decide(Claim::Better, 0.0, alpha);
        let smaller = |alpha: f64| self.between.decide(Claim::Better, margin, alpha);
        if smaller(alpha) == Decision::Holds && ahead(alpha) == Decision::Holds {
            return ClaimOutcome::Supported;
        }
        let half = alpha / 2.0;
        if smaller(half) == Decision::Worse || ahead(half) == Decision::Worse {
            return ClaimOutcome::Contradicted;
        }
        ClaimOutcome::NotDecided
    }

    /// Returns whether the third is shown not to be ahead of the baseline.
    pub fn is_absent(&self, alpha: f64) -> bool {
        self.with_baseline.decide(Claim::Better, 0.0, alpha / 2.0) == Decision::Worse
    }

    /// Returns both gaps, as a verdict stores them.
    pub fn to_gaps(&self, cells: [&str; 2], to: &MeasuredSide, alpha: f64) -> Vec<Gap> {
        let differences = [&self.with_candidate, &self.with_baseline];
        let gaps = cells.into_iter().zip(differences);
        gaps.map(|(cell, difference)| Gap::from_difference(cell, to, Some(difference), alpha))
            .collect()
    }
}

impl Gap {
    /// Returns the gap of a cell, by the difference of the two.
    pub fn from_difference(
        cell: &str,
        to: &MeasuredSide,
        difference: Option<&Difference>,
        alpha: f64,
    ) -> Self {
        let bounds = difference.and_then(|difference| difference.bounds(alpha));
        Self {
            cell: cell.to_owned(),
            to: to.clone(),
            ratio: difference.map(|difference| finite_exp(difference.center)),
            bounds: bounds.map(Bounds::from_logs),
        }
    }
}
