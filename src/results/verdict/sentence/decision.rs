//! What the bounds say of a claim, and what would decide it where they do not.

use super::super::compare::Compared;
use super::super::{Bounds, Judgement, MoreTrials, Outcome, number};
use retrial_recipe::model::Claim;
use retrial_stats::Decision;

/// `at 95 % confidence it holds to within 3.1 %; asked 5 % (3 trials, noise 1 %)`
pub(crate) fn words(
    compared: &Compared,
    judgement: &Judgement,
    confidence: f64,
    basis: &str,
) -> String {
    let at = format!("at {} confidence", number::percent(confidence));
    let asked = asked(judgement);
    let more = || more(judgement.more_trials);
    let Some(bounds) = judgement.bounds else {
        return format!("asked {asked}, but {basis}; {}", more());
    };
    let wide = bounds.upper > bounds.lower;
    match judgement.outcome {
        Outcome::Reproduced => format!("{at} it {}; asked {asked} ({basis})", held(judgement)),
        Outcome::NotReproduced | Outcome::Invalid if wide => format!(
            "{at} it is {}; asked {} ({basis})",
            missed(judgement, bounds),
            region(judgement)
        ),
        Outcome::NotReproduced | Outcome::Invalid => {
            format!("asked {} ({basis})", region(judgement))
        }
        _ if compared.decide(compared.alpha) == Decision::Worse => format!(
            "{at} it is {}, alone, but not corrected for all the figures of this run (Holm); asked \
             {asked} ({basis}); {}",
            missed(judgement, bounds),
            more()
        ),
        // Each bound errs once in twenty: together they are a 90 % interval.
        _ => format!(
            "{at} each way it lies between {} and {}: it {}; asked {asked}; {} ({basis})",
            number::ratio(bounds.lower),
            number::ratio(bounds.upper),
            within(judgement),
            more()
        ),
    }
}

/// `5 %`, as the claim means it.
fn asked(judgement: &Judgement) -> String {
    let margin = number::percent(judgement.margin);
    match judgement.claim {
        Claim::NotWorse => margin,
        Claim::Equivalent => format!("{margin} either way"),
        Claim::Better if judgement.margin > 0.0 => format!("better by {margin}"),
        Claim::Better => "better".to_owned(),
    }
}

/// The ratios that the claim lets through.
fn region(judgement: &Judgement) -> String {
    let least = number::ratio(1.0 - judgement.margin);
    let most = number::ratio(1.0 / (1.0 - judgement.margin));
    match judgement.claim {
        Claim::NotWorse => least,
        Claim::Equivalent => format!("{least}–{most}"),
        Claim::Better => format!("more than {most}"),
    }
}

/// How well it holds.
fn held(judgement: &Judgement) -> String {
    match (judgement.claim, judgement.bounds) {
        (Claim::Better, Some(bounds)) => {
            format!("is better, at least {}", number::ratio(bounds.lower))
        }
        _ => within(judgement),
    }
}

/// `holds to within 3.1 %`
fn within(judgement: &Judgement) -> String {
    let within = judgement.holds_within.unwrap_or(0.0);
    let either_way = if judgement.claim == Claim::Equivalent {
        " either way"
    } else {
        ""
    };
    if within > 0.0 {
        let within = number::percent_unlike(within, judgement.margin);
        format!("holds to within {within}{either_way}")
    } else if either_way.is_empty() {
        "is no worse than published".to_owned()
    } else {
        "is as published".to_owned()
    }
}

/// The bound that speaks against the claim.
fn missed(judgement: &Judgement, bounds: Bounds) -> String {
    if judgement.claim == Claim::Equivalent && bounds.lower > 1.0 {
        format!("at least {}", number::ratio(bounds.lower))
    } else {
        format!("at most {}", number::ratio(bounds.upper))
    }
}

fn more(more: Option<MoreTrials>) -> String {
    let plural = |count: u32| if count == 1 { "trial" } else { "trials" };
    match more {
        Some(MoreTrials::AtLeast(count)) => {
            format!("it takes at least {count} more {}", plural(count))
        }
        Some(MoreTrials::About(count)) => {
            format!("about {count} more {} would decide", plural(count))
        }
        Some(MoreTrials::MoreThan(count)) => {
            format!("it would take more than {count} more {}", plural(count))
        }
        Some(MoreTrials::Never) | None => {
            "no number of trials would decide: the published figure itself is too vague".to_owned()
        }
    }
}
