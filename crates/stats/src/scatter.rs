//! How much trials scatter, and how two scatters compare.
//!
//! The scatter is the mean distance of the trials' logarithms from their median. Two of them are compared by the
//! logarithm of their ratio, with Welch's and Satterthwaite's degrees of freedom over the distances
//! (Brown and Forsythe's idea, J. Am. Stat. Assoc. 69, 1974). Where one trial in ten is slow, an F test of variances
//! errs three times as often as stated, and the kurtosis (Shoemaker, Am. Stat. 57, 2003) repairs little of
//! that with few trials. docs/statistics.md has the error rates of this one.

use crate::descriptive::{mean, median, standard_deviation, to_f64};
use crate::difference::{BoundsBasis, Difference};
use crate::order_effect::detect_order_effect;
use crate::standard_error::StandardError;

/// The fewest trials that are compared: with fewer the test errs up to twice as often as stated.
const MIN_SCATTER_TRIALS: u32 = 5;
/// Trials that all printed the same figure have no scatter, and a ratio to it no end. A bound goes up to this ratio
/// of two scatters.
const MAX_SCATTER_RATIO: f64 = 1000.0;

/// How much the trials of one figure scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// The mean distance of the trials from their median, as a fraction of them.
    pub value: f64,
    /// The trials depend on their order: a drift is no scatter.
    pub dependent: bool,
    count: u32,
    /// Standard error of `value`, as a fraction of it.
    error: f64,
    /// Half of the last printed digit of the trials, as a fraction of them: `value` is known to that.
    rounding_error: f64,
}

impl Scatter {
    /// Returns the scatter of trials in the order in which they ran; none of fewer than two, or where one is not
    /// positive and finite. `rounding_error` is half of their last printed digit, as a fraction of them.
    pub fn from_trials(trials: &[f64], rounding_error: f64) -> Option<Self> {
        let usable = |trial: &f64| trial.is_finite() && *trial > 0.0;
        if trials.len() < 2 || !trials.iter().all(usable) {
            return None;
        }
        let logs: Vec<f64> = trials.iter().map(|trial| trial.ln()).collect();
        let median_log = median(&logs);
        let distances: Vec<f64> = logs.iter().map(|log| (log - median_log).abs()).collect();
        let count = to_f64(trials.len());
        let distance = mean(&distances);
        let error = if distance > 0.0 {
            standard_deviation(&distances) / count.sqrt() / distance
        } else {
            0.0
        };
        // Few trials are nearer to their own median than to that of all there could be.
        let few = (count / (count - 1.0)).sqrt();
        Some(Self {
            value: distance * few,
            dependent: detect_order_effect(&logs).is_some(),
            count: u32::try_from(trials.len()).unwrap_or(u32::MAX),
            error,
            rounding_error: few * rounding_error,
        })
    }
}

impl Difference {
    /// Returns how much less a candidate's trials scatter than a baseline's. Between fewer than five trials each, or
    /// trials that depend on their order, it has no bounds.
    pub fn between_scatters(candidate: &Scatter, baseline: &Scatter) -> Self {
        let limited = |log: f64| log.clamp(-MAX_SCATTER_RATIO.ln(), MAX_SCATTER_RATIO.ln());
        // NaN, where neither scatters, is no difference.
        let ratio = |of: f64, to: f64| {
            let log = (of.max(0.0) / to.max(0.0)).ln();
            if log.is_nan() { 0.0 } else { limited(log) }
        };
        let center = ratio(baseline.value, candidate.value);
        let dependent = candidate.dependent || baseline.dependent;
        let trials = candidate.count.min(baseline.count);
        let basis = if dependent {
            BoundsBasis::UnknownScatter { trials: 0 }
        } else if trials < MIN_SCATTER_TRIALS {
            BoundsBasis::UnknownScatter { trials: MIN_SCATTER_TRIALS - trials }
        } else {
            let own = |scatter: &Scatter| StandardError {
                value: scatter.error,
                degrees: f64::from(scatter.count) - 1.0,
                trials: scatter.count,
            };
            let [least, most] = [-1.0, 1.0].map(|sign| {
                ratio(
                    baseline.value + sign * baseline.rounding_error,
                    candidate.value - sign * candidate.rounding_error,
                )
            });
            BoundsBasis::Samples {
                error: own(candidate).combine(own(baseline)),
                range: (least, most),
            }
        };
        Self { center, dependent, pooled_deviation: None, basis, rounding_error: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{Claim, Decision, MoreTrials};

    const CALM: [f64; 8] = [100.1, 99.9, 100.2, 99.8, 100.0, 100.1, 99.7, 100.3];
    const LOOSE: [f64; 8] = [103.0, 97.0, 106.0, 94.5, 100.0, 104.0, 96.0, 99.0];

    fn compare_scatters(candidate: &[f64], baseline: &[f64]) -> Difference {
        compare_printed(candidate, baseline, 0.0005)
    }

    fn compare_printed(candidate: &[f64], baseline: &[f64], rounding_error: f64) -> Difference {
        let of = |trials| Scatter::from_trials(trials, rounding_error).unwrap();
        Difference::between_scatters(&of(candidate), &of(baseline))
    }

    #[test]
    fn scatter_is_the_mean_distance_from_the_median() {
        let calm = Scatter::from_trials(&CALM, 0.0).unwrap();
        let exact = [0.1, 0.1, 0.2, 0.2, 0.0, 0.1, 0.3, 0.3];
        let about = exact.iter().sum::<f64>() / 8.0 / 100.0 * (8.0_f64 / 7.0).sqrt();
        assert!((calm.value / about - 1.0).abs() < 0.05, "{}", calm.value);
    }

    #[test]
    fn less_scatter_is_more_consistent() {
        let ratio = compare_scatters(&CALM, &LOOSE);
        assert!(ratio.center > 2.5, "{}", ratio.center);
        assert_eq!(ratio.decide(Claim::Better, 0.0, 0.05), Decision::Holds);
        let back = compare_scatters(&LOOSE, &CALM);
        assert_eq!(back.decide(Claim::Better, 0.0, 0.05), Decision::Worse);
        let ((one, two), (three, four)) = (ratio.bounds(0.05).unwrap(), back.bounds(0.05).unwrap());
        assert!((one + four).abs() < 1e-12 && (two + three).abs() < 1e-12);
    }

    #[rstest]
    // Printed as whole numbers: half of one is 0.5 %, more than these scatter; with one decimal, it is less.
    #[case(&[100.0, 101.0, 100.0, 101.0, 100.0], 0.005, Decision::Open)]
    #[case(&[100.0, 101.0, 100.0, 101.0, 100.0], 0.0005, Decision::Holds)]
    #[case(&[94.0, 103.0, 106.0, 95.0, 104.0], 0.005, Decision::Holds)]
    #[case(&[100.0; 5], 0.005, Decision::Open)]
    fn scatter_is_limited_by_printed_precision(
        #[case] baseline: &[f64],
        #[case] rounding_error: f64,
        #[case] expected: Decision,
    ) {
        let ratio = compare_printed(&[100.0; 5], baseline, rounding_error);
        assert_eq!(ratio.decide(Claim::Better, 0.0, 0.05), expected);
        let (lower, upper) = ratio.bounds(0.05).unwrap();
        assert!(lower.is_finite() && upper.is_finite());
    }

    #[test]
    fn few_or_drifting_trials_are_inconclusive() {
        let few = compare_scatters(&CALM[..4], &LOOSE);
        assert_eq!(few.bounds(0.05), None);
        assert_eq!(few.more_trials(Claim::Better, 0.0, 0.05), MoreTrials::AtLeast(1));
        let drift = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0];
        let ratio = compare_scatters(&drift, &CALM);
        assert!(ratio.dependent);
        assert_eq!(ratio.bounds(0.05), None);
        assert_eq!(ratio.more_trials(Claim::Better, 0.0, 0.05), MoreTrials::Independent);
        assert_eq!(Scatter::from_trials(&[1.0], 0.0), None);
        assert_eq!(Scatter::from_trials(&[1.0, 0.0], 0.0), None);
    }
}
