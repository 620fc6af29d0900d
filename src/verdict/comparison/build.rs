//! From the evidence of several runs to one table: who is faster, corrected for all figures.

use super::model::{Change, Comparison, SubjectSummary};
use super::pair::{Measured, Pair};
use super::{FailIf, Side, environment, sentence};
use crate::recipe::model::Mode;
use crate::verdict::{Context, Evidence, ExitCode, Outcome, holm, judge, notice, number};

/// Version of the document.
const SCHEMA: u32 = 1;
/// Rates that differ by less are one: `LoadGen` prints six digits.
const PRINTED_RATE: f64 = 1e-5;

/// A run, or a folder of results.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What it is called.
    pub name: String,
    /// What was measured: each group is judged by itself.
    pub groups: Vec<(Context, Vec<Evidence>)>,
    /// What is known of where it was measured, by name, in the order in which it is told.
    pub environment: Vec<(String, String)>,
}

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Confidence of each two-sided interval.
    pub confidence: f64,
    /// Trials were taken in turns.
    pub paired: bool,
    /// What a candidate may not lose.
    pub fail_if: Option<FailIf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            paired: false,
            fail_if: None,
        }
    }
}

/// Compares every subject with the first.
#[must_use]
pub fn compare(subjects: &[Subject], options: &Options) -> Comparison {
    let judged: Vec<(SubjectSummary, Vec<Measured<'_>>)> = subjects
        .iter()
        .enumerate()
        .map(|(position, subject)| measured(subject, letter(position)))
        .collect();
    let mut notes = Vec::new();
    let mut pairs = Vec::new();
    if let Some(((_, baseline), others)) = judged.split_first() {
        for (_, candidate) in others {
            pair_up(baseline, candidate, options.paired, &mut pairs, &mut notes);
        }
    }
    let alpha = 1.0 - options.confidence;
    let changes = changes(&pairs, alpha);
    let limits = limits(&pairs, options, alpha);
    let figures = pairs
        .iter()
        .zip(changes)
        .zip(&limits)
        .map(|((pair, change), limit)| {
            let mut figure = pair.finish(alpha, change, *limit);
            figure.sentence = sentence::of(pair, &figure, options);
            figure
        })
        .collect();
    let of_suite = |(context, _): &(Context, Vec<Evidence>)| notice(&context.submission);
    Comparison {
        schema: SCHEMA,
        paired: options.paired,
        confidence: options.confidence,
        figures,
        notes,
        environment: environment::facts(subjects),
        fail_if: options.fail_if,
        exit_code: exit_code(&pairs, &limits, options),
        notice: subjects
            .iter()
            .flat_map(|subject| &subject.groups)
            .find_map(of_suite),
        subjects: judged.into_iter().map(|(summary, _)| summary).collect(),
    }
}

/// `A`, `B`, …, `Z`, `A1`, ….
fn letter(position: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(position % 26).unwrap_or_default());
    match position / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

fn measured(subject: &Subject, letter: String) -> (SubjectSummary, Vec<Measured<'_>>) {
    let mut all = Vec::new();
    let mut titles = Vec::new();
    let mut outcome = Outcome::Measured;
    for (context, evidence) in &subject.groups {
        let verdict = judge(context, evidence);
        outcome = outcome.max(verdict.outcome);
        titles.push(title(context));
        for (evidence, result) in evidence.iter().zip(verdict.results) {
            all.push(Measured {
                letter: letter.clone(),
                context,
                evidence,
                result,
            });
        }
    }
    titles.dedup();
    let title = match titles.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several => format!("{} benchmarks", several.len()),
    };
    let summary = SubjectSummary {
        letter,
        name: subject.name.clone(),
        title,
        outcome,
    };
    (summary, all)
}

fn title(context: &Context) -> String {
    let submission = &context.submission;
    let words = [
        submission.submitter.as_deref(),
        Some(submission.suite.as_str()),
        submission.round.as_deref(),
        Some(submission.benchmark.as_str()),
    ];
    let mut words: Vec<String> = words
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.extend(
        context
            .variant
            .iter()
            .map(|(axis, value)| format!("{axis} {value}")),
    );
    words.join(" ")
}

fn pair_up<'a>(
    baseline: &'a [Measured<'a>],
    candidate: &'a [Measured<'a>],
    paired: bool,
    pairs: &mut Vec<Pair<'a>>,
    notes: &mut Vec<String>,
) {
    // Folders of one benchmark each may be named as somebody pleased.
    let of_one = |all: &[Measured<'_>]| {
        let mut names = all.iter().map(|one| &one.result.benchmark);
        let first = names.next();
        names.all(|name| Some(name) == first)
    };
    let by_name = !(of_one(baseline) && of_one(candidate));
    let same = |one: &Measured<'_>, other: &Measured<'_>| {
        one.evidence.mode == other.evidence.mode
            && one
                .evidence
                .scenario
                .eq_ignore_ascii_case(&other.evidence.scenario)
            && (!by_name || one.result.benchmark == other.result.benchmark)
    };
    let compared = |one: &&Measured<'_>| one.evidence.mode != Mode::Compliance;
    for one in baseline.iter().filter(compared) {
        let Some(other) = candidate.iter().find(|other| same(one, other)) else {
            notes.push(only(one));
            continue;
        };
        notes.extend(other_target(one, other));
        let theirs = other.figures();
        for figure in one.figures() {
            if theirs.contains(&figure) {
                pairs.push(Pair::of(one, other, &figure, paired));
            } else {
                notes.push(format!("{} of {}", only(one), figure));
            }
        }
    }
    let unmatched = |other: &&Measured<'_>| !baseline.iter().any(|one| same(one, other));
    notes.extend(
        candidate
            .iter()
            .filter(compared)
            .filter(unmatched)
            .map(only),
    );
}

/// `only A has Offline performance`
fn only(one: &Measured<'_>) -> String {
    format!(
        "only {} has {} {}",
        one.letter, one.evidence.scenario, one.evidence.mode
    )
}

/// A server's throughput is the rate that it was asked for, as long as it keeps up.
fn other_target(one: &Measured<'_>, other: &Measured<'_>) -> Option<String> {
    let scenario = one.evidence.scenario.to_ascii_lowercase();
    if one.evidence.mode != Mode::Performance || !matches!(&*scenario, "server" | "interactive") {
        return None;
    }
    let rate = |of: &Measured<'_>| {
        let mut trials = of.evidence.trials.iter();
        trials.find_map(|trial| trial.parameters.get("target_qps").copied())
    };
    let (ours, theirs) = (rate(one)?, rate(other)?);
    ((ours - theirs).abs() > PRINTED_RATE * ours.abs()).then(|| {
        format!(
            "{}: {} was asked for {} queries/s and {} for {}: throughput follows what is asked for",
            one.evidence.scenario,
            one.letter,
            number::grouped(ours),
            other.letter,
            number::grouped(theirs)
        )
    })
}

/// What each interval shows, with error `alpha` that any of them shows what is not there.
fn changes(pairs: &[Pair<'_>], alpha: f64) -> Vec<Change> {
    let shown = |pair: &Pair<'_>, share: f64| pair.shown(alpha / 2.0 / share);
    let rejected = holm::step_down(pairs.len(), |one, share| {
        shown(&pairs[one], share).is_difference()
    });
    pairs
        .iter()
        .zip(rejected)
        .map(|(pair, rejected)| match shown(pair, 1.0) {
            change if change.is_difference() && !rejected => Change::NoDifference,
            change => change,
        })
        .collect()
}

/// On which side of `--fail-if` each lies: slower with error `alpha` for all of them together.
fn limits(pairs: &[Pair<'_>], options: &Options, alpha: f64) -> Vec<Option<Side>> {
    let Some(limit) = options.fail_if else {
        return vec![None; pairs.len()];
    };
    let tested: Vec<usize> = (0..pairs.len())
        .filter(|position| pairs[*position].is_performance())
        .collect();
    let worse = holm::step_down(tested.len(), |one, share| {
        pairs[tested[one]].side(limit, alpha / share) == Side::Worse
    });
    let mut sides = vec![None; pairs.len()];
    for (position, worse) in tested.into_iter().zip(worse) {
        sides[position] = Some(match pairs[position].side(limit, alpha) {
            _ if worse => Side::Worse,
            Side::Holds => Side::Holds,
            Side::Worse | Side::Open => Side::Open,
        });
    }
    sides
}

/// Without a limit nothing can fail. With one, what is not shown to keep it is no pass.
fn exit_code(pairs: &[Pair<'_>], limits: &[Option<Side>], options: &Options) -> ExitCode {
    if options.fail_if.is_none() {
        return ExitCode::Success;
    }
    let codes: Vec<ExitCode> = pairs
        .iter()
        .zip(limits)
        .filter_map(|(pair, side)| {
            let candidate = &pair.candidate.result;
            Some(match (*side)? {
                Side::Open if !candidate.valid => ExitCode::from(candidate.outcome),
                Side::Holds => ExitCode::Success,
                Side::Worse => ExitCode::NotReproduced,
                Side::Open => ExitCode::Inconclusive,
            })
        })
        .collect();
    if codes.is_empty() {
        return ExitCode::Inconclusive;
    }
    ExitCode::first(codes)
}
