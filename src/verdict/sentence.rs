//! One sentence of reason for each figure, result and run.

use super::compare::{Compared, Side};
use super::statistics::Method;
use super::{Judgement, MoreTrials, Noise, Outcome, ResultVerdict, number};
use crate::recipe::model::{Aggregate, ExpectationKind};

/// The sentence on one published figure.
pub(super) fn of_figure(
    compared: &Compared,
    judgement: &Judgement,
    confidence: f64,
    looks: usize,
) -> String {
    let name = &judgement.figure;
    let expectation = compared.expectation();
    let Some(measured) = &judgement.measured else {
        return format!("{name} is missing or no figure to compare.");
    };
    let shown = number::figure(measured.value, &measured.unit);
    let Some(ratio) = judgement.ratio else {
        return format!(
            "{name}: {shown}; the recipe's published value {} has no ratio to it: give it as a limit.",
            number::grouped(expectation.value)
        );
    };
    let published = published(compared, measured.value);
    let head = format!("{name}: {shown} is {} of {published}", number::ratio(ratio));
    let ground = ground(compared, judgement, looks);
    let at = format!("at {} confidence", number::percent(confidence));
    let asked = number::percent(judgement.margin);
    let decision = match (judgement.outcome, judgement.bounds) {
        (Outcome::Reproduced, _) => format!("{} ({ground})", holds(judgement, &at)),
        (Outcome::NotReproduced | Outcome::Invalid, Some(bounds)) => {
            let most = number::ratio(bounds.upper);
            let least = number::ratio(1.0 - judgement.margin);
            if bounds.upper > bounds.lower {
                format!("{at} it is at most {most}; asked {least} ({ground})")
            } else {
                format!("asked {least} ({ground})")
            }
        }
        (_, Some(bounds)) if compared.side(compared.alpha) == Side::Worse => format!(
            "{at} it is at most {}, alone, but not corrected for all the figures of this run \
             (Holm); asked {asked} ({ground}); {}",
            number::ratio(bounds.upper),
            more(judgement.more_trials)
        ),
        (_, Some(bounds)) => format!(
            "{at} it lies between {} and {}: {}; {} ({ground})",
            number::ratio(bounds.lower),
            number::ratio(bounds.upper),
            holds(judgement, "it"),
            more(judgement.more_trials)
        ),
        (_, None) => format!(
            "asked {asked}, but {ground}; {}",
            more(judgement.more_trials)
        ),
    };
    let others = others(compared, judgement);
    format!("{head}; {decision}{others}.")
}

/// `holds to within 3.1 %; asked 5 %`
fn holds(judgement: &Judgement, at: &str) -> String {
    let within = judgement.holds_within.unwrap_or(0.0);
    let asked = number::percent(judgement.margin);
    let at = if at == "it" {
        "it".to_owned()
    } else {
        format!("{at} it")
    };
    if within > 0.0 {
        let within = number::percent_unlike(within, judgement.margin);
        format!("{at} holds to within {within}; asked {asked}")
    } else {
        format!("{at} is no worse than published; asked {asked}")
    }
}

/// What the bounds stand on: `one trial, assumed noise 0.8 %`.
fn ground(compared: &Compared, judgement: &Judgement, looks: usize) -> String {
    let mut words = vec![match judgement.trials {
        1 => "one trial".to_owned(),
        trials => match compared.aggregate {
            Aggregate::Mean => format!("{trials} trials"),
            Aggregate::Median => format!("median of {trials} trials"),
            Aggregate::Olympic => format!("Olympic mean of {trials} trials"),
        },
    }];
    match judgement.noise {
        Noise::Measured(noise) if noise > 0.0 => words.push(format!("noise {}", fine(noise))),
        Noise::Measured(_) => words.push("all alike".to_owned()),
        Noise::Assumed(noise) if noise > 0.0 => {
            words.push(format!("assumed noise {}", fine(noise)));
        }
        Noise::Assumed(_) => words.push("compared as printed".to_owned()),
        Noise::Unknown if judgement.trials == 1 && compared.aggregate != Aggregate::Olympic => {
            words.push("its noise is not known".to_owned());
        }
        Noise::Unknown => words.push("too few to judge".to_owned()),
    }
    if let Some(factor) = compared.factor.filter(|factor| *factor > 1.0) {
        words.push(format!(
            "times {} for its convergence",
            number::grouped(factor)
        ));
    }
    if compared.sigma > 0.0 {
        words.push(format!(
            "published with a deviation of {}",
            fine(compared.sigma)
        ));
    }
    if looks > 1 {
        words.push(format!("the error split between {looks} stages"));
    }
    if let Some(Method::Ordered { .. }) = compared.estimate.as_ref().map(|it| &it.method) {
        words.push("bounds by order statistics".to_owned());
    }
    words.join(", ")
}

/// A noise may be far under a tenth of a percent.
fn fine(fraction: f64) -> String {
    if fraction < 0.000_5 {
        format!("{} %", number::grouped((fraction * 1e6).round() / 1e4))
    } else {
        number::percent(fraction)
    }
}

fn published(compared: &Compared, like: f64) -> String {
    let expectation = compared.expectation();
    let value = number::figure_like(expectation.value, &compared.unit, like);
    let who = match expectation.kind {
        ExpectationKind::Official => "the published",
        ExpectationKind::Guide => "the guide's",
        ExpectationKind::ThirdParty => "a third party's",
    };
    match &expectation.source {
        Some(source) => format!("{who} {value} ({source})"),
        None => format!("{who} {value}"),
    }
}

/// `; 6 other published figures: 0.930–0.980 of it`
fn others(compared: &Compared, judgement: &Judgement) -> String {
    let published = compared.expectation().value;
    let mut ratios: Vec<f64> = judgement
        .references
        .iter()
        .filter(|reference| !reference.decides)
        .map(|reference| reference.value / published)
        .filter(|ratio| ratio.is_finite())
        .collect();
    ratios.sort_by(f64::total_cmp);
    match ratios.as_slice() {
        [] => String::new(),
        [one] => format!("; 1 other published figure: {} of it", number::ratio(*one)),
        [first, .., last] => format!(
            "; {} other published figures: {}–{} of it",
            ratios.len(),
            number::ratio(*first),
            number::ratio(*last)
        ),
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

/// The sentence on a run.
pub(super) fn of_run(outcome: Outcome, results: &[ResultVerdict]) -> String {
    let judged: Vec<Outcome> = results
        .iter()
        .flat_map(|result| &result.judgements)
        .map(|judgement| judgement.outcome)
        .collect();
    let count = |wanted: Outcome| judged.iter().filter(|outcome| **outcome == wanted).count();
    let all = judged.len();
    let figures = if all == 1 { "figure" } else { "figures" };
    let Some(first) = results.iter().find(|result| result.outcome == outcome) else {
        return "There is no result to judge.".to_owned();
    };
    let reason = format!("{} {}: {}", first.scenario, first.mode, first.sentence);
    match outcome {
        Outcome::Measured => "Valid, and nothing was published to compare with.".to_owned(),
        Outcome::Reproduced if all == 1 => "The published figure holds.".to_owned(),
        Outcome::Reproduced => format!("All {all} published figures hold."),
        Outcome::NotReproduced => {
            let bad = count(Outcome::NotReproduced);
            let verb = if bad == 1 { "does" } else { "do" };
            format!("{bad} of {all} published {figures} {verb} not hold. {reason}")
        }
        Outcome::Inconclusive => {
            let open = count(Outcome::Inconclusive);
            let verb = if open == 1 { "is" } else { "are" };
            format!("{open} of {all} published {figures} {verb} not decided. {reason}")
        }
        Outcome::Invalid | Outcome::Failed if results.len() == 1 => reason,
        Outcome::Invalid | Outcome::Failed => {
            let bad = results
                .iter()
                .filter(|result| result.outcome == outcome)
                .count();
            let verb = match (outcome, bad) {
                (Outcome::Failed, _) => "failed",
                (_, 1) => "is invalid",
                _ => "are invalid",
            };
            format!("{bad} of {} results {verb}. {reason}", results.len())
        }
    }
}
