//! Detects a trend in the order of trials, or neighbours that are alike. Bounds take trials to be
//! independent; dependent trials carry less information than as many independent ones.
//!
//! Both tests use ranks, so that they hold for every distribution. A trend either way and likeness
//! are each found by chance in one of twenty cases; of three trials, no order is that rare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::descriptive::{to_f64, to_sorted};
use crate::quantile::student_quantile;

/// The fewest trials that are tested: of fewer even a perfect order is common.
const MIN_ORDER_TEST_TRIALS: usize = 4;
/// Error of each: a trend up, a trend down, likeness.
const ORDER_TEST_ALPHA: f64 = 0.05;

/// How trials depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderEffect {
    /// A drift: the change from one trial to the next, as a log ratio; above zero is better.
    Trend(f64),
    /// Each resembles the one before it.
    Alike,
}

/// Tests whether trials, as oriented log ratios in the order in which they ran, depend on it.
pub fn detect_order_effect(logs: &[f64]) -> Option<OrderEffect> {
    if logs.len() < MIN_ORDER_TEST_TRIALS || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    if mann_kendall_p_value(logs) <= 2.0 * ORDER_TEST_ALPHA {
        return Some(OrderEffect::Trend(least_squares_slope(logs)));
    }
    are_neighbours_alike(logs).then_some(OrderEffect::Alike)
}

/// Mann and Kendall's test of a trend (Econometrica 13, 1945): the chance of as many ordered pairs,
/// either way. Exact without ties, and too large with them.
fn mann_kendall_p_value(logs: &[f64]) -> f64 {
    let mut score = 0.0;
    for (position, log) in logs.iter().enumerate() {
        for later in &logs[position + 1..] {
            score += f64::from(later > log) - f64::from(later < log);
        }
    }
    let pairs = to_f64(logs.len() * (logs.len() - 1) / 2);
    let against = (pairs - score.abs()) / 2.0;
    let fewer: f64 = (0..)
        .zip(inversion_shares(logs.len()))
        .take_while(|(count, _)| f64::from(*count) <= against)
        .map(|(_, share)| share)
        .sum();
    (2.0 * fewer).min(1.0)
}

/// The share of all orders of `count` things that have 0, 1, 2, … inversions: each thing adds none
/// up to as many as there were before it, all equally likely.
fn inversion_shares(count: usize) -> Vec<f64> {
    (1..=count).fold(vec![1.0], |shares, things| {
        let mut next = vec![0.0; shares.len() + things - 1];
        for (position, share) in shares.iter().enumerate() {
            for added in &mut next[position..position + things] {
                *added += share / to_f64(things);
            }
        }
        next
    })
}

/// Bartels' rank version of von Neumann's ratio (J. Am. Stat. Assoc. 77, 1982): neighbours are nearer
/// to each other than chance puts them. His normal approximation errs in 4.7 to 5.6 % of all orders
/// of five to nine trials. Trials that print the same figure have no ranks: they are not tested.
fn are_neighbours_alike(logs: &[f64]) -> bool {
    let ordered = to_sorted(logs);
    if ordered.windows(2).any(|pair| pair[0] >= pair[1]) {
        return false;
    }
    let rank = |log: &f64| to_f64(ordered.partition_point(|other| other < log));
    let ranks: Vec<f64> = logs.iter().map(rank).collect();
    let apart: f64 = ranks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let count = to_f64(logs.len());
    let ratio = apart / (count * (count * count - 1.0) / 12.0);
    let variance = 4.0 * (count - 2.0) * (5.0 * count * count - 2.0 * count - 9.0)
        / (5.0 * count * (count + 1.0) * (count - 1.0).powi(2));
    ratio <= 2.0 - student_quantile(ORDER_TEST_ALPHA, f64::INFINITY) * variance.sqrt()
}

/// The line of least squares.
fn least_squares_slope(logs: &[f64]) -> f64 {
    let middle = (to_f64(logs.len()) - 1.0) / 2.0;
    let places = (0..logs.len()).map(|place| to_f64(place) - middle);
    let (up, across) = places
        .zip(logs)
        .fold((0.0, 0.0), |(up, across), (place, log)| (up + place * log, across + place * place));
    up / across
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::too_few(&[1.0, 2.0, 3.0], None)]
    #[case::four(&[1.0, 2.0, 3.0, 4.0], Some(OrderEffect::Trend(1.0)))]
    #[case::nearly_four(&[1.0, 2.0, 4.0, 3.0], None)]
    #[case::rising(&[1.0, 2.0, 3.0, 4.0, 5.0], Some(OrderEffect::Trend(1.0)))]
    #[case::falling(&[5.0, 4.0, 3.0, 2.0, 1.0, 0.0], Some(OrderEffect::Trend(-1.0)))]
    #[case::mixed(&[3.0, 1.0, 4.0, 2.0, 5.0], None)]
    #[case::equal(&[1.0; 6], None)]
    // Two levels, each printed alike: one order of twenty has them apart, and none is named.
    #[case::ties(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], None)]
    #[case::there_and_back(&[1.0, 3.0, 5.0, 7.0, 8.0, 6.0, 4.0, 2.0], Some(OrderEffect::Alike))]
    fn order_effects_are_detected(#[case] trials: &[f64], #[case] expected: Option<OrderEffect>) {
        assert_eq!(detect_order_effect(trials), expected);
    }

    /// As any table of Kendall's test has it: of five, 10 and 8 ordered pairs more than others.
    #[rstest]
    #[case(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0 / 120.0)]
    #[case(&[1.0, 2.0, 3.0, 5.0, 4.0], 10.0 / 120.0)]
    #[case(&[2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0, 8.0], 0.001_736)]
    fn trend_probabilities_match_kendalls_table(#[case] trials: &[f64], #[case] expected: f64) {
        let actual = mann_kendall_p_value(trials);
        assert!((actual - expected).abs() < 1e-6, "{actual}");
    }

    /// All orders of six trials: the share that is reported matches the documentation above.
    #[test]
    fn false_alarm_rates_match_the_documentation() {
        fn count_false_alarms(rest: &[f64], so_far: &mut Vec<f64>, counts: &mut [u32; 2]) {
            if rest.is_empty() {
                counts[0] += u32::from(mann_kendall_p_value(so_far) <= 2.0 * ORDER_TEST_ALPHA);
                counts[1] += u32::from(are_neighbours_alike(so_far));
            }
            for trial in rest {
                let others: Vec<f64> =
                    rest.iter().copied().filter(|other| other.total_cmp(trial).is_ne()).collect();
                so_far.push(*trial);
                count_false_alarms(&others, so_far, counts);
                so_far.pop();
            }
        }
        let mut counts = [0, 0];
        count_false_alarms(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut Vec::new(), &mut counts);
        assert_eq!(counts, [40, 34], "of 720");
    }
}
