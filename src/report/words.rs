//! The words that every form of a verdict has in common: title, headline, reasons.

use crate::format;
use crate::logs::sanitize;
use crate::verdict::{Judgement, Outcome, QualifierKind, ResultVerdict, Verdict, number};

/// More figures of one result than this are a table of their own, and told together.
pub(super) const MANY: usize = 8;

/// `AMD · mlperf-inference v6.0 closed · llama2-70b-99 · 8xMI355X · rocm 7.1.1`
pub(super) fn title(verdict: &Verdict) -> String {
    let submission = &verdict.submission;
    let suite = [
        Some(submission.suite.as_str()),
        submission.round.as_deref(),
        submission.division.as_deref(),
    ];
    let suite: Vec<&str> = suite
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .collect();
    let mut parts = vec![
        submission.submitter.clone().unwrap_or_default(),
        suite.join(" "),
        submission.benchmark.clone(),
        submission.system.clone().unwrap_or_default(),
    ];
    parts.extend(
        verdict
            .variant
            .iter()
            .map(|(axis, value)| format!("{axis} {value}")),
    );
    parts.retain(|part| !part.is_empty());
    clean(&parts.join(" · "))
}

/// One sentence for each published figure, or one for the result where it has no say.
pub(super) fn reasons(result: &ResultVerdict) -> Vec<(Outcome, String)> {
    let of_result = matches!(result.outcome, Outcome::Invalid | Outcome::Failed);
    let title = format!("{} {}", result.scenario, result.mode);
    if of_result || result.judgements.is_empty() {
        return vec![(result.outcome, format!("{title}: {}", result.sentence))];
    }
    let sentence = |judgement: &Judgement| {
        (
            judgement.outcome,
            format!("{title}: {}", judgement.sentence),
        )
    };
    if result.judgements.len() <= MANY {
        return result.judgements.iter().map(sentence).collect();
    }
    // Of many, those that hold are told together: the table has each of them.
    let (hold, others): (Vec<&Judgement>, Vec<&Judgement>) = result
        .judgements
        .iter()
        .partition(|judgement| judgement.outcome == Outcome::Reproduced);
    let mut reasons: Vec<(Outcome, String)> = others.into_iter().map(sentence).collect();
    reasons.extend(together(&hold).map(|text| (Outcome::Reproduced, format!("{title}: {text}"))));
    reasons
}

/// `38 figures hold, at 0.981–1.034 of what was published.`
fn together(hold: &[&Judgement]) -> Option<String> {
    let mut ratios: Vec<f64> = hold
        .iter()
        .filter_map(|judgement| judgement.ratio)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios.first()?, ratios.last()?);
    let within = hold.iter().filter_map(|judgement| judgement.holds_within);
    let within = within.fold(0.0, f64::max);
    let each = if within > 0.0 {
        format!("each to within {} or less", number::percent(within))
    } else {
        "none is worse".to_owned()
    };
    Some(format!(
        "{} hold, at {}–{} of what was published; {each}.",
        format::count(hold.len(), "figure"),
        number::ratio(*least),
        number::ratio(*most),
    ))
}

/// `✓ reproduced (performance only)`, and the sentence beside it; empty where the reason stands
/// with the only result.
pub(super) fn headline(verdict: &Verdict) -> (String, String) {
    let has = |kind| {
        let mut qualifiers = verdict.qualifiers.iter();
        qualifiers.any(|qualifier| qualifier.kind == kind)
    };
    let mut word = format!("{} {}", symbol(verdict.outcome), verdict.outcome);
    if has(QualifierKind::PerformanceOnly) && verdict.outcome <= Outcome::Reproduced {
        word += " (performance only)";
    }
    let sentence = match verdict.outcome {
        // The reason stands above.
        Outcome::Invalid | Outcome::Failed if verdict.results.len() == 1 => String::new(),
        Outcome::Reproduced | Outcome::Measured => verdict.sentence.clone(),
        _ => {
            let first = verdict.sentence.split_once(". ");
            first.map_or(verdict.sentence.clone(), |(first, _)| format!("{first}."))
        }
    };
    (word, clean(&sentence))
}

/// Each word has a sign of its own kind, so that colour is not needed to tell them apart.
pub(super) fn symbol(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Reproduced => "✓",
        Outcome::Measured => "•",
        Outcome::Inconclusive => "?",
        Outcome::NotReproduced => "✗",
        Outcome::Invalid | Outcome::Failed => "!",
    }
}

/// Text of a recipe or a log, made harmless and put on one line.
pub(super) fn clean(text: &str) -> String {
    sanitize(&text.replace(['\n', '\t'], " ")).into_owned()
}
