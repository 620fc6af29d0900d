//! The decision of the bounds on a claim, and what would decide it where they are inconclusive.

use super::super::published_figure::PublishedFigureTrials;
use super::super::{Judgement, MoreTrials, Noise, Outcome, number};
use retrial_document::measures::format;
use retrial_recipe::model::{Aggregate, Better, Claim};
use retrial_stats::Decision;

/// `at worst 0.5 % below (95 %), 5 % allowed`
pub(crate) fn describe_decision(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
    better: Better,
    confidence: f64,
) -> String {
    let allowed = describe_allowed(judgement);
    let Some(bounds) = judgement.bounds else {
        return allowed;
    };
    let deviation = |ratio: f64| describe_deviation(ratio, judgement.margin, better);
    let at = number::format_percent(confidence);
    if bounds.upper <= bounds.lower {
        return match judgement.ratio {
            Some(1.0) => format!("equal as printed, {allowed}"),
            _ => format!("{}, {allowed}", deviation(bounds.lower)),
        };
    }
    let is_equivalence = judgement.claim == Claim::Equivalent;
    match judgement.outcome {
        Outcome::Reproduced if is_equivalence => {
            let within = judgement.holds_within.unwrap_or(0.0);
            let far = number::format_distinct_percent(within, judgement.margin);
            format!("at most {far} away ({at}), {allowed}")
        }
        Outcome::Reproduced => format!("at worst {} ({at}), {allowed}", deviation(bounds.lower)),
        Outcome::NotReproduced | Outcome::Invalid if is_equivalence => {
            let nearest = if bounds.lower > 1.0 { bounds.lower } else { bounds.upper };
            format!("at least {} ({at}), {allowed}", deviation(nearest))
        }
        Outcome::NotReproduced | Outcome::Invalid => {
            format!("at best {} ({at}), {allowed}", deviation(bounds.upper))
        }
        _ if compared.decide(compared.alpha) == Decision::Worse => format!(
            "at best {} ({at}), {allowed}, but not after Holm's correction for all figures of this run",
            deviation(bounds.upper)
        ),
        // Each bound errs once in twenty: together they are a 90 % interval.
        _ => format!(
            "between {} and {} ({}), {allowed}",
            deviation(bounds.lower),
            deviation(bounds.upper),
            number::format_percent(2.0 * confidence - 1.0),
        ),
    }
}

/// `5 % allowed`, as the claim means it.
fn describe_allowed(judgement: &Judgement) -> String {
    let margin = number::format_percent(judgement.margin);
    match judgement.claim {
        Claim::NotWorse => format!("{margin} allowed"),
        Claim::Equivalent => format!("{margin} either way allowed"),
        Claim::Better if judgement.margin > 0.0 => format!("better by {margin} required"),
        Claim::Better => "better required".to_owned(),
    }
}

/// Describes a ratio to the published figure, above 1 if better: `0.5 % below`; of latencies, `0.5 % worse`.
fn describe_deviation(ratio: f64, margin: f64, better: Better) -> String {
    let below = 1.0 - ratio;
    let far = number::format_distinct_percent(below.abs(), margin);
    let direction = match (better, below > 0.0) {
        (Better::Higher, true) => "below",
        (Better::Higher, false) => "above",
        (Better::Lower, true) => "worse",
        (Better::Lower, false) => "better",
    };
    format!("{far} {direction}")
}

/// `One trial cannot show this: measure two more (--trials 3), or state noise: in the recipe`
pub(crate) fn describe_single_trial(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
) -> Option<String> {
    let is_single = judgement.trials == 1 && compared.aggregate != Aggregate::Olympic;
    let Some(MoreTrials::AtLeast(more)) = judgement.more_trials else {
        return None;
    };
    (is_single && judgement.noise == Noise::Unknown).then(|| {
        format!(
            "One trial cannot show this: measure {} more (`--trials {}`), or state `noise:` in the recipe",
            format::format_small_count(more),
            judgement.trials + more
        )
    })
}

/// Describes what would decide an inconclusive figure: `Measure at least two more (--trials 5)`.
pub(crate) fn describe_remedy(judgement: &Judgement) -> Option<String> {
    let count = format::format_small_count;
    let all = |more: u32| judgement.trials + more;
    Some(match judgement.more_trials? {
        MoreTrials::AtLeast(more) => {
            let all = all(more);
            format!("Measure at least {} more (`--trials {all}`)", count(more))
        }
        MoreTrials::About(more) => {
            let all = all(more);
            format!("Measure about {} more (`--trials {all}`)", count(more))
        }
        MoreTrials::MoreThan(more) => {
            format!("It would take more than {} further trials", count(more))
        }
        MoreTrials::Independent => {
            "More trials like these would not decide: take them after a pause, in another order or \
             in separate runs"
                .to_owned()
        }
        MoreTrials::Finer => {
            "No number of trials would decide: the figure is printed too coarsely".to_owned()
        }
        MoreTrials::Never => {
            "No number of trials would decide: the published figure itself is too imprecise"
                .to_owned()
        }
    })
}
