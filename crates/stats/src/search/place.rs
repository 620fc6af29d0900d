//! The place of the change among neighbouring positions: its probabilities given the trials.
//!
//! Figures before the change have one mean and those behind it another, with one deviation; none of
//! the three is known. With flat priors of the means and of the deviation's logarithm, the
//! probability of a place is proportional to `(n m)^(-1/2) S^(-(n + m - 2) / 2)`, for `n` trials
//! before it, `m` behind it and `S` their squared distances from the two means (G. Box and G. Tiao,
//! Bayesian Inference in Statistical Analysis, 1973). Few trials then decide little by themselves.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::tally::PositionTally;
use crate::quantile::student_quantile;

/// Trials of a position before it may count as a level of its own.
const MIN_LEVEL_TRIALS: f64 = 3.0;

/// The first and the last position of the part in which a change is searched: where a position
/// differs from both ends, there is more than one change, and the larger one is searched.
pub(super) fn narrow_to_main_change(tallies: &[PositionTally], alpha: f64) -> (usize, usize) {
    let (mut first, mut last) = (0, tallies.len() - 1);
    let inner = &tallies[1..last.max(1)];
    if inner.iter().all(|tally| tally.count < MIN_LEVEL_TRIALS) {
        return (first, last);
    }
    let scatter: f64 = tallies.iter().map(PositionTally::squared_deviations).sum();
    let measured = tallies.iter().filter(|tally| tally.count > 0.0);
    let degrees: f64 = measured.map(|tally| tally.count - 1.0).sum();
    let deviation = (scatter / degrees.max(1.0)).sqrt();
    // This is decided after every trial, and an existing level is measured until it is significant.
    let factor = student_quantile(alpha / 1000.0, degrees.max(1.0));
    let is_other = |one: &PositionTally, other: &PositionTally| {
        let error = deviation * (1.0 / one.count + 1.0 / other.count).sqrt();
        (one.mean() - other.mean()).abs() > factor * error
    };
    while let Some(level) = (first + 1..last).find(|position| {
        let tally = &tallies[*position];
        tally.count >= MIN_LEVEL_TRIALS
            && is_other(tally, &tallies[first])
            && is_other(tally, &tallies[last])
    }) {
        let middle = tallies[level].mean();
        if tallies[first].mean() - middle > middle - tallies[last].mean() {
            last = level;
        } else {
            first = level;
        }
    }
    (first, last)
}

/// The probabilities of the places between neighbours, by figures.
pub(super) fn place_chances_by_figures(tallies: &[PositionTally], printed: f64) -> Vec<f64> {
    let all = PositionTally::merge(tallies).count;
    let logs = (1..tallies.len()).map(|behind| {
        let (one, other) = tally_sides(tallies, behind);
        // What was printed is a figure rounded: a third of the square of half a digit.
        let scatter =
            one.squared_deviations() + other.squared_deviations() + all * printed * printed / 3.0;
        -0.5 * (one.count * other.count).ln() - 0.5 * (all - 2.0) * scatter.ln()
    });
    normalize_chances(logs.collect())
}

/// The probabilities of the places, by answers that are each wrong with probability `error`.
pub(super) fn place_chances_by_answers(tallies: &[PositionTally], error: f64) -> Vec<f64> {
    let odds = ((1.0 - error) / error).ln();
    let logs = (1..tallies.len()).map(|behind| {
        let (one, other) = tally_sides(tallies, behind);
        0.5 * odds * (one.yes_surplus() - other.yes_surplus())
    });
    normalize_chances(logs.collect())
}

/// All trials before a position, and all from it on.
fn tally_sides(tallies: &[PositionTally], position: usize) -> (PositionTally, PositionTally) {
    let (before, behind) = tallies.split_at(position);
    (PositionTally::merge(before), PositionTally::merge(behind))
}

fn normalize_chances(logs: Vec<f64>) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logs.into_iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

/// The position before which and behind which the change is most equally likely.
pub(super) fn median_position(chances: &[f64]) -> usize {
    let mut before = 0.0;
    let distances = chances.iter().map(|chance| {
        before += chance;
        (before - 0.5).abs()
    });
    // The last place is before the last position, which is no inner one.
    let inner = distances.take(chances.len() - 1).enumerate();
    let nearest = inner.min_by(|(_, one), (_, other)| one.total_cmp(other));
    nearest.map_or(0, |(place, _)| place + 1)
}

/// The first and the last place without tails of less than `alpha` together.
pub(super) fn credible_interval(chances: &[f64], alpha: f64) -> (usize, usize) {
    let tail = |chances: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        chances
            .take_while(|chance| {
                sum += **chance;
                sum <= alpha / 2.0
            })
            .count()
    };
    let low = tail(&mut chances.iter());
    let high = tail(&mut chances.iter().rev());
    (low, chances.len() - 1 - high)
}

/// The deviation of one trial from the mean of its side of a place.
pub(super) fn trial_deviation(tallies: &[PositionTally], at: usize) -> f64 {
    let (one, other) = tally_sides(tallies, at + 1);
    let degrees = (one.count + other.count - 2.0).max(1.0);
    ((one.squared_deviations() + other.squared_deviations()) / degrees).sqrt()
}

/// The standard error of the difference of the two neighbours of a place, and its degrees of freedom.
pub(super) fn neighbour_error(tallies: &[PositionTally], at: usize) -> (f64, f64) {
    let (one, other) = (tallies[at].count, tallies[at + 1].count);
    let error = trial_deviation(tallies, at) * (1.0 / one + 1.0 / other).sqrt();
    (error, (PositionTally::merge(tallies).count - 2.0).max(1.0))
}

/// The number of answers that a sweep takes at each position, so that the two next to the change are right.
pub(super) fn sweep_answers_per_position(error: f64, alpha: f64) -> usize {
    let wrong = |answers: u64| {
        let wrong = Binomial::new(error, answers).ok();
        wrong.map_or(0.0, |wrong| 1.0 - wrong.cdf(answers / 2))
    };
    let mut odd = (1..100).step_by(2);
    odd.find(|answers| 2.0 * wrong(*answers as u64) <= alpha).unwrap_or(99)
}
