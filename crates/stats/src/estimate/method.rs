//! The method of computing bounds, by the number of trials and their aggregate.

use super::{ReferenceComparison, small_samples};
use crate::descriptive::{standard_deviation, to_f64, to_sorted};
use crate::quantile::student_quantile;
use retrial_readings::claim::Aggregate;

/// The probability that two trials that scatter as assumed are taken as too far apart.
const EXCESS_DEVIATION_ALPHA: f64 = 0.05;

/// How the bounds of an estimate are computed.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundsMethod {
    /// There are none: this many trials are needed at least.
    TooFew {
        /// The least total number of trials.
        needed: u32,
    },
    /// One trial, and an assumed standard deviation.
    Assumed {
        /// The assumed standard deviation of one trial, as a fraction of it.
        noise: f64,
    },
    /// The standard deviation of the trials.
    Student {
        /// Standard deviation of one trial, as a log ratio.
        deviation: f64,
        /// Standard error of the aggregate, the reference's own not included.
        error: f64,
        /// Degrees of freedom of `error`.
        degrees: f64,
    },
    /// Order statistics of the trials, by the sign test.
    Ordered {
        /// The trials' log ratios, sorted.
        sorted: Vec<f64>,
        /// Standard deviation of one trial; the bounds do not use it.
        deviation: f64,
    },
}

/// Chooses how bounds of trials are computed, as oriented log ratios.
pub(super) fn choose_method(logs: &[f64], comparison: &ReferenceComparison) -> BoundsMethod {
    match (comparison.aggregate, logs.len()) {
        (Aggregate::Olympic, ..=2) => BoundsMethod::TooFew { needed: 3 },
        (_, ..=1) => match comparison.noise {
            Some(noise) => BoundsMethod::Assumed { noise },
            None => BoundsMethod::TooFew { needed: 2 },
        },
        // The median of two is their mean.
        (_, 2) => method_for_two_trials(logs, comparison.noise.filter(|noise| *noise > 0.0)),
        (Aggregate::Median, 5..) => {
            BoundsMethod::Ordered { deviation: standard_deviation(logs), sorted: to_sorted(logs) }
        }
        // The median of three and of four is the Olympic mean.
        (Aggregate::Median | Aggregate::Olympic, trials @ 3..=4) => {
            student_method(logs, small_samples::error_of_middle(trials))
        }
        (Aggregate::Olympic, _) => winsorized_method(logs),
        (Aggregate::Mean, trials) => student_method(logs, (1.0 / to_f64(trials)).sqrt()),
    }
}

/// Two trials hardly have a deviation of their own: two that happen to be near each other show
/// nothing, and two that are further apart than assumed show that the assumption is wrong.
fn method_for_two_trials(logs: &[f64], noise: Option<f64>) -> BoundsMethod {
    let own = standard_deviation(logs);
    match noise {
        Some(noise)
            if own > student_quantile(EXCESS_DEVIATION_ALPHA / 2.0, f64::INFINITY) * noise =>
        {
            BoundsMethod::TooFew { needed: 3 }
        }
        noise => {
            let deviation = noise.unwrap_or(own);
            student_with_error(deviation, std::f64::consts::FRAC_1_SQRT_2, 2)
        }
    }
}

fn student_method(logs: &[f64], factor: f64) -> BoundsMethod {
    student_with_error(standard_deviation(logs), factor, logs.len())
}

/// An error that is a factor of the deviation of one trial, which so many trials gave.
pub(super) fn student_with_error(deviation: f64, factor: f64, trials: usize) -> BoundsMethod {
    BoundsMethod::Student { deviation, error: deviation * factor, degrees: to_f64(trials) - 1.0 }
}

fn winsorized_method(logs: &[f64]) -> BoundsMethod {
    let mut ordered = to_sorted(logs);
    let last = ordered.len() - 1;
    ordered[0] = ordered[1];
    ordered[last] = ordered[last - 1];
    let (count, retained) = (to_f64(logs.len()), to_f64(logs.len() - 2));
    let finite: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    BoundsMethod::Student {
        deviation: standard_deviation(&finite),
        error: standard_deviation(&ordered) * count.sqrt() / retained
            * small_samples::winsorized_error_factor(logs.len()),
        degrees: retained - 1.0,
    }
}
