//! Trials of one figure, and the error of the difference of two samples.
//!
//! One trial shows no scatter of its own. It is taken to scatter as the several trials with which it is compared do, all
//! of them pooled, or as is assumed of it, whichever is more.

use crate::descriptive::{standard_deviation, to_f64};
use crate::estimate::Estimate;
use crate::standard_error::StandardError;

/// Trials of one figure on one side of a comparison; all positive and finite, and at least one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// The figure of each trial, in the order in which they ran.
    pub values: &'a [f64],
    /// Assumed noise of one trial, as a fraction; it counts if there is only one trial. 0: it is exact.
    pub noise: Option<f64>,
    /// The noise is known of this very figure: more scatter of others does not replace it.
    pub is_noise_stated: bool,
    /// Half of the last printed digit of the trials, as a fraction of them; 0: they are exact.
    pub rounding_error: f64,
}

/// The variance that several trials of one figure show, of their logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialVariance {
    variance: f64,
    degrees: f64,
}

impl TrialVariance {
    /// Returns the variance of trials; none of fewer than two, or where one is not positive and finite.
    pub fn from_trials(trials: &[f64]) -> Option<Self> {
        let usable = |trial: &f64| trial.is_finite() && *trial > 0.0;
        if trials.len() < 2 || !trials.iter().all(usable) {
            return None;
        }
        let logs: Vec<f64> = trials.iter().map(|trial| trial.ln()).collect();
        let variance = standard_deviation(&logs).powi(2);
        Some(Self { variance, degrees: to_f64(trials.len()) - 1.0 })
    }

    fn of_estimate(estimate: &Estimate) -> Option<Self> {
        let degrees = estimate.standard_error()?.degrees;
        let variance = estimate.trial_deviation()?.powi(2);
        (estimate.count > 1 && degrees.is_finite()).then_some(Self { variance, degrees })
    }
}

/// Returns the standard error of the difference of two estimates, and the deviation of one trial that it rests on if
/// several trials show that: those of the other estimate, and `others`.
pub(crate) fn error_of_difference(
    sides: [(&Estimate, Sample<'_>); 2],
    others: &[TrialVariance],
) -> (Option<StandardError>, Option<f64>) {
    let own = sides.map(|(estimate, _)| TrialVariance::of_estimate(estimate));
    let shown = || own.iter().flatten().chain(others);
    let degrees: f64 = shown().map(|one| one.degrees).sum();
    let pooled = shown().map(|one| one.variance * one.degrees / degrees).sum::<f64>().sqrt();
    let takes_pooled = |sample: Sample<'_>| {
        let is_known = sample.is_noise_stated || sample.noise == Some(0.0);
        let assumed = sample.noise.unwrap_or(0.0);
        sample.values.len() == 1 && degrees > 0.0 && !is_known && assumed <= pooled
    };
    let single = sides.iter().filter(|(_, sample)| takes_pooled(*sample)).count();
    if single == 0 {
        let [candidate, baseline] = sides.map(|(estimate, _)| estimate.standard_error());
        return (candidate.zip(baseline).map(|(one, other)| one.combine(other)), None);
    }
    // What one sample shows is one term, however often it counts (Satterthwaite).
    let share = |one: &TrialVariance| to_f64(single) * one.variance * one.degrees / degrees;
    let mut terms: Vec<(f64, f64)> = others.iter().map(|one| (share(one), one.degrees)).collect();
    for ((estimate, sample), own) in sides.iter().zip(&own) {
        if takes_pooled(*sample) {
            continue;
        }
        let Some(error) = estimate.standard_error() else {
            return (None, None);
        };
        terms.push((error.value.powi(2) + own.as_ref().map_or(0.0, share), error.degrees));
    }
    let total: f64 = terms.iter().map(|(term, _)| term).sum();
    let spread: f64 = terms.iter().map(|(term, degrees)| term * term / degrees).sum();
    let degrees = if spread > 0.0 { total * total / spread } else { f64::INFINITY };
    (Some(StandardError { value: total.sqrt(), degrees, trials: 1 }), Some(pooled))
}
