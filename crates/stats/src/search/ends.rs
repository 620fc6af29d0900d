//! Tests whether the first and the last position differ, after every pair of trials.
//!
//! The error of the test after pair `j` is `alpha / (j (j - 1))`; over all pairs these sum to
//! `alpha`, so that testing again and again does not add up to more.

use super::tally::PositionTally;
use super::{ChangeCriterion, ChangeSearch, Observation};
use crate::descriptive::to_f64;
use crate::quantile::student_quantile;

/// The comparison of the ends so far.
pub(super) enum EndsComparison {
    Differ,
    Alike,
    /// The next trial is at this position.
    Open(usize),
}

pub(super) fn compare_ends(search: &ChangeSearch, trials: &[Observation]) -> EndsComparison {
    let last = search.positions - 1;
    // Inner positions are measured when they differ, and not before.
    if trials.iter().any(|trial| (1..last).contains(&trial.position)) {
        return EndsComparison::Differ;
    }
    let values = |position: usize| -> Vec<f64> {
        let at = trials.iter().filter(|trial| trial.position == position);
        at.map(|trial| trial.value).collect()
    };
    let (one, other) = (values(0), values(last));
    let (mut before, mut behind) = (PositionTally::default(), PositionTally::default());
    for (pair, (value, opposite)) in one.iter().zip(&other).enumerate() {
        before.add(*value);
        behind.add(*opposite);
        match test_difference(search, &before, &behind, to_f64(pair + 1)) {
            Some(true) => return EndsComparison::Differ,
            Some(false) => return EndsComparison::Alike,
            None => {}
        }
    }
    // A B, B A, A B: a drift cancels over two pairs.
    let pairs = one.len().min(other.len());
    let first = match one.len().cmp(&other.len()) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Equal => pairs.is_multiple_of(2),
    };
    EndsComparison::Open(if first { 0 } else { last })
}

/// Tests whether the ends differ by more than the margin; none if that is undecided.
fn test_difference(
    search: &ChangeSearch,
    before: &PositionTally,
    behind: &PositionTally,
    pairs: f64,
) -> Option<bool> {
    let margin = match search.change {
        ChangeCriterion::Slower { margin, .. } => -(-margin).ln_1p(),
        ChangeCriterion::Faster { margin, .. } => margin.ln_1p(),
        ChangeCriterion::Answer { error } => {
            let needed = answers_needed(error, search.alpha);
            let agree = [before.yes_surplus(), -behind.yes_surplus()];
            let is_all = agree.iter().all(|surplus| *surplus >= needed);
            let is_none = agree.iter().any(|surplus| *surplus <= -needed);
            return (is_all || is_none).then_some(is_all);
        }
    };
    if pairs < 2.0 {
        return None;
    }
    let alpha = search.alpha / (pairs * (pairs - 1.0));
    let degrees = 2.0 * pairs - 2.0;
    let deviation = ((before.squared_deviations() + behind.squared_deviations()) / degrees).sqrt();
    let half = student_quantile(alpha, degrees) * deviation * (2.0 / pairs).sqrt();
    let drop = before.mean() - behind.mean();
    let differ = drop - half > margin;
    let alike = drop + half < margin;
    (differ || alike).then_some(differ)
}

/// The lead of yes over no at which an answer of a position is wrong with at most half of `alpha`.
pub(super) fn answers_needed(error: f64, alpha: f64) -> f64 {
    ((2.0 / alpha).ln() / ((1.0 - error) / error).ln()).ceil().max(1.0)
}
