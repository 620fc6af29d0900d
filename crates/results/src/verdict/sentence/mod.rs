//! One sentence of reason for each figure, result and run.

mod decision;
mod trials;

use itertools::Itertools as _;

use super::claim::{ClaimOutcome, ClaimVerdict, summarize_claims};
use super::published_figure::PublishedFigureTrials;
use super::qualify::MAX_PLAUSIBLE_RATIO;
use super::{Judgement, Noise, Outcome, QualifierKind, ResultVerdict, UNKNOWN_DIRECTION, number};
use retrial_document::measures::format;
use retrial_recipe::model::{Aggregate, Better, Expectation, ExpectationKind};
use retrial_stats::Estimate;

/// Relative standard deviation of published results of one round between systems that have the same
/// GPUs, as many of them (v5.1, v6.0; Offline).
const SPREAD_NOTE: &str =
    "Published results of systems with the same GPUs scatter by 1.9–2.0 %, tuning included";

/// What to do about a figure that is probably misread.
const MISREAD_REMEDY: &str =
    "So far off, it may be misread: check the line, the pattern and the unit";

/// Returns the clause on one published figure: how it compares, what that rests on, and what would decide it.
/// It begins with the figure's name if it is `one_of_several`.
pub(crate) fn describe_figure(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
    confidence: f64,
    analyses: usize,
    one_of_several: bool,
) -> String {
    let name = &judgement.figure;
    let expectation = compared.deciding_expectation();
    let Some(measured) = &judgement.measured else {
        return format!("{name} is missing or cannot be compared");
    };
    let Some(better) = compared.better else {
        return format!(
            "{name}: {measured}; {UNKNOWN_DIRECTION} for it: define the figure in the recipe with `better`"
        );
    };
    let Some(ratio) = judgement.ratio else {
        return format!(
            "{name}: {measured}; the recipe's published value {} allows no ratio: state it as a limit",
            number::format_grouped(expectation.value)
        );
    };
    let subject = if one_of_several { format!("{name}: ") } else { String::new() };
    let head = format!(
        "{subject}{measured}, {} of {}",
        format_share(ratio, better),
        describe_published(expectation)
    );
    let misread = judgement.is_probably_misread().then(|| MISREAD_REMEDY.to_owned());
    if judgement.outcome == Outcome::Inconclusive && ratio > MAX_PLAUSIBLE_RATIO {
        let implausible = format!(
            "{head}; more than {MAX_PLAUSIBLE_RATIO} times as good implies a different system, size or benchmark, \
             unless the recipe or the command line states the reason"
        );
        return [implausible].into_iter().chain(misread).join(". ");
    }
    let decision_words = decision::describe_decision(compared, judgement, better, confidence);
    let mut sentences = vec![format!("{head}; {decision_words}")];
    let single_trial = decision::describe_single_trial(compared, judgement);
    if single_trial.is_none() {
        sentences.push(describe_basis(compared, judgement, analyses));
    }
    let remedy = misread.or(single_trial).or_else(|| decision::describe_remedy(judgement));
    sentences.extend(remedy);
    if compared.other_system {
        sentences.push(SPREAD_NOTE.to_owned());
    }
    sentences.join(". ")
}

/// Formats a measured figure as a share of the published one, whichever way the figure goes: `100.0 %`.
fn format_share(ratio: f64, better: Better) -> String {
    let share = match better {
        Better::Higher => ratio,
        Better::Lower => 1.0 / ratio,
    };
    if share < 0.000_5 {
        let two_digits = format!("{:.1e}", share * 100.0);
        format!("{} %", number::format_grouped(two_digits.parse().unwrap_or_default()))
    } else if share < 10.0 {
        format!("{:.1} %", share * 100.0)
    } else {
        format!("{} %", number::format_grouped((share * 100.0).round()))
    }
}

/// Describes the basis of the bounds: `One trial, assumed noise 0.3 %`.
fn describe_basis(
    compared: &PublishedFigureTrials,
    judgement: &Judgement,
    analyses: usize,
) -> String {
    let mut words = vec![match judgement.trials {
        1 => "One trial".to_owned(),
        trials => match compared.aggregate {
            Aggregate::Mean => format!("{trials} trials"),
            how => format!("The {} of {trials} trials", how.name()),
        },
    }];
    match judgement.noise {
        Noise::Measured(noise) if noise > 0.0 => {
            words.push(format!("noise {}", number::format_fine_percent(noise)));
        }
        Noise::Measured(_) => words.push("all alike".to_owned()),
        Noise::Assumed(noise) if noise > 0.0 => {
            words.push(format!("assumed noise {}", number::format_fine_percent(noise)));
        }
        Noise::Assumed(_) => words.push("compared as printed".to_owned()),
        Noise::Unknown => words.push(match &compared.assumed {
            Some(assumed) if judgement.trials > 1 => format!(
                "further apart than the assumed noise of {} allows",
                number::format_fine_percent(assumed.value)
            ),
            _ => "too few to know their noise".to_owned(),
        }),
    }
    words.extend(trials::describe_unlike_trials(compared, judgement));
    if let Some(factor) = compared.factor.filter(|factor| *factor > 1.0) {
        words.push(format!("multiplied by {} for its convergence", number::format_grouped(factor)));
    }
    if compared.sigma > 0.0 {
        words.push(format!(
            "published with a deviation of {}",
            number::format_fine_percent(compared.sigma)
        ));
    }
    if analyses > 1 {
        words.push(format!("the error split between {analyses} interim analyses"));
    }
    let ordered = |it: &Estimate| it.has_order_statistic_bounds(compared.alpha);
    if compared.estimate.as_ref().is_some_and(ordered) {
        words.push("bounds by order statistics".to_owned());
    }
    words.join(", ")
}

/// Names who published the figure: `the published figure`, `the figure of SemiAnalysis`.
fn describe_published(expectation: &Expectation) -> String {
    match (expectation.kind, &expectation.source) {
        (ExpectationKind::Official, _) => "the published figure".to_owned(),
        (ExpectationKind::Guide, _) => "the guide's figure".to_owned(),
        (ExpectationKind::ThirdParty, Some(source)) => format!("the figure of {source}"),
        (ExpectationKind::ThirdParty, None) => "a third party's figure".to_owned(),
    }
}

/// The sentences on a run: the published figures that hold or do not, and the first reason.
#[derive(Debug, Default)]
pub(crate) struct RunSentences {
    /// Empty if the run's only result is invalid or failed.
    pub headline: String,
    /// Empty if the headline says all.
    pub detail: String,
}

/// Describes the outcome of a run: that of its results, and its claims.
pub(crate) fn describe_run(
    outcome: Outcome,
    results: &[ResultVerdict],
    claims: &[ClaimVerdict],
) -> RunSentences {
    let of_results = describe_results(outcome, results);
    let outcomes: Vec<ClaimOutcome> = claims.iter().map(|claim| claim.outcome).collect();
    let is_valid = outcome < Outcome::Invalid;
    let worst = claims.iter().max_by_key(|claim| claim.outcome);
    let deciding = worst.filter(|claim| Outcome::from(claim.outcome) > outcome);
    RunSentences {
        headline: Some(of_results.headline)
            .into_iter()
            .chain(is_valid.then(|| summarize_claims(&outcomes)))
            .filter(|words| !words.is_empty())
            .join(" "),
        detail: deciding
            .map_or(of_results.detail, |claim| format!("{}: {}", claim.claim, claim.sentence)),
    }
}

fn describe_results(outcome: Outcome, results: &[ResultVerdict]) -> RunSentences {
    let Some(first) = results.iter().find(|result| result.outcome == outcome) else {
        return RunSentences {
            headline: "There is no result to judge.".to_owned(),
            ..RunSentences::default()
        };
    };
    let detail = match outcome {
        Outcome::Reproduced | Outcome::Measured => String::new(),
        _ => format!("{} {}: {}", first.scenario, first.mode, first.sentence),
    };
    RunSentences { headline: describe_counts(outcome, results), detail }
}

/// `1 of 3 published figures does not hold.`
fn describe_counts(outcome: Outcome, results: &[ResultVerdict]) -> String {
    let judgements = results.iter().flat_map(|result| &result.judgements);
    let judged: Vec<Outcome> = judgements.map(|judgement| judgement.outcome).collect();
    let judged_count = judged.len();
    let figure_count = judged.iter().filter(|judged| **judged == outcome).count();
    let result_count = results.iter().filter(|result| result.outcome == outcome).count();
    let is_or_are = |count: usize| if count == 1 { "is" } else { "are" };
    let is_smoke_test = |result: &ResultVerdict| {
        result.qualifiers.iter().any(|qualifier| qualifier.kind == QualifierKind::SmokeTest)
    };
    let others_not_reproduced = || {
        let others = results.iter().filter(|result| result.outcome == Outcome::NotReproduced);
        match others.count() {
            0 => String::new(),
            count => format!(", {count} {} not reproduced", is_or_are(count)),
        }
    };
    match outcome {
        Outcome::Measured if results.iter().any(is_smoke_test) => {
            "Everything ran; a smoke test is compared with nothing.".to_owned()
        }
        Outcome::Measured => "Valid, and nothing was published to compare with.".to_owned(),
        Outcome::Reproduced if judged_count == 1 => "The published figure holds.".to_owned(),
        Outcome::Reproduced => {
            format!("{} hold.", format::format_both_or_all(judged_count, "published figure"))
        }
        Outcome::NotReproduced if judged_count == 1 => {
            "The published figure does not hold.".to_owned()
        }
        Outcome::NotReproduced => {
            let verb = if figure_count == 1 { "does" } else { "do" };
            format!("{figure_count} of {judged_count} published figures {verb} not hold.")
        }
        Outcome::Inconclusive if judged_count == 0 => "The result is undecided.".to_owned(),
        // Open are results that nobody published a figure of, or that cannot be judged at all.
        Outcome::Inconclusive if figure_count == 0 => format!(
            "{result_count} of {} results {} undecided.",
            results.len(),
            is_or_are(result_count)
        ),
        Outcome::Inconclusive if judged_count == 1 => "1 published figure is undecided.".to_owned(),
        Outcome::Inconclusive => format!(
            "{figure_count} of {judged_count} published figures {} undecided.",
            is_or_are(figure_count)
        ),
        Outcome::Running => {
            format!(
                "{result_count} of {} results {} running.",
                results.len(),
                is_or_are(result_count)
            )
        }
        Outcome::Invalid | Outcome::Failed if results.len() == 1 => String::new(),
        Outcome::Invalid => format!(
            "{result_count} of {} results {} invalid{}.",
            results.len(),
            is_or_are(result_count),
            others_not_reproduced()
        ),
        Outcome::Failed => {
            let others = others_not_reproduced();
            format!("{result_count} of {} results failed{others}.", results.len())
        }
    }
}
