//! From trials to a ratio and its one-sided bounds.
//!
//! Each trial is a log ratio to the reference, oriented so that above zero is better; higher- and
//! lower-is-better are then one formula. Three or more trials: Student's t. Two: the same with the
//! assumed noise for their deviation, and none where they are further apart than it allows. One: the
//! normal with the assumed noise. A median of five or more: the order statistics of the sign test.
//! An Olympic mean: the winsorized variance of Tukey and `McLaughlin` (1963), from five trials on.
//!
//! Trials that depend on their order count as one. Rare slow trials leave the median where it is:
//! the bounds are the median's then, with the scatter of the others. No bound is narrower than the
//! printed digits. The error rate of each is simulated: docs/statistics.md.

mod method;
mod small_samples;

pub use method::BoundsMethod;

use self::method::{choose_method, student_with_error};
use crate::descriptive::{mean, median, to_f64, to_sorted};
use crate::order_effect::{OrderEffect, detect_order_effect};
use crate::quantile::{median_bound_rank, student_quantile};
use crate::slow_trials::{find_slow_trials, measure_slow_start};
use crate::standard_error::StandardError;
use retrial_readings::claim::{Aggregate, Better};

/// The trials of one figure compared with one reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The aggregate as an oriented log ratio: above zero is better than the reference.
    pub center: f64,
    /// The number of trials, slow ones included.
    pub count: u32,
    /// Declared standard deviation of the reference, as a fraction.
    pub sigma: f64,
    /// The method by which its bounds are computed.
    pub method: BoundsMethod,
    /// The aggregate of the trials: the requested one, or their median where rare ones are slow.
    pub aggregate: Aggregate,
    /// The rounding error of the printed figures, as a fraction.
    pub rounding_error: f64,
    /// How the trials depend on their order.
    pub order: Option<OrderEffect>,
    /// By how much the first trial is slower than the others, as a log ratio; none if it is not.
    pub slow_start: Option<f64>,
    /// Positions of rare slow trials.
    pub slow: Vec<usize>,
}

/// The reference of a comparison, and how trials are compared with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceComparison {
    /// The published value; positive.
    pub reference: f64,
    /// Declared standard deviation of it, as a fraction; 0: taken as exact.
    pub sigma: f64,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// How the trials are aggregated to one figure.
    pub aggregate: Aggregate,
    /// Assumed noise of one trial, as a fraction.
    pub noise: Option<f64>,
    /// Half of the last printed digit of the trials, as a fraction of them; 0: they are exact.
    pub rounding_error: f64,
    /// The typical trial counts: rare slow ones are judged by the median.
    pub typical: bool,
}

impl ReferenceComparison {
    /// A comparison of trials with each other: the reference is 1.
    pub(crate) fn of_trials(better: Better, aggregate: Aggregate, noise: Option<f64>) -> Self {
        Self {
            reference: 1.0,
            sigma: 0.0,
            better,
            aggregate,
            noise,
            rounding_error: 0.0,
            typical: false,
        }
    }
}

impl Estimate {
    /// Compares trials, all positive and finite and at least one, with a reference.
    pub fn from_trials(values: &[f64], comparison: &ReferenceComparison) -> Self {
        let logs = oriented_logs(values, comparison);
        let count = u32::try_from(logs.len()).unwrap_or(u32::MAX);
        // The runs of an Olympic mean come in the order of their files, and it drops the slowest.
        let in_order = comparison.aggregate != Aggregate::Olympic;
        let (noise, ordered) = (comparison.noise, || in_order.then_some(logs.as_slice()));
        let typical = ordered().filter(|_| comparison.typical);
        let slow = typical.map_or(Vec::new(), |logs| find_slow_trials(logs, noise));
        let order = ordered().and_then(detect_order_effect);
        let mut estimate = Self {
            center: aggregate_log(values, comparison),
            count,
            sigma: comparison.sigma,
            method: choose_method(&logs, comparison),
            aggregate: comparison.aggregate,
            rounding_error: comparison.rounding_error,
            order,
            slow_start: typical.and_then(|logs| measure_slow_start(logs, noise)),
            slow,
        };
        if !estimate.slow.is_empty() {
            estimate.use_typical_trial(&logs, comparison);
        }
        if order.is_some()
            && let Some(deviation) = estimate.trial_deviation()
        {
            // They count as one: each repeats the trial before it.
            let trials = logs.len() - estimate.slow.len();
            estimate.method = student_with_error(deviation, 1.0, trials);
        }
        estimate
    }

    /// Estimates the typical trial: the median of all, with the scatter of those that are not slow.
    fn use_typical_trial(&mut self, logs: &[f64], comparison: &ReferenceComparison) {
        let is_slow = |position: &usize| self.slow.contains(position);
        let others = (0..logs.len()).filter(|position| !is_slow(position));
        let other_logs: Vec<f64> = others.map(|position| logs[position]).collect();
        self.center = median(logs);
        self.aggregate = Aggregate::Median;
        let factor = match logs.len() {
            trials @ 3..=4 => small_samples::error_of_middle(trials),
            trials => small_samples::error_of_median(trials),
        };
        // Two others are as two trials are.
        self.method = match choose_method(&other_logs, comparison) {
            BoundsMethod::Student { deviation, .. } | BoundsMethod::Ordered { deviation, .. } => {
                student_with_error(deviation, factor, other_logs.len())
            }
            few => few,
        };
    }

    /// Returns the estimate of the trials multiplied by a factor, which is taken as exact.
    #[must_use]
    pub fn scale_by(mut self, factor: f64, better: Better) -> Self {
        let shift = match better {
            Better::Higher => factor.ln(),
            Better::Lower => -factor.ln(),
        };
        self.center += shift;
        if let BoundsMethod::Ordered { sorted, .. } = &mut self.method {
            for log in sorted {
                *log += shift;
            }
        }
        self
    }

    /// One-sided bounds of the log ratio, each with error `alpha`.
    pub fn bounds(&self, alpha: f64) -> Option<(f64, f64)> {
        let (below, above) = if let Some((lowest, highest)) = self.order_statistics(alpha) {
            let reference = student_quantile(alpha, f64::INFINITY) * self.sigma;
            ((self.center - lowest).hypot(reference), (highest - self.center).hypot(reference))
        } else {
            let error = self.standard_error()?;
            let half = half_width(error.value, error.degrees, self.sigma, alpha);
            (half, half)
        };
        Some((
            self.center - below.max(self.rounding_error),
            self.center + above.max(self.rounding_error),
        ))
    }

    /// Returns whether its bounds with error `alpha` are order statistics.
    pub fn has_order_statistic_bounds(&self, alpha: f64) -> bool {
        self.order_statistics(alpha).is_some()
    }

    /// The order statistics that bound a median. None has so small an error (one of several looks)
    /// where there are few trials.
    fn order_statistics(&self, alpha: f64) -> Option<(f64, f64)> {
        let BoundsMethod::Ordered { sorted, .. } = &self.method else {
            return None;
        };
        let rank = median_bound_rank(sorted.len(), alpha)?;
        Some((sorted[rank], sorted[sorted.len() - 1 - rank]))
    }

    /// Standard error of the aggregate: of a median of many its asymptotic one under normal noise, too
    /// large for few trials.
    pub(crate) fn standard_error(&self) -> Option<StandardError> {
        let (value, degrees) = match &self.method {
            BoundsMethod::TooFew { .. } => return None,
            BoundsMethod::Assumed { noise } => (*noise, f64::INFINITY),
            BoundsMethod::Student { error, degrees, .. } => (*error, *degrees),
            BoundsMethod::Ordered { deviation, .. } => {
                let error = deviation * small_samples::error_of_median(self.count as usize);
                (error, f64::from(self.count) - 1.0)
            }
        };
        Some(StandardError { value, degrees, trials: self.count })
    }

    /// Standard deviation of one trial, if it is known.
    pub fn trial_deviation(&self) -> Option<f64> {
        match self.method {
            BoundsMethod::TooFew { .. } => None,
            BoundsMethod::Assumed { noise } => Some(noise),
            BoundsMethod::Student { deviation, .. } | BoundsMethod::Ordered { deviation, .. } => {
                Some(deviation)
            }
        }
    }
}

/// The trials made one: geometric mean, median, or the arithmetic mean without the extremes (as
/// `MLPerf` Training scores). None if a trial is not positive and finite.
pub fn aggregate_trials(values: &[f64], how: Aggregate) -> Option<f64> {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let bad = values.iter().filter(|value| !usable(value)).count();
    // A run that did not converge is infinitely slow: of five or more the Olympic mean drops it.
    let lost =
        values.iter().filter(|value| value.is_infinite() && value.is_sign_positive()).count();
    let drops_it = how == Aggregate::Olympic && values.len() > 4 && bad == 1 && lost == 1;
    if values.is_empty() || (bad > 0 && !drops_it) {
        return None;
    }
    let same = ReferenceComparison::of_trials(Better::Higher, how, None);
    match values {
        // Not through the logarithm, so that one trial is shown as it was printed.
        [first, rest @ ..] if rest.iter().all(|value| (value - first).abs() <= 0.0) => Some(*first),
        _ => Some(aggregate_log(values, &same).exp().clamp(f64::MIN_POSITIVE, f64::MAX)),
    }
}

/// Half of the interval of an estimated error and a declared one, with Welch's and Satterthwaite's
/// degrees of freedom.
pub(crate) fn half_width(error: f64, degrees: f64, sigma: f64, alpha: f64) -> f64 {
    let (estimated, declared) = (error * error, sigma * sigma);
    let total = estimated + declared;
    let degrees =
        if estimated > 0.0 { (total / estimated).powi(2) * degrees } else { f64::INFINITY };
    student_quantile(alpha, degrees) * total.sqrt()
}

fn oriented_logs(values: &[f64], comparison: &ReferenceComparison) -> Vec<f64> {
    values.iter().map(|value| orient_log(value.ln(), comparison)).collect()
}

/// Logarithms are subtracted rather than values divided: a quotient may overflow.
fn orient_log(log: f64, comparison: &ReferenceComparison) -> f64 {
    let distance = log - comparison.reference.ln();
    match comparison.better {
        Better::Higher => distance,
        Better::Lower => -distance,
    }
}

fn aggregate_log(values: &[f64], comparison: &ReferenceComparison) -> f64 {
    let logs = oriented_logs(values, comparison);
    match comparison.aggregate {
        Aggregate::Olympic if logs.len() > 2 => {
            let ordered = to_sorted(values);
            // Divided first: the sum of large figures may overflow.
            let count = to_f64(ordered.len() - 2);
            let middle: f64 = ordered[1..ordered.len() - 1].iter().map(|value| value / count).sum();
            orient_log(middle.max(f64::MIN_POSITIVE).ln(), comparison)
        }
        Aggregate::Median => median(&logs),
        // In their order, so that the order of trials does not change the sum.
        Aggregate::Mean | Aggregate::Olympic => mean(&to_sorted(&logs)),
    }
}

#[cfg(test)]
mod tests;
