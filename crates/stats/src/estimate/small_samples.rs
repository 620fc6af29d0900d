//! Standard errors of medians and Olympic means of few trials, in deviations of one trial.

use crate::descriptive::to_f64;

/// Standard error of the median of three and of the middle two of four: exact under normal noise, from the variances
/// of normal order statistics (David and Nagaraja, Order Statistics, 2003).
pub(crate) fn error_of_middle(trials: usize) -> f64 {
    let variance: f64 = if trials == 3 { 0.448_7 } else { 0.298_2 };
    variance.sqrt()
}

/// Standard error of the median of many, under normal noise; of few it is a little less.
pub(crate) fn error_of_median(trials: usize) -> f64 {
    (std::f64::consts::FRAC_PI_2 / to_f64(trials)).sqrt()
}

/// Returns the factor of the winsorized error of an Olympic mean. Tukey and `McLaughlin`'s t is
/// asymptotic: of five trials under normal noise 6.8 % of the 5 % bounds fail, and 0.82 % of those
/// at 0.5 %. These factors bring the error of both, and of all between (stages
/// split it), to the requested error or less: simulated, 8 million samples each.
pub(crate) fn winsorized_error_factor(trials: usize) -> f64 {
    const FROM_FIVE: [f64; 6] = [1.30, 1.185, 1.12, 1.08, 1.06, 1.045];
    FROM_FIVE
        .get(trials.saturating_sub(5))
        .copied()
        .unwrap_or_else(|| 1.0 + 4.0 / (to_f64(trials) * to_f64(trials)))
}
