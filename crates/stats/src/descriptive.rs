//! Means, medians and deviations of values.

/// Returns the arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / to_f64(values.len())
}

/// Returns the standard deviation of a sample.
pub(crate) fn standard_deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    let deviation = (squares / (to_f64(values.len()) - 1.0).max(1.0)).sqrt();
    // Trials that printed the same figure differ only by the rounding of this sum.
    if deviation < 1e-14 { 0.0 } else { deviation }
}

/// Returns the median of at least one value.
pub fn median(values: &[f64]) -> f64 {
    let values = to_sorted(values);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

/// Returns the values in ascending order.
pub(crate) fn to_sorted(values: &[f64]) -> Vec<f64> {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    ascending
}

pub(crate) fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
