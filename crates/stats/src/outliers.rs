//! Trials that lie far from the others. They are shown, never dropped.

use crate::descriptive::median;

/// Deviations from the median, in median absolute deviations, above which hyperfine warns: 1.4826
/// makes the latter a standard deviation (Iglewicz and Hoaglin, 1993), and ten of them are far.
const OUTLIER_THRESHOLD: f64 = 1.4826 * 10.0;
/// The fewest trials that are tested: of fewer a median of deviations is meaningless.
const MIN_OUTLIER_TRIALS: usize = 5;

/// Returns the positions of the values that lie far from the median, from 0.
pub fn find_outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < MIN_OUTLIER_TRIALS || !values.iter().all(|value| value.is_finite()) {
        return Vec::new();
    }
    let center = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    // Where most trials printed the same figure the deviation is zero, and any other figure would
    // be endlessly far: a thousandth of the median is the least that counts.
    let spread = median(&deviations).max(center.abs() * 1e-3);
    deviations
        .iter()
        .enumerate()
        .filter(|(_, deviation)| spread > 0.0 && **deviation / spread > OUTLIER_THRESHOLD)
        .map(|(position, _)| position)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_is_found() {
        assert_eq!(find_outliers(&[100.0, 100.2, 99.9, 100.1, 60.0]), [4]);
    }

    /// Ten standard deviations, as hyperfine counts them: with a median absolute deviation of one,
    /// 14.8 away is not far and 14.9 is.
    #[test]
    fn the_threshold_is_that_of_hyperfine() {
        let with = |far: f64| find_outliers(&[99.0, 100.0, 101.0, 99.0, 100.0, 101.0, 100.0 + far]);
        assert!(with(14.8).is_empty());
        assert_eq!(with(14.9), [6]);
    }

    #[test]
    fn neighbours_and_equal_trials_are_not_outliers() {
        assert!(find_outliers(&[100.0, 100.2, 99.9, 100.1, 101.0]).is_empty());
        assert!(find_outliers(&[100.0, 100.0, 100.0, 100.0, 100.01]).is_empty());
        assert!(find_outliers(&[0.0; 6]).is_empty());
        assert!(find_outliers(&[1.0, 2.0, 3.0, 400.0]).is_empty(), "four trials say nothing");
    }
}
