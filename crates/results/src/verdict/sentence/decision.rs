//! The decision of the bounds on a claim, and what would decide it where they are inconclusive.

use super::super::compare::PublishedFigureTrials;
use super::super::{Bounds, Judgement, MoreTrials, Outcome, number};
use retrial_document::measures::format;
use retrial_recipe::model::{Better, Claim};
use retrial_stats::Decision;

/// `at 95 % confidence at most 3.1 % below the published figure; 5 % is allowed (3 trials, …)`
pub(crate) fn describe_decision(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
    confidence: f64,
    basis: &str,
) -> String {
    let at = format!("at {} confidence", number::format_percent(confidence));
    let allowed = describe_allowed(judgement);
    let more = || describe_more_trials(judgement.more_trials);
    let Some(bounds) = judgement.bounds else {
        return format!("{allowed}, but {basis}; {}", more());
    };
    let wide = bounds.upper > bounds.lower;
    match judgement.outcome {
        Outcome::Reproduced if wide => {
            format!(
                "{at} {}; {allowed} ({basis})",
                describe_holding(compared, judgement)
            )
        }
        Outcome::Reproduced => format!(
            "{}; {allowed} ({basis})",
            describe_holding(compared, judgement)
        ),
        Outcome::NotReproduced | Outcome::Invalid if wide => format!(
            "{at} {} of the published figure; {} is required ({basis})",
            describe_missed_bound(judgement, bounds),
            describe_required(judgement)
        ),
        Outcome::NotReproduced | Outcome::Invalid => {
            format!("{} is required ({basis})", describe_required(judgement))
        }
        _ if compared.decide(compared.alpha) == Decision::Worse => format!(
            "{at} {} of the published figure, but only before Holm's correction for all figures of \
             this run; {allowed} ({basis}); {}",
            describe_missed_bound(judgement, bounds),
            more()
        ),
        // Each bound errs once in twenty: together they are a 90 % interval.
        _ => format!(
            "{} interval {}–{}, {}; {allowed}; {} ({basis})",
            number::format_percent(2.0 * confidence - 1.0),
            number::format_ratio(bounds.lower),
            number::format_ratio(bounds.upper),
            describe_distance(compared, judgement),
            more()
        ),
    }
}

/// `5 % is allowed`, as the claim means it.
fn describe_allowed(judgement: &Judgement) -> String {
    let margin = number::format_percent(judgement.margin);
    match judgement.claim {
        Claim::NotWorse => format!("{margin} is allowed"),
        Claim::Equivalent => format!("{margin} either way is allowed"),
        Claim::Better if judgement.margin > 0.0 => format!("better by {margin} is required"),
        Claim::Better => "better is required".to_owned(),
    }
}

/// Returns the ratios that the claim requires.
fn describe_required(judgement: &Judgement) -> String {
    let least = number::format_ratio(1.0 - judgement.margin);
    let most = number::format_ratio(1.0 / (1.0 - judgement.margin));
    match judgement.claim {
        Claim::NotWorse => format!("at least {least}"),
        Claim::Equivalent => format!("{least}–{most}"),
        Claim::Better => format!("more than {most}"),
    }
}

/// Describes how well the claim holds.
fn describe_holding(compared: &PublishedFigureTrials, judgement: &Judgement) -> String {
    match (judgement.claim, judgement.bounds) {
        (Claim::Better, Some(bounds)) => {
            let least = number::format_ratio(bounds.lower);
            format!("better, at least {least} of the published figure")
        }
        _ => describe_distance(compared, judgement),
    }
}

/// `at most 3.1 % below the published figure`; of latencies, `worse than`.
fn describe_distance(compared: &PublishedFigureTrials, judgement: &Judgement) -> String {
    let within = judgement.holds_within.unwrap_or(0.0);
    let far = number::format_distinct_percent(within, judgement.margin);
    let exact = judgement.bounds.is_some_and(|it| it.upper <= it.lower);
    match (judgement.claim, compared.better) {
        (Claim::Equivalent, _) if within > 0.0 => {
            format!("at most {far} from the published figure")
        }
        (_, Some(Better::Higher)) if within > 0.0 => {
            format!("at most {far} below the published figure")
        }
        (_, Some(Better::Lower)) if within > 0.0 => {
            format!("at most {far} worse than the published figure")
        }
        _ if exact && judgement.ratio == Some(1.0) => "equal as printed".to_owned(),
        (Claim::Equivalent, _) => "the same as the published figure".to_owned(),
        _ => "at least as good as the published figure".to_owned(),
    }
}

/// Returns the bound that speaks against the claim.
fn describe_missed_bound(judgement: &Judgement, bounds: Bounds) -> String {
    if judgement.claim == Claim::Equivalent && bounds.lower > 1.0 {
        format!("at least {}", number::format_ratio(bounds.lower))
    } else {
        format!("at most {}", number::format_ratio(bounds.upper))
    }
}

fn describe_more_trials(more: Option<MoreTrials>) -> String {
    let trials = |more: u32| format::format_count(more as usize, "more trial");
    match more {
        Some(MoreTrials::AtLeast(more)) => format!("it takes at least {}", trials(more)),
        Some(MoreTrials::About(more)) => format!("about {} would decide", trials(more)),
        Some(MoreTrials::MoreThan(more)) => format!("it would take more than {}", trials(more)),
        Some(MoreTrials::Independent) => {
            "more trials like these would not decide: take them after a pause, in another order or \
             in separate runs"
                .to_owned()
        }
        Some(MoreTrials::Finer) => {
            "no number of trials would decide: the figure is printed too coarsely".to_owned()
        }
        Some(MoreTrials::Never) | None => {
            "no number of trials would decide: the published figure itself is too imprecise"
                .to_owned()
        }
    }
}
