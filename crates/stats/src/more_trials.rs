//! How many more trials an inconclusive figure needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::{BoundsMethod, Estimate, half_width};
use crate::quantile::student_quantile;
use crate::standard_error::StandardError;

/// Past this many more trials no number is named.
const MAX_MORE_TRIALS: u32 = 30;
/// Fewest trials that are requested where one alone shows nothing: Student's t with one degree of
/// freedom is so wide (6.3) that a second trial seldom decides.
const MIN_TRIALS_WITHOUT_NOISE: u32 = 3;

/// How many more trials would decide, if they are like those so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoreTrials {
    /// At least this many are needed before anything can be estimated.
    AtLeast(u32),
    /// About this many would decide.
    About(u32),
    /// More than this many would be needed.
    MoreThan(u32),
    /// No number would decide: the published figure's own deviation is too large.
    Never,
    /// No number of trials that depend on their order would decide; independent ones would.
    Independent,
    /// No number would decide: the figure is rounded too coarsely.
    Finer,
}

/// Estimates how many more trials would put a bound with error `alpha` past an edge of the
/// acceptance region, at `distance` from the centre.
pub fn estimate_more_trials(estimate: &Estimate, distance: f64, alpha: f64) -> MoreTrials {
    if distance < estimate.rounding_error {
        return MoreTrials::Finer;
    }
    if estimate.order.is_some() {
        return MoreTrials::Independent;
    }
    let count = f64::from(estimate.count);
    // The error of one trial in the aggregate, and the lag of the degrees of freedom.
    let (of_one, lag) = match &estimate.method {
        BoundsMethod::TooFew { needed } => {
            return MoreTrials::AtLeast(
                (*needed).max(MIN_TRIALS_WITHOUT_NOISE).saturating_sub(estimate.count).max(1),
            );
        }
        BoundsMethod::Assumed { noise } => (*noise, 1.0),
        BoundsMethod::Student { error, degrees, .. } => (error * count.sqrt(), count - degrees),
        BoundsMethod::Ordered { deviation, .. } => {
            (deviation * std::f64::consts::FRAC_PI_2.sqrt(), 1.0)
        }
    };
    let sigma = estimate.sigma;
    if distance < student_quantile(alpha, f64::INFINITY) * sigma {
        return MoreTrials::Never;
    }
    (1..=MAX_MORE_TRIALS)
        .find(|more| {
            let trials = count + f64::from(*more);
            half_width(of_one / trials.sqrt(), trials - lag, sigma, alpha) <= distance
        })
        .map_or(MoreTrials::MoreThan(MAX_MORE_TRIALS), MoreTrials::About)
}

/// Estimates how many more trials each of two samples needs; they have equally many trials, or one of them has one
/// more.
pub(crate) fn estimate_more_trials_each(
    error: StandardError,
    distance: f64,
    alpha: f64,
) -> MoreTrials {
    let count = f64::from(error.trials.max(1));
    (1..=MAX_MORE_TRIALS)
        .find(|more| {
            let all = count + f64::from(*more);
            // Each trial adds as much to the degrees of freedom as those so far did on average.
            let degrees = error.degrees * (all - 1.0) / (count - 1.0).max(1.0);
            student_quantile(alpha, degrees) * error.value * (count / all).sqrt() <= distance
        })
        .map_or(MoreTrials::MoreThan(MAX_MORE_TRIALS), MoreTrials::About)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::ReferenceComparison;
    use retrial_readings::claim::{Aggregate, Better};

    fn estimate(values: &[f64], noise: Option<f64>, sigma: f64) -> Estimate {
        let comparison = ReferenceComparison {
            reference: 100.0,
            sigma,
            better: Better::Higher,
            aggregate: Aggregate::Mean,
            noise,
            rounding_error: 0.0,
            typical: true,
        };
        Estimate::from_trials(values, &comparison)
    }

    fn required_trials(estimate: &Estimate) -> MoreTrials {
        estimate_more_trials(estimate, (estimate.center - 0.95_f64.ln()).abs(), 0.05)
    }

    #[test]
    fn more_trials_are_needed_near_the_margin() {
        assert_eq!(required_trials(&estimate(&[95.8], Some(0.008), 0.0)), MoreTrials::About(4));
        assert_eq!(required_trials(&estimate(&[95.3], Some(0.008), 0.0)), MoreTrials::About(19));
        assert_eq!(required_trials(&estimate(&[95.0], Some(0.008), 0.0)), MoreTrials::MoreThan(30));
    }

    #[test]
    fn three_trials_are_needed_without_assumed_noise() {
        assert_eq!(required_trials(&estimate(&[99.0], None, 0.0)), MoreTrials::AtLeast(2));
    }

    #[test]
    fn a_reference_that_is_too_noisy_never_decides() {
        assert_eq!(required_trials(&estimate(&[96.0, 96.1, 95.9], None, 0.02)), MoreTrials::Never);
    }

    #[test]
    fn the_predicted_number_of_trials_suffices() {
        // Trials that go on as before: the estimate is where the bound first clears the margin.
        let so_far = [97.5, 99.5, 95.5];
        let MoreTrials::About(more) = required_trials(&estimate(&so_far, None, 0.0)) else {
            unreachable!("three trials with a deviation of 2 % decide within 30");
        };
        let deviation = estimate(&so_far, None, 0.0).trial_deviation().unwrap();
        let lower = |trials: u32| {
            let trials = f64::from(trials);
            0.975_f64.ln() - half_width(deviation / trials.sqrt(), trials - 1.0, 0.0, 0.05)
        };
        assert!(lower(3 + more) > 0.95_f64.ln() - 5e-4);
        assert!(lower(3 + more - 1) < 0.95_f64.ln() + 5e-4);
    }
}
