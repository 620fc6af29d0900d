//! A verdict: its outcome, its figures, and a reason for each.

use std::path::Path;
use std::ptr;

use itertools::{Itertools as _, join};

use super::figures::{self, MAX_INLINE_FIGURES};
use super::subject::StepReport;
use super::{advice, claims, marks, unjudged};
use crate::charts::value_range;
use crate::document::{
    Block, Conclusion, Document, Line, LinkTarget, ListItem, Section, StatusMark, StyledText,
};
use crate::{OpenRun, ReportedVerdict};
use retrial_document::measures::format;
use retrial_mlperf::Division;
use retrial_recipe::model::Submission;
use retrial_results::verdict::{
    self, FigureLocation, Judgement, MarkedLine, Noise, Outcome, QualifiedOutcome, QualifierKind,
    Reference, ResultVerdict, RuleCheck, Verdict, number,
};

/// A verdict by itself.
pub fn verdict_document(entry: &ReportedVerdict<'_>) -> Document {
    Document::new(submission_title(entry.verdict), verdict_blocks(entry))
}

/// Several verdicts, a section each.
pub fn verdicts_document(entries: &[ReportedVerdict<'_>]) -> Document {
    let sections = entries
        .iter()
        .map(|entry| Section::new_block(submission_title(entry.verdict), verdict_blocks(entry)));
    Document::new("", sections)
}

/// Its outcome, figures, reasons and notice.
fn verdict_blocks(entry: &ReportedVerdict<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Conclusion(verdict_conclusion(entry))];
    blocks.extend(evidence_blocks(entry, &[], true));
    blocks
}

/// Its figures, reasons and notice; without figures that are not judged if a page has very many
/// results. Figures link the logs of the steps in which they were read.
pub(super) fn evidence_blocks(
    entry: &ReportedVerdict<'_>,
    steps: &[StepReport],
    in_full: bool,
) -> Vec<Block> {
    let verdict = entry.verdict;
    let mut blocks = figures::figure_tables(verdict);
    if in_full {
        blocks.extend(unjudged::unjudged_blocks(verdict));
    }
    blocks.extend(claims::claim_list(&verdict.claims));
    let reasons = verdict.results.iter().flat_map(|result| reason_items(result, steps));
    let notable = verdict.results.iter().flat_map(notable_rules);
    let benchmark_rules = benchmark_rule_items(entry);
    blocks.extend(Block::list(reasons.chain(notable).chain(benchmark_rules)));
    blocks.extend(session_note(verdict));
    blocks.extend(notice_block(verdict.notice.as_deref()));
    blocks
}

/// The rules of a result that its sentence does not say: all violated ones where there are
/// several, and warnings.
fn notable_rules(result: &ResultVerdict) -> impl Iterator<Item = ListItem> {
    let violated = result.rules.iter().filter(|rule| !rule.passed).count();
    rule_items(result, move |rule| rule.warning || violated > 1)
}

/// The rules of the whole submission that are violated, or have a warning.
pub(super) fn benchmark_rule_items(entry: &ReportedVerdict<'_>) -> impl Iterator<Item = ListItem> {
    let benchmark_rules = entry.rules.iter().filter(|rule| rule.is_notable());
    benchmark_rules.map(|rule| ListItem::new(rule.to_string()).with_mark(rule))
}

/// Those of the notable rules of a result that are shown.
fn rule_items(
    result: &ResultVerdict,
    is_shown: impl Fn(&RuleCheck) -> bool,
) -> impl Iterator<Item = ListItem> {
    let title = format!("{} {}", result.scenario, result.mode);
    let rules = result.rules.iter().filter(|rule| rule.is_notable());
    let notable = rules.filter(move |rule| is_shown(rule));
    notable.map(move |rule| {
        let shown_trial = rule.trial.filter(|_| result.trials.len() > 1);
        let trial = shown_trial.map_or(String::new(), |trial| format!(" trial {trial}"));
        ListItem::new(format!("{title}{trial}: {rule}")).with_mark(rule)
    })
}

pub(super) fn notice_block(notice: Option<&str>) -> Option<Block> {
    notice.map(|notice| Block::Notice(notice.into()))
}

/// The notices on figures of these submissions, each once.
pub(super) fn notice_blocks<'a>(
    submissions: impl Iterator<Item = &'a Submission>,
) -> impl Iterator<Item = Block> {
    let notices = submissions.filter_map(verdict::trademark_notice).unique();
    notices.map(|notice| Block::Notice(notice.into()))
}

/// Its outcome in a word and a sentence, with its qualifiers.
pub(super) fn verdict_conclusion(entry: &ReportedVerdict<'_>) -> Conclusion {
    let verdict = entry.verdict;
    let (mark, word, sentence) = match entry.open_run {
        Some(open_run @ (OpenRun::Interrupted | OpenRun::InProgress)) => {
            describe_open_run(verdict, open_run)
        }
        Some(OpenRun::HostFailed) | None => {
            (StatusMark::from(verdict.outcome), headline_word(verdict), verdict.headline.clone())
        }
    };
    // Figures of idle GPUs are not theirs, whatever the outcome.
    let (idle, others): (Vec<_>, Vec<_>) =
        verdict.qualifiers.iter().partition(|qualifier| qualifier.kind == QualifierKind::IdleGpus);
    let alerts =
        idle.iter().map(|qualifier| format!("{}: {}", qualifier.kind, qualifier.reason).into());
    let groups = others.chunk_by(|left, right| left.kind == right.kind);
    let qualifiers = groups.map(|of_kind| {
        let reason = join(of_kind.iter().map(|qualifier| &qualifier.reason), "; ");
        (of_kind[0].kind.word(), reason)
    });
    let texts = verdict.warnings.iter().cloned();
    let warnings = texts.map(|text| ("warning", text));
    let next = advice::next_steps(entry).into_iter().map(|action| ("help", action));
    let labelled = qualifiers.chain(warnings).chain(next);
    let remarks = labelled.map(|(label, text)| (label.into(), text.into()));
    Conclusion {
        alerts: alerts.collect(),
        remarks: remarks.chain(evidence_remark(&entry.evidence)).collect(),
        // The reasons have the detail.
        ..Conclusion::new(mark, word, sentence)
    }
}

/// A run that has not ended is neither reproduced nor failed: `interrupted: 2 of 6 results were measured.`
fn describe_open_run(verdict: &Verdict, open_run: OpenRun) -> (StatusMark, String, String) {
    let word = match open_run {
        OpenRun::InProgress => "in progress",
        OpenRun::Interrupted | OpenRun::HostFailed => "interrupted",
    };
    let results = verdict.results.iter();
    let measured =
        results.filter(|result| !matches!(result.outcome, Outcome::Failed | Outcome::Running));
    let sentence = format!(
        "{} of {} measured.",
        measured.count(),
        format::format_count(verdict.results.len(), "result")
    );
    (marks::UNFINISHED, word.to_owned(), sentence)
}

/// The path of the evidence as a remark, if it is known.
pub(super) fn evidence_remark(evidence: &str) -> Option<(Line, StyledText)> {
    let is_shown = !evidence.is_empty();
    is_shown.then(|| ("evidence".into(), StyledText::Code(evidence.into())))
}

/// `AMD · mlperf-inference v6.0 closed · llama2-70b-99 · 8xMI355X · rocm 7.1.1`
pub(crate) fn submission_title(verdict: &Verdict) -> String {
    let submission = &verdict.submission;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let suite = [
        submission.suite.clone(),
        text(&submission.round),
        submission.division.map_or("", Division::word).to_owned(),
    ];
    let axes = verdict.variant.iter();
    let variant = axes.map(|(axis, value)| format!("{axis} {value}"));
    let parts = [
        text(&submission.submitter),
        join_nonempty(suite, " "),
        submission.benchmark.clone(),
        text(&submission.system),
    ];
    join_nonempty(parts.into_iter().chain(variant), " · ")
}

/// The parts that are not empty.
fn join_nonempty(parts: impl IntoIterator<Item = String>, separator: &str) -> String {
    let filled = parts.into_iter().filter(|part| !part.is_empty());
    join(filled, separator)
}

/// Returns one sentence for each published figure, or one for a result without them.
fn reason_items(result: &ResultVerdict, steps: &[StepReport]) -> Vec<ListItem> {
    let title = format!("{} {}", result.scenario, result.mode);
    let item =
        |outcome: Outcome, text: &str| ListItem::new(format!("{title}: {text}")).with_mark(outcome);
    if matches!(result.outcome, Outcome::Invalid | Outcome::Failed) || result.judgements.is_empty()
    {
        return vec![item(result.outcome, &result.sentence)];
    }
    let sentence = |judgement: &Judgement| {
        let others = values_of_others(judgement).unwrap_or_default().into_iter();
        let texts = others.chain(noise_basis(judgement));
        let details = texts.map(|(label, text)| (label, StyledText::from(text)));
        let details = details.chain(places_read(result, &judgement.figure, steps));
        item(judgement.outcome, &judgement.sentence).with_details(details)
    };
    if result.judgements.len() <= MAX_INLINE_FIGURES {
        return result.judgements.iter().map(sentence).collect();
    }
    // Of many, those that hold have one sentence: the table has each of them.
    let (hold, others): (Vec<&Judgement>, Vec<&Judgement>) =
        result.judgements.iter().partition(|judgement| judgement.outcome == Outcome::Reproduced);
    let mut reasons: Vec<ListItem> = others.into_iter().map(sentence).collect();
    reasons.extend(summarize_holding(&hold).map(|text| item(Outcome::Reproduced, &text)));
    reasons
}

/// The values that others published of a figure, which decide nothing.
fn values_of_others(judgement: &Judgement) -> Option<Vec<(String, String)>> {
    let measured = judgement.measured.as_ref()?;
    let decides = Reference::find_deciding(&judgement.references)?;
    let references = judgement.references.iter();
    let others = references.filter(|other| !ptr::eq(*other, decides));
    let values = others.map(|other| {
        let value = number::format_figure_like(other.value, &measured.unit, measured.value);
        (figures::reference_publisher(other), value)
    });
    Some(values.collect())
}

/// The source of an assumed noise: `16 published pairs of llama2-70b Offline`.
fn noise_basis(judgement: &Judgement) -> Option<(String, String)> {
    let Noise::Assumed(noise) = judgement.noise else {
        return None;
    };
    let basis = judgement.noise_basis.as_ref()?;
    let text = format!("{} from {basis}", number::format_fine_percent(noise));
    Some(("assumed noise".to_owned(), text))
}

/// What bounds of several trials do not contain: docs/statistics.md states it.
fn session_note(verdict: &Verdict) -> Option<Block> {
    let mut judgements = verdict.results.iter().flat_map(|result| &result.judgements);
    let has_several = judgements.any(|judgement| {
        // Each run of an Olympic mean is a training of its own.
        judgement.bounds.is_some() && judgement.trials > 1 && judgement.normalised_by.is_none()
    });
    let note = "All trials ran in one session: another day, or a restart, may differ by more than the bounds.";
    has_several.then(|| Block::paragraph(StyledText::Faint(note.into())))
}

/// Where a judged figure was read, with the number marked in its line, and the records that cannot be read and do not
/// count, trial by trial.
fn places_read<'a>(
    result: &'a ResultVerdict,
    figure: &'a str,
    steps: &'a [StepReport],
) -> impl Iterator<Item = (String, StyledText)> + 'a {
    let figures = result.trials.iter().filter_map(move |trial| {
        let origin = trial.figures.get(figure)?.origin.as_ref()?;
        let is_shown = origin.text.is_some() || origin.passed_over.is_some();
        is_shown.then(|| ("read from".to_owned(), link_origin(origin, steps)))
    });
    figures.take(MAX_INLINE_FIGURES)
}

/// Returns where a figure was read, with the line; linked, if it is the log of one of the steps.
fn link_origin(origin: &FigureLocation, steps: &[StepReport]) -> StyledText {
    let mut logs = steps.iter().filter_map(|step| step.log.as_ref());
    let log = logs.find(|log| Path::new(log.as_str()).ends_with(&origin.file));
    let text = origin.describe_with_text();
    match log {
        Some(path) => {
            let passage = origin.text.as_ref().map(MarkedLine::whole_words);
            StyledText::Link(text.into(), LinkTarget { path: path.clone(), passage })
        }
        None => text.into(),
    }
}

/// `38 figures hold, at 0.981–1.034 of the published values; each within 5 %.`
pub(super) fn summarize_holding(hold: &[&Judgement]) -> Option<String> {
    let (least, most) = value_range(hold.iter().filter_map(|judgement| judgement.ratio));
    if least > most {
        return None;
    }
    let margins = hold.iter().filter_map(|judgement| judgement.holds_within);
    let within = margins.fold(0.0, f64::max);
    let each = if within > 0.0 {
        format!("each within {}", number::format_percent(within))
    } else {
        "none is worse".to_owned()
    };
    Some(format!(
        "{} hold, at {}–{} of the published values; {each}.",
        format::format_count(hold.len(), "figure"),
        number::format_ratio(least),
        number::format_ratio(most),
    ))
}

/// `reproduced (performance only)`
fn headline_word(verdict: &Verdict) -> String {
    // A tag that may move is in nearly every verdict, and has its reason below.
    let kinds = verdict.qualifiers.iter().map(|qualifier| qualifier.kind);
    let kinds = kinds.filter(|kind| *kind != QualifierKind::UnpinnedImage);
    QualifiedOutcome::from_kinds(verdict.outcome, kinds).to_string()
}
