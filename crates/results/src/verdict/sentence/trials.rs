//! Trials that are not like the others, and trials that depend on their order.

use itertools::join;

use super::super::published_figure::PublishedFigureTrials;
use super::super::{Judgement, number};
use retrial_recipe::model::Better;
use retrial_stats::{Aggregate, OrderEffect, aggregate_trials};

/// `trial 3 is 9.8 % slower than the median, which is judged`
pub(crate) fn describe_unlike_trials(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
) -> Vec<String> {
    let mut words = Vec::new();
    let slow = &judgement.slow;
    if !slow.is_empty() {
        let slower = number::format_percent(min_slowdown(compared));
        let single = format!("is {slower} slower than the median, which is judged");
        let several = format!("are at least {slower} slower than the median, which is judged");
        words.push(name_trials(slow, &single, &several));
    }
    let outliers = judgement.outliers.iter();
    let outliers: Vec<u32> = outliers.filter(|trial| !slow.contains(trial)).copied().collect();
    if !outliers.is_empty() {
        words.push(name_trials(&outliers, "is an outlier", "are outliers"));
    }
    if let Some(slower) = judgement.slow_start {
        let by = number::format_percent(1.0 - (-slower).exp());
        words.push(format!("trial 1 is {by} slower than the others: a warm-up?"));
    }
    words.extend(judgement.order.map(|order| match order {
        OrderEffect::Trend(step) => {
            let direction = if step > 0.0 { "better" } else { "worse" };
            let by = number::format_percent(step.abs().exp_m1());
            format!("each is about {by} {direction} than the one before: they count as one")
        }
        OrderEffect::Alike => "each is like the one before: they count as one".to_owned(),
    }));
    words
}

/// Returns the least share by which the slow trials are slower than the median of all.
fn min_slowdown(compared: &PublishedFigureTrials) -> f64 {
    let median = aggregate_trials(&compared.values, Aggregate::Median).unwrap_or(f64::NAN);
    let slow = compared.estimate.iter().flat_map(|estimate| &estimate.slow);
    let shares = slow.map(|position| match compared.better {
        None | Some(Better::Higher) => 1.0 - compared.values[*position] / median,
        Some(Better::Lower) => 1.0 - median / compared.values[*position],
    });
    shares.fold(1.0, f64::min)
}

/// `trial 2 is …`, `trials 2, 5 are …`
fn name_trials(trials: &[u32], single: &str, several: &str) -> String {
    match trials {
        [trial] => format!("trial {trial} {single}"),
        _ => format!("trials {} {several}", join(trials, ", ")),
    }
}
