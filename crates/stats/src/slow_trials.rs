//! Trials that are slower than the others: rare ones, and the first.

use crate::descriptive::{mean, median, standard_deviation, to_f64};
use crate::outliers::find_outliers;
use crate::quantile::student_quantile;

/// Slower than the median by this many of the deviations that one trial is assumed to have: a trial
/// in a hundred thousand is, if it has two of them, and one in two million if it has one.
const SLOW_TRIAL_DEVIATIONS: f64 = 6.0;
/// Slow trials are rare if there are at least this many trials for each.
const MIN_TRIALS_PER_SLOW_TRIAL: usize = 3;
/// Fewest trials whose median is typical.
const MIN_TYPICAL_TRIALS: usize = 3;
/// The probability that a first trial like the others is reported as slow.
const SLOW_START_ALPHA: f64 = 0.01;
/// A first trial that is slower by less is not worth a word.
const MIN_SLOW_START: f64 = 0.005;

/// Positions of rare trials (oriented log ratios) far below the median: by the assumed noise of one
/// trial, or from five on by the others' own scatter. None where they are not rare.
pub fn find_slow_trials(logs: &[f64], noise: Option<f64>) -> Vec<usize> {
    if logs.len() < MIN_TYPICAL_TRIALS || !logs.iter().all(|log| log.is_finite()) {
        return Vec::new();
    }
    let median_log = median(logs);
    let far = match noise.filter(|noise| *noise > 0.0) {
        None => find_outliers(&logs.iter().map(|log| log.exp()).collect::<Vec<f64>>()),
        Some(noise) => {
            let is_far =
                |position: &usize| median_log - logs[*position] > SLOW_TRIAL_DEVIATIONS * noise;
            (0..logs.len()).filter(is_far).collect()
        }
    };
    let is_slow = |position: &usize| logs[*position] < median_log;
    let slow: Vec<usize> = far.into_iter().filter(is_slow).collect();
    if slow.len() * MIN_TRIALS_PER_SLOW_TRIAL > logs.len() {
        return Vec::new();
    }
    slow
}

/// By how much the first trial is slower than the mean of the others, as a log ratio, where chance
/// seldom makes it: a warm-up.
pub fn measure_slow_start(logs: &[f64], noise: Option<f64>) -> Option<f64> {
    let (first, others) = logs.split_first()?;
    if others.len() < MIN_TYPICAL_TRIALS - 1 || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let count = to_f64(others.len());
    // Two others may be near each other by chance: an assumed noise is better known than theirs.
    let (scatter, degrees) = match noise.filter(|noise| *noise > 0.0) {
        Some(noise) => (standard_deviation(others).max(noise), f64::INFINITY),
        None => (standard_deviation(others), count - 1.0),
    };
    let by_chance =
        student_quantile(SLOW_START_ALPHA, degrees) * scatter * (1.0 + 1.0 / count).sqrt();
    let slower = mean(others) - first;
    (slower > by_chance.max(MIN_SLOW_START)).then_some(slower)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one(&[0.0, -0.1, 0.001], Some(0.008), &[1])]
    #[case::two_trials(&[0.0, -0.1], Some(0.008), &[])]
    #[case::near(&[0.0, -0.04, 0.001], Some(0.008), &[])]
    #[case::fast(&[0.0, 0.1, 0.001], Some(0.008), &[])]
    #[case::two_of_five(&[0.0, -0.1, -0.1, 0.001, 0.002], Some(0.008), &[])]
    #[case::two_of_six(&[0.0, -0.1, -0.1, 0.001, 0.002, 0.0], Some(0.008), &[1, 2])]
    #[case::unknown_of_three(&[0.0, -0.1, 0.001], None, &[])]
    #[case::unknown(&[0.0, 0.002, -0.1, 0.001, -0.001], None, &[2])]
    #[case::unknown_fast(&[0.0, 0.002, 0.1, 0.001, -0.001], None, &[])]
    fn rare_slow_trials_are_found(
        #[case] logs: &[f64],
        #[case] noise: Option<f64>,
        #[case] expected: &[usize],
    ) {
        assert_eq!(find_slow_trials(logs, noise), expected);
    }

    #[rstest]
    #[case(&[-0.031, 0.0, 0.001], Some(0.001), true)]
    #[case(&[-0.031, 0.0, 0.001], Some(0.018), false)]
    #[case(&[-0.02, 0.0, 0.001], None, false)]
    #[case(&[-0.031, 0.0, 0.001, -0.001, 0.0], None, true)]
    #[case(&[0.031, 0.0, 0.001, -0.001, 0.0], None, false)]
    #[case(&[-0.004, 0.0, 0.0, 0.0, 0.0], None, false)]
    #[case(&[-0.031, 0.0], Some(0.001), false)]
    fn a_slow_start_is_found(
        #[case] logs: &[f64],
        #[case] noise: Option<f64>,
        #[case] named: bool,
    ) {
        assert_eq!(measure_slow_start(logs, noise).is_some(), named);
    }
}
