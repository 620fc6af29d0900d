//! The table at the end of a run, for a terminal of 60 columns or more.
//!
//! Where it fits, a figure is one line; on narrower terminals its name and source go under their
//! values; on the narrowest each figure is a small list. Below: one sentence of reason for each
//! figure, the run's verdict with what stands beside it, what to do next, where the evidence lies.

mod advice;
mod layout;
mod rows;
pub(super) mod style;

use self::layout::{wrap, wrapped};
use self::rows::Row;
use self::style::{Paint, clean, symbol};
use crate::report::human;
use crate::verdict::{Judgement, Outcome, QualifierKind, ResultVerdict, Verdict, number};

/// Narrower than this nothing is made to fit.
const NARROWEST: usize = 60;
/// Wider than this lines are hard to read.
const WIDEST: usize = 132;

/// The table of a verdict, with its reasons; `evidence` is where the run's files lie.
#[must_use]
pub fn table(verdict: &Verdict, evidence: &str, width: u16, color: bool) -> String {
    let paint = Paint { color };
    let width = usize::from(width).clamp(NARROWEST, WIDEST);
    let rows: Vec<Row> = verdict.results.iter().flat_map(rows::of).collect();
    let mut text = String::from("\n");
    for line in wrap(&title(verdict), width, 0) {
        line_of(&mut text, &paint.bold(&line));
    }
    text.push('\n');
    if !rows.is_empty() {
        text += &layout::lay_out(&rows, width, verdict, paint);
        text.push('\n');
    }
    for (outcome, reason) in verdict.results.iter().flat_map(reasons) {
        let marked = format!("{} {}", symbol(outcome), clean(&reason));
        let mut lines = wrap(&marked, width, 2).into_iter();
        if let Some(first) = lines.next() {
            let rest = first.strip_prefix(symbol(outcome)).unwrap_or(&first);
            line_of(
                &mut text,
                &format!("{}{rest}", paint.outcome(outcome, symbol(outcome))),
            );
        }
        lines.for_each(|line| line_of(&mut text, &line));
    }
    if !verdict.results.is_empty() {
        text.push('\n');
    }
    text += &headline(verdict, width, paint);
    text += &idle_gpus(verdict, width, paint);
    for of_kind in verdict
        .qualifiers
        .iter()
        .filter(|qualifier| qualifier.kind != QualifierKind::IdleGpus)
        .collect::<Vec<_>>()
        .chunk_by(|one, other| one.kind == other.kind)
    {
        let because: Vec<String> = of_kind.iter().map(|one| clean(&one.because)).collect();
        let line = format!("  {}: {}", of_kind[0].kind, because.join("; "));
        text += &wrapped(&line, width, 4);
    }
    for warning in &verdict.warnings {
        let line = format!("  warning: {}", clean(warning));
        text += &wrapped(&line, width, 4);
    }
    for advice in advice::next(verdict, evidence) {
        text += &wrapped(&format!("  next: {}", clean(&advice)), width, 8);
    }
    line_of(&mut text, &format!("  evidence: {}", clean(evidence)));
    if let Some(notice) = &verdict.notice {
        text.push('\n');
        for line in wrap(&clean(notice), width, 0) {
            line_of(&mut text, &paint.dim(&line));
        }
    }
    text
}

fn line_of(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// `AMD · mlperf-inference v6.0 closed · llama2-70b-99 · 8xMI355X · rocm 7.1.1`
fn title(verdict: &Verdict) -> String {
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
fn reasons(result: &ResultVerdict) -> Vec<(Outcome, String)> {
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
    if result.judgements.len() <= layout::MANY {
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
        human::count(hold.len(), "figure"),
        number::ratio(*least),
        number::ratio(*most),
    ))
}

/// `✓ reproduced (performance only). All 2 published figures hold.`
fn headline(verdict: &Verdict, width: usize, paint: Paint) -> String {
    let only = |kind| {
        verdict
            .qualifiers
            .iter()
            .any(|qualifier| qualifier.kind == kind)
    };
    let mut word = format!("{} {}", symbol(verdict.outcome), verdict.outcome);
    if only(QualifierKind::PerformanceOnly) && verdict.outcome <= Outcome::Reproduced {
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
    let painted = paint.verdict(verdict.outcome, &word);
    let text = format!("{word}: {}", clean(&sentence));
    let mut out = String::new();
    for line in wrap(text.trim_end_matches([':', ' ']), width, 2) {
        line_of(&mut out, &line.replacen(&word, &painted, 1));
    }
    out
}

/// A figure of GPUs that did nothing is no figure of theirs, whatever the verdict says: it is said
/// under the headline, in its own colour.
fn idle_gpus(verdict: &Verdict, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    for idle in &verdict.qualifiers {
        if idle.kind == QualifierKind::IdleGpus {
            let text = format!("! {}: {}", idle.kind, clean(&idle.because));
            for line in wrap(&text, width, 2) {
                line_of(&mut out, &paint.verdict(Outcome::Failed, &line));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
