//! One sentence on each part, each claim and all claims.

use std::fmt::Write as _;

use itertools::{Itertools as _, join};

use super::model::{ClaimPart, Gap, Statistic};
use super::part::{DecisionMethod, PartTest};
use crate::verdict::comparison::{MeasuredSide, describe_ratio};
use crate::verdict::outcome::ClaimOutcome;
use crate::verdict::{MoreTrials, number};
use retrial_document::measures::format;
use retrial_recipe::model::{Claim, Mode};

/// Describes the result of a part, which is the only one of its claim or one of several.
pub(super) fn describe_part(tested: &PartTest, alpha: f64, is_only_part: bool) -> String {
    let part = &tested.part;
    match &tested.test {
        DecisionMethod::NotTestable(reason) if part.scenario.is_empty() => {
            format!("Not compared: {reason}.")
        }
        DecisionMethod::NotTestable(reason) => {
            format!("{}not compared: {reason}.", part_prefix(part))
        }
        DecisionMethod::Limits(outcome, message) => {
            // The word is about the accuracy, also where the claim is negated.
            let word = match outcome {
                ClaimOutcome::Contradicted => "not accurate",
                _ => "accurate",
            };
            format!("{} {}: {word}: {message}.", part.candidate.subject, part.scenario)
        }
        DecisionMethod::Ratio(_) if part.statistic == Statistic::Gain => {
            let gain = |gap: &Gap| {
                let ratio = gap.ratio.map(number::format_ratio).unwrap_or_default();
                format!("{ratio} from {} to {}", gap.cell, gap.to.subject)
            };
            let gains = join(part.gaps.iter().map(gain), ", and ");
            format!("{}{gains}: {}.", part_prefix(part), describe_evidence(part, alpha))
        }
        DecisionMethod::Ratio(_) if part.statistic == Statistic::Scatter => {
            let scatter =
                |side: &MeasuredSide| side.value.map(number::format_ratio).unwrap_or_default();
            let baseline_side = part.baseline.as_ref();
            let theirs =
                baseline_side.map(|side| format!(", {}'s by {} %", side.subject, scatter(side)));
            format!(
                "{}{}'s trials scatter by {} %{}: {}.",
                part_prefix(part),
                part.candidate.subject,
                scatter(&part.candidate),
                theirs.unwrap_or_default(),
                describe_evidence(part, alpha),
            )
        }
        DecisionMethod::Ratio(_) => {
            // The claim itself says what a single part is about.
            let prefix = if is_only_part { String::new() } else { part_prefix(part) };
            let values = compare_values(part).into_iter();
            let evidence = describe_evidence(part, alpha);
            format!("{prefix}{}.", join(values.chain([evidence]), ", "))
        }
        DecisionMethod::Gap(gap) => {
            let words =
                |gap: &Gap| Some(format!("{} of {}", number::format_ratio(gap.ratio?), gap.cell));
            let gaps = join(part.gaps.iter().filter_map(words), " and ");
            let to = part.gaps.first().map_or("", |gap| &gap.to.subject);
            let head = format!("{}{to} is {gaps}", part_prefix(part));
            if part.outcome == ClaimOutcome::Contradicted && gap.is_absent(alpha) {
                let baseline = part.baseline.as_ref().map_or("", |side| &side.subject);
                return format!("{head}: it is not ahead of {baseline}, and there is no gap.");
            }
            let closed = part.gaps.first().and_then(|gap| gap.ratio);
            let closed = match closed.filter(|ratio| *ratio < 1.0) {
                Some(_) if part.outcome == ClaimOutcome::Supported => " (closed)",
                _ => "",
            };
            format!("{head}: {}{closed}.", describe_evidence(part, alpha))
        }
    }
}

fn part_prefix(part: &ClaimPart) -> String {
    let of_cells = if part.of.is_empty() { String::new() } else { format!(" ({})", part.of) };
    let prefix = match part.statistic {
        Statistic::Gain => "gain in ",
        Statistic::Value | Statistic::Scatter | Statistic::Gap => "",
    };
    let figure = format!("{prefix}{}", part.figure);
    format!("{}{of_cells}: ", format!("{} {figure}", part.scenario).trim_end())
}

/// `1.020 × (1,020 against 1,000 tokens/s)`
fn compare_values(part: &ClaimPart) -> Option<String> {
    let (ratio, baseline) = (part.ratio?, part.baseline.as_ref()?);
    let value = |side: &MeasuredSide| side.value.unwrap_or(f64::NAN);
    let values = [value(&part.candidate), value(baseline)];
    Some(describe_ratio(ratio, part.better, &part.unit, values, None))
}

/// Describes the bound, and what it rests on; what would be required, unless the claim is supported.
fn describe_evidence(part: &ClaimPart, alpha: f64) -> String {
    let at = number::format_percent(1.0 - alpha);
    let (quantity, times) = match part.statistic {
        Statistic::Gap => ("the gap with the first is ", ""),
        Statistic::Gain => ("their ratio is ", ""),
        Statistic::Scatter => ("the other's is ", " times its own"),
        Statistic::Value => ("", " ×"),
    };
    let Some(bounds) = part.bounds else {
        let more = part.more_trials.map(describe_more_trials);
        let reason = match (part.statistic, part.candidate.trials.len()) {
            (Statistic::Scatter | Statistic::Gain, _) => {
                return more.unwrap_or_else(|| part.outcome.to_string());
            }
            (_, 1) => "one trial, with unknown noise",
            _ => "two trials that are further apart than the assumed noise allows",
        };
        return join([Some(reason.to_owned()), more].into_iter().flatten(), "; ");
    };
    let bound = describe_bound(part, bounds.lower, bounds.upper);
    let basis = describe_basis(part);
    let mut text = format!("{quantity}{bound}{times} ({at}, {basis})");
    let required = describe_required(part);
    if part.required.negated {
        let _ = write!(text, "; {required} would not be an exception");
    } else if part.outcome != ClaimOutcome::Supported {
        let _ = write!(text, "; {required} required");
    }
    if let (ClaimOutcome::NotDecided, Some(more)) = (part.outcome, part.more_trials) {
        let _ = write!(text, "; {}", describe_more_trials(more));
    }
    text
}

/// The bound that decides, or both.
fn describe_bound(part: &ClaimPart, lower: f64, upper: f64) -> String {
    let (lower, upper) = (number::format_ratio(lower), number::format_ratio(upper));
    match part.is_decided_by_lower_bound() {
        Some(true) => format!("at least {lower}"),
        Some(false) => format!("at most {upper}"),
        None => format!("between {lower} and {upper}"),
    }
}

/// `above 1.10`
fn describe_required(part: &ClaimPart) -> String {
    let margin = part.required.margin;
    let keeps = number::format_ratio(1.0 - margin);
    match (part.required.claim, part.statistic) {
        (Some(Claim::Better), Statistic::Gap) => format!("below {keeps}"),
        (Some(Claim::Better), _) => format!("above {}", number::format_ratio(1.0 / (1.0 - margin))),
        (Some(Claim::NotWorse), _) => format!("at least {keeps}"),
        (Some(Claim::Equivalent), _) => {
            format!("{keeps} to {}", number::format_ratio(1.0 / (1.0 - margin)))
        }
        (None, _) => "the benchmark's limits".to_owned(),
    }
}

fn describe_basis(part: &ClaimPart) -> String {
    let ours = part.candidate.trials.len();
    let theirs = part.baseline.as_ref().map_or(0, |side| side.trials.len());
    if part.statistic == Statistic::Gain {
        let trials = join(part.gaps.iter().map(|gain| gain.to.trials.len()), " and ");
        return format!("{trials} trials at the end of each step");
    }
    match (ours, theirs) {
        (1, 1) if part.mode == Mode::Performance => {
            "one trial each, their noise assumed".to_owned()
        }
        (1, 1) => "one trial each".to_owned(),
        _ if part.paired => format!("{ours} pairs of trials"),
        (ours, theirs) if ours == theirs => format!("{ours} trials each"),
        _ => format!("{ours} and {theirs} trials"),
    }
}

fn describe_more_trials(more: MoreTrials) -> String {
    match more {
        MoreTrials::About(1) => "one more trial of each would decide".to_owned(),
        MoreTrials::AtLeast(1) => "at least one more trial of each is needed".to_owned(),
        MoreTrials::AtLeast(count) => format!("at least {count} more trials of each are needed"),
        MoreTrials::About(count) => format!("about {count} more trials of each would decide"),
        MoreTrials::MoreThan(count) => {
            format!("more than {count} further trials of each would be needed")
        }
        MoreTrials::Independent => {
            "the trials depend on their order: independent ones are needed".to_owned()
        }
        MoreTrials::Never | MoreTrials::Finer => "no number of trials would decide".to_owned(),
    }
}

/// The most undecided parts whose sentences are part of a claim's.
const MAX_UNDECIDED_SENTENCES: usize = 4;

pub(super) fn summarize_claim(
    outcome: ClaimOutcome,
    not_always: bool,
    parts: &[ClaimPart],
) -> String {
    if let [only] = parts {
        return only.sentence.clone();
    }
    let with_outcome =
        |outcome: ClaimOutcome| parts.iter().filter(move |part| part.outcome == outcome);
    let count = parts.len();
    let decides = with_outcome(outcome).count();
    // What is undecided is named, each part by itself.
    let shown = match outcome {
        ClaimOutcome::NotDecided => MAX_UNDECIDED_SENTENCES,
        ClaimOutcome::Supported | ClaimOutcome::Contradicted => 1,
    };
    let sentences = with_outcome(outcome).map(|part| part.sentence.as_str());
    let mut first = join(sentences.take(shown), " ");
    if outcome == ClaimOutcome::NotDecided && decides > shown {
        let _ = write!(first, " And {} more.", decides - shown);
    }
    match outcome {
        ClaimOutcome::Supported if not_always => {
            format!("{decides} of {count} parts are exceptions. {first}")
        }
        ClaimOutcome::Contradicted if not_always => format!("No part is an exception. {first}"),
        ClaimOutcome::NotDecided if not_always => {
            format!("No exception is shown, {decides} of {count} parts undecided. {first}")
        }
        ClaimOutcome::Supported => {
            let ratios = parts.iter().filter_map(|part| part.ratio).minmax();
            let range = ratios.into_option().map(|ends| {
                let (least, most) = (number::format_ratio(ends.0), number::format_ratio(ends.1));
                format!(", at {least} to {most}")
            });
            let all = format::format_both_or_all(count, "part");
            format!("{all} hold{}.", range.unwrap_or_default())
        }
        ClaimOutcome::Contradicted => format!("{decides} of {count} parts do not hold. {first}"),
        ClaimOutcome::NotDecided => {
            let holds = with_outcome(ClaimOutcome::Supported).count();
            format!("{holds} of {count} parts hold, {decides} undecided. {first}")
        }
    }
}

/// `2 of 3 claims contradicted.`; empty without a claim.
pub fn summarize_claims(claims: &[ClaimOutcome]) -> String {
    let count_of = |outcome: &ClaimOutcome| claims.iter().filter(|claim| *claim == outcome).count();
    match claims {
        [] => String::new(),
        [only] => format!("The claim is {only}."),
        _ if count_of(&ClaimOutcome::Supported) == claims.len() => {
            format!("{} supported.", format::format_both_or_all(claims.len(), "claim"))
        }
        _ => {
            let open = [ClaimOutcome::Contradicted, ClaimOutcome::NotDecided];
            let counted = open.into_iter().map(|outcome| (count_of(&outcome), outcome));
            let some = counted.filter(|(count, _)| *count > 0);
            let words = some.enumerate().map(|(position, (count, outcome))| match position {
                0 => format!("{count} of {} claims {outcome}", claims.len()),
                _ => format!("{count} {outcome}"),
            });
            format!("{}.", join(words, ", "))
        }
    }
}
