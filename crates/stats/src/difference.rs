//! Two samples of trials of one figure: the ratio between them and its bounds.
//!
//! Unpaired: the difference of the two aggregates' logarithms, with Welch's and Satterthwaite's
//! degrees of freedom. Paired (interleaved trials, the first of A with the first of B): the trials'
//! own ratios, judged as the trials of one figure are. What drifts during a session is then in both
//! of a pair and cancels.
//!
//! What was printed is known to half of its last digit and no better: trials that printed the same
//! figure scatter by less than that, not by nothing. No bound is narrower.

use crate::estimate::{Estimate, ReferenceComparison};
use crate::more_trials::{MoreTrials, estimate_more_trials, estimate_more_trials_each};
use crate::region::{AcceptanceRegion, Decision};
use crate::sample::{Sample, TrialVariance, error_of_difference};
use crate::standard_error::StandardError;
use retrial_readings::claim::{Aggregate, Better, Claim};

/// The fewest additional trials of each where their scatter is unknown.
const MIN_ADDITIONAL_TRIALS: u32 = 2;

/// The trials from which the bounds of a difference are computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BoundsBasis {
    /// The ratios of the pairs of trials.
    Pairs(Estimate),
    /// Trials of two subjects that nothing pairs.
    Samples {
        error: StandardError,
        /// The smallest and the largest log ratio that the printed figures leave possible.
        range: (f64, f64),
    },
    UnknownScatter {
        /// The least number of further trials of each side.
        trials: u32,
    },
}

impl BoundsBasis {
    fn from_error(center: f64, error: Option<StandardError>) -> Self {
        let range = (center, center);
        error.map_or(Self::UnknownScatter { trials: MIN_ADDITIONAL_TRIALS }, |error| {
            Self::Samples { error, range }
        })
    }
}

/// How much better one sample is than another.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The log ratio, oriented so that above zero the candidate is better.
    pub center: f64,
    /// The trials of a side depend on their order, and count as one.
    pub dependent: bool,
    /// The standard deviation that one trial of a side is taken to have, since several trials show it.
    pub pooled_deviation: Option<f64>,
    pub(crate) basis: BoundsBasis,
    /// The rounding error of the ratio.
    pub(crate) rounding_error: f64,
}

impl Difference {
    /// Compares two independent samples. `others` are the variances that trials of the same figure show elsewhere.
    pub fn between_samples(
        candidate: Sample<'_>,
        baseline: Sample<'_>,
        better: Better,
        how: Aggregate,
        others: &[TrialVariance],
    ) -> Self {
        let estimate = |sample: Sample<'_>| {
            let comparison = ReferenceComparison::of_trials(better, how, sample.noise);
            Estimate::from_trials(sample.values, &comparison)
        };
        let (of_candidate, of_baseline) = (estimate(candidate), estimate(baseline));
        let center = of_candidate.center - of_baseline.center;
        let estimates = [(&of_candidate, candidate), (&of_baseline, baseline)];
        let (error, pooled_deviation) = error_of_difference(estimates, others);
        Self {
            center,
            dependent: of_candidate.order.is_some() || of_baseline.order.is_some(),
            pooled_deviation,
            basis: BoundsBasis::from_error(center, error),
            rounding_error: candidate.rounding_error + baseline.rounding_error,
        }
    }

    /// Compares pairs: the first trial of one with the first of the other. None if their numbers differ. `others` count
    /// for a single pair, which is no more than two trials.
    pub fn between_pairs(
        candidate: Sample<'_>,
        baseline: Sample<'_>,
        better: Better,
        how: Aggregate,
        others: &[TrialVariance],
    ) -> Option<Self> {
        if candidate.values.len() != baseline.values.len() {
            return None;
        }
        if candidate.values.len() == 1 && !others.is_empty() {
            return Some(Self::between_samples(candidate, baseline, better, how, others));
        }
        let pairs = candidate.values.iter().zip(baseline.values);
        let ratios: Vec<f64> = pairs.map(|(one, other)| one / other).collect();
        // Each trial of a pair has its own noise.
        let noise = candidate.noise.zip(baseline.noise);
        let pair_noise = noise.map(|(one, other)| one.hypot(other));
        let comparison = ReferenceComparison::of_trials(better, how, pair_noise);
        let estimate = Estimate::from_trials(&ratios, &comparison);
        Some(Self {
            center: estimate.center,
            dependent: estimate.order.is_some(),
            pooled_deviation: None,
            basis: BoundsBasis::Pairs(estimate),
            rounding_error: candidate.rounding_error + baseline.rounding_error,
        })
    }

    /// Returns by how much more this one is better than another that has no trial in common with it: the ratio of two
    /// gains.
    #[must_use]
    pub fn excess_over(&self, other: &Self) -> Self {
        let center = self.center - other.center;
        let errors = self.standard_error().zip(other.standard_error());
        Self {
            center,
            dependent: self.dependent || other.dependent,
            pooled_deviation: None,
            basis: BoundsBasis::from_error(center, errors.map(|(one, other)| one.combine(other))),
            rounding_error: self.rounding_error + other.rounding_error,
        }
    }

    fn standard_error(&self) -> Option<StandardError> {
        match &self.basis {
            BoundsBasis::Pairs(estimate) => estimate.standard_error(),
            BoundsBasis::Samples { error, .. } => Some(*error),
            BoundsBasis::UnknownScatter { .. } => None,
        }
    }

    /// One-sided bounds of the log ratio, each with error `alpha`.
    pub fn bounds(&self, alpha: f64) -> Option<(f64, f64)> {
        let (lower, upper) = match &self.basis {
            BoundsBasis::Pairs(estimate) => estimate.bounds(alpha)?,
            BoundsBasis::Samples { error, range: (least, most) } => {
                let half = error.half_width(alpha);
                (least - half, most + half)
            }
            BoundsBasis::UnknownScatter { .. } => return None,
        };
        Some((
            lower.min(self.center - self.rounding_error),
            upper.max(self.center + self.rounding_error),
        ))
    }

    /// Decides a claim with a margin (a fraction), with error `alpha` on either side.
    pub fn decide(&self, claim: Claim, margin: f64, alpha: f64) -> Decision {
        self.bounds(alpha).map_or(Decision::Open, |(lower, upper)| {
            AcceptanceRegion::new(claim, margin).decide(lower, upper)
        })
    }

    /// How many more trials of each, if they went as those so far, would put a bound with error
    /// `alpha` past an edge of the acceptance region.
    pub fn more_trials(&self, claim: Claim, margin: f64, alpha: f64) -> MoreTrials {
        let distance = AcceptanceRegion::new(claim, margin).distance_to_edge(self.center);
        match &self.basis {
            BoundsBasis::Pairs(estimate) => estimate_more_trials(estimate, distance, alpha),
            _ if self.dependent => MoreTrials::Independent,
            BoundsBasis::Samples { error, .. } => {
                estimate_more_trials_each(*error, distance, alpha)
            }
            BoundsBasis::UnknownScatter { trials } => MoreTrials::AtLeast(*trials),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn sample(values: &[f64]) -> Sample<'_> {
        Sample { values, noise: None, is_noise_stated: false, rounding_error: 0.0 }
    }

    fn welch(candidate: &[f64], baseline: &[f64]) -> Difference {
        Difference::between_samples(
            sample(candidate),
            sample(baseline),
            Better::Higher,
            Aggregate::Mean,
            &[],
        )
    }

    /// Student's sleep data (Biometrika 6, 1908) as R's `t.test` gives it: on logarithms the samples
    /// are exponentials, so that the differences are the published ones; the patients are in another
    /// order, since the published one is a trend.
    #[test]
    fn matches_students_sleep_data() {
        let exp = |values: [f64; 10]| values.map(f64::exp);
        let first = exp([0.7, -1.6, 2.0, 3.4, 0.8, -0.2, 0.0, -0.1, -1.2, 3.7]);
        let second = exp([1.9, 0.8, 3.4, 4.4, 1.6, 1.1, 4.6, -0.1, 0.1, 5.5]);
        // t.test(extra ~ group): -3.365 to 0.205, 17.776 degrees of freedom.
        let (lower, upper) = welch(&first, &second).bounds(0.025).unwrap();
        assert!((lower + 3.365_483_2).abs() < 1e-6, "{lower}");
        assert!((upper - 0.205_483_2).abs() < 1e-6, "{upper}");
        // t.test(..., paired = TRUE): -2.460 to -0.700.
        let (one, other) = (sample(&first), sample(&second));
        let paired =
            Difference::between_pairs(one, other, Better::Higher, Aggregate::Mean, &[]).unwrap();
        let (lower, upper) = paired.bounds(0.025).unwrap();
        assert!((lower + 2.459_885_8).abs() < 1e-6, "{lower}");
        assert!((upper + 0.700_114_2).abs() < 1e-6, "{upper}");
    }

    #[test]
    fn comparisons_are_symmetric() {
        let (one, other) = ([100.0, 101.0, 99.0], [90.0, 93.0]);
        let there = welch(&one, &other).bounds(0.025).unwrap();
        let back = welch(&other, &one).bounds(0.025).unwrap();
        assert!((there.0 + back.1).abs() < 1e-12 && (there.1 + back.0).abs() < 1e-12);
    }

    #[test]
    fn lower_latency_is_better() {
        let (one, other) = (sample(&[9.0, 9.1, 9.05]), sample(&[10.0, 10.1, 10.05]));
        let difference =
            Difference::between_samples(one, other, Better::Lower, Aggregate::Mean, &[]);
        assert!(difference.center > 0.0);
        assert_eq!(difference.decide(Claim::Better, 0.0, 0.05), Decision::Holds);
    }

    #[test]
    fn single_trials_use_the_assumed_noise_of_both() {
        let noisy = |values| Sample { noise: Some(0.008), ..sample(values) };
        let difference = Difference::between_samples(
            noisy(&[102.0]),
            noisy(&[100.0]),
            Better::Higher,
            Aggregate::Mean,
            &[],
        );
        let (lower, upper) = difference.bounds(0.05).unwrap();
        let half = 1.644_854 * 0.008 * 2.0_f64.sqrt();
        assert!(((upper - lower) / 2.0 - half).abs() < 1e-6);
        assert_eq!(welch(&[102.0], &[100.0]).bounds(0.05), None);
    }

    #[test]
    fn a_single_trial_uses_the_deviation_of_the_other_side() {
        let difference = welch(&[110.0], &[100.0, 101.0, 99.0]);
        let (lower, _) = difference.bounds(0.05).unwrap();
        // 2.92 (two degrees of freedom) times 1 % times the root of 1 + 1/3.
        let half = 2.919_986 * 0.010_000_5 * (4.0_f64 / 3.0).sqrt();
        assert!((difference.center - lower - half).abs() < 1e-4, "{lower}");
    }

    /// The pooled deviation, and its degrees by Satterthwaite; of times to start in four releases.
    #[test]
    fn a_single_trial_scatters_as_all_cells_do() {
        let baseline = [28.58, 28.56, 28.54];
        let others = [vec![35.24, 33.7, 33.15], vec![41.28, 41.54]];
        let variances: Vec<TrialVariance> =
            others.iter().filter_map(|trials| TrialVariance::from_trials(trials)).collect();
        let compare = |noise, others: &[TrialVariance]| {
            let single = Sample { noise, ..sample(&[29.53]) };
            let several = sample(&baseline);
            let (better, how) = (Better::Lower, Aggregate::Mean);
            Difference::between_samples(single, several, better, how, others)
        };
        let alone = compare(None, &[]);
        assert_eq!(alone.decide(Claim::Better, 0.0, 0.025), Decision::Worse);
        let with_others = compare(None, &variances);
        let deviation = with_others.pooled_deviation.unwrap();
        assert!((deviation - 0.020_11).abs() < 1e-5, "{deviation}");
        let (lower, upper) = with_others.bounds(0.025).unwrap();
        // 4.2 times the deviation: the third cell alone, with two degrees of freedom, makes nearly all of it.
        assert!((0.075..0.095).contains(&((upper - lower) / 2.0)), "{lower} {upper}");
        // A larger noise that is assumed stays; a smaller one does not.
        assert_eq!(compare(Some(0.05), &variances).pooled_deviation, None);
        assert_eq!(compare(Some(0.005), &variances).pooled_deviation, with_others.pooled_deviation);
        // What is exact stays exact.
        assert_eq!(compare(Some(0.0), &variances).pooled_deviation, None);
        let pair = |others: &[TrialVariance]| {
            let (one, other) = (sample(&[102.0]), sample(&[100.0]));
            Difference::between_pairs(one, other, Better::Higher, Aggregate::Mean, others).unwrap()
        };
        assert_eq!(pair(&[]).bounds(0.025), None);
        assert!(pair(&variances).bounds(0.025).is_some());
    }

    #[rstest]
    // 100.5 and 100.5 may have been printed as 101 and 100: that is no difference. 101.0 and 100.0 differ.
    #[case(100.0, [0.5, 0.5], Decision::Open)]
    #[case(101.0, [0.5, 0.5], Decision::Open)]
    #[case(102.0, [0.5, 0.5], Decision::Holds)]
    #[case(101.0, [0.05, 0.05], Decision::Holds)]
    #[case(101.0, [0.5, 0.05], Decision::Holds)]
    #[case(100.5, [0.5, 0.05], Decision::Open)]
    fn equal_trials_are_bounded_by_printed_precision(
        #[case] candidate: f64,
        #[case] half_digits: [f64; 2],
        #[case] better: Decision,
    ) {
        let printed =
            |values, half_digit| Sample { rounding_error: half_digit / 100.0, ..sample(values) };
        let [of_candidate, of_baseline] = half_digits;
        let difference = Difference::between_samples(
            printed(&[candidate, candidate], of_candidate),
            printed(&[100.0, 100.0], of_baseline),
            Better::Higher,
            Aggregate::Mean,
            &[],
        );
        assert_eq!(difference.decide(Claim::Better, 0.0, 0.05), better);
        assert_eq!(difference.decide(Claim::NotWorse, 0.02, 0.05), Decision::Holds);
    }

    #[test]
    fn values_without_noise_are_compared_exactly() {
        let fixed = |values| Sample { noise: Some(0.0), ..sample(values) };
        let (one, other) = (fixed(&[43.9]), fixed(&[44.0]));
        let difference =
            Difference::between_samples(one, other, Better::Higher, Aggregate::Mean, &[]);
        let (lower, upper) = difference.bounds(0.025).unwrap();
        assert!(upper - lower < 1e-12, "{lower} {upper}");
    }

    #[test]
    fn pairs_need_partners() {
        let (one, other) = (sample(&[1.0, 2.0]), sample(&[1.0]));
        assert_eq!(
            Difference::between_pairs(one, other, Better::Higher, Aggregate::Mean, &[]),
            None
        );
    }

    /// A drift of ten per cent that both sides of each pair have in common.
    #[test]
    fn pairs_cancel_drift() {
        let baseline = [100.0, 97.0, 94.0, 92.0, 90.0];
        let candidate = baseline.map(|value| value * 1.02);
        assert_eq!(welch(&candidate, &baseline).decide(Claim::Better, 0.0, 0.025), Decision::Open);
        let (one, other) = (sample(&candidate), sample(&baseline));
        let paired =
            Difference::between_pairs(one, other, Better::Higher, Aggregate::Mean, &[]).unwrap();
        assert_eq!(paired.decide(Claim::Better, 0.0, 0.025), Decision::Holds);
    }
}
