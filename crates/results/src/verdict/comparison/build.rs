//! From the evidence of several runs to one table: who is faster, corrected for all figures.

use itertools::Itertools as _;

use super::environment::{EnvironmentGroup, compare_fact_groups};
use super::fact::Fact;
use super::joint_change::{StackVersions, describe_joint_changes};
use super::measurement::{MeasuredFigure, PooledMeasurement};
use super::model::{Change, Comparison, SubjectSummary};
use super::pair::{FigurePair, SideMeasurement};
use super::{ComparisonOptions, ComparisonSubject, sentence};
use crate::verdict::UNKNOWN_DIRECTION;
use crate::verdict::qualify::RATE_TOLERANCE;
use crate::verdict::{ExitCode, number};
use retrial_mlperf::figures::find_known_figure;
use retrial_recipe::model::Mode;
use retrial_stats::{Decision, holm_step_down};

/// Version of the document.
const SCHEMA: u32 = 1;
/// Answers of other runs of one model differ in length by some tenths of a per cent.
const MAX_LENGTH_DIFFERENCE: f64 = 0.01;

/// Compares every subject with the first.
pub fn compare_subjects(subjects: &[ComparisonSubject], options: &ComparisonOptions) -> Comparison {
    let letters: Vec<String> = (0..subjects.len()).map(subject_letter).collect();
    let named = subjects.iter().zip(&letters);
    let measured: Vec<Vec<SideMeasurement<'_>>> = named
        .map(|(subject, letter)| SideMeasurement::from_measurements(letter, &subject.measured))
        .collect();
    let mut notes: Vec<String> = Vec::new();
    let mut pairs = Vec::new();
    if let Some((baseline, others)) = measured.split_first() {
        for (position, candidate) in others.iter().enumerate() {
            let rest = subjects.iter().skip(1).enumerate().filter(|(at, _)| *at != position);
            let rest: Vec<&PooledMeasurement> =
                rest.flat_map(|(_, subject)| &subject.measured).collect();
            pair_up([baseline, candidate], &rest, options.paired, &mut pairs, &mut notes);
        }
    }
    notes.extend(subjects.iter().flat_map(|subject| subject.notes.clone()));
    let stacks = subjects.iter().map(|subject| StackVersions::from_facts(&subject.environment));
    let stacks: Vec<StackVersions> = stacks.collect();
    let pairs_of_stacks = stacks.iter().skip(1).map(|other| (&stacks[0], other));
    notes.extend(describe_joint_changes(pairs_of_stacks, &stacks));
    let lacking: Vec<ExitCode> = measured
        .iter()
        .skip(1)
        .flat_map(|candidate| missing_results(&measured[0], candidate))
        .map(|result| match result {
            Some(result) if !result.measured.valid => ExitCode::from(result.measured.outcome),
            _ => ExitCode::Inconclusive,
        })
        .collect();
    let alpha = 1.0 - options.confidence;
    let changes = corrected_changes(&pairs, alpha);
    let limits = decide_limits(&pairs, options, alpha);
    let figures = pairs
        .iter()
        .zip(changes)
        .zip(&limits)
        .map(|((pair, change), limit)| {
            let mut figure = pair.to_compared_figure(alpha, change, *limit);
            figure.sentence = sentence::describe_comparison(pair, &figure, options);
            figure
        })
        .collect();
    Comparison {
        schema: SCHEMA,
        title: None,
        paired: options.paired,
        confidence: options.confidence,
        figures,
        notes,
        environment: compare_environments(subjects, &letters),
        fail_if: options.fail_if,
        exit_code: exit_code(&pairs, &limits, &lacking, options),
        notice: subjects.iter().find_map(|subject| subject.notice.clone()),
        subjects: subjects
            .iter()
            .zip(letters.iter().cloned())
            .map(|(subject, letter)| SubjectSummary {
                letter,
                name: subject.name.clone(),
                title: subject.title.clone(),
                runs: subject.runs,
                outcome: subject.outcome,
                qualifiers: subject.qualifiers.clone(),
            })
            .collect(),
    }
}

/// `A`, `B`, …, `Z`, `A1`, ….
fn subject_letter(position: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(position % 26).unwrap_or_default());
    match position / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Returns the environment of each measurement, with its telemetry.
fn compare_environments(
    subjects: &[ComparisonSubject],
    letters: &[String],
) -> Vec<EnvironmentGroup> {
    let facts_of_subjects: Vec<Vec<Fact>> = subjects
        .iter()
        .map(|subject| {
            let telemetry = subject.measured.iter().flat_map(PooledMeasurement::telemetry_facts);
            subject.environment.iter().cloned().chain(telemetry).collect()
        })
        .collect();
    let facts: Vec<&[Fact]> = facts_of_subjects.iter().map(Vec::as_slice).collect();
    compare_fact_groups(letters, &facts)
}

/// Pairs every figure that both have, and notes those that only one has. For `others` see [`FigurePair::new`].
pub fn pair_up<'a>(
    [baseline, candidate]: [&[SideMeasurement<'a>]; 2],
    others: &[&PooledMeasurement],
    paired: bool,
    pairs: &mut Vec<FigurePair<'a>>,
    notes: &mut Vec<String>,
) {
    let by_name = differ_in_benchmarks(baseline, candidate);
    let same = |first: &SideMeasurement<'_>, second: &SideMeasurement<'_>| {
        first.measured.is_like(second.measured, by_name)
    };
    let compared = |side: &&SideMeasurement<'a>| side.measured.mode != Mode::Compliance;
    for first in baseline.iter().filter(compared) {
        let Some(second) = candidate.iter().find(|second| same(first, second)) else {
            notes.push(note_only_in(first));
            continue;
        };
        notes.extend(note_other_target(first, second));
        for figure in &first.measured.figures {
            if figure.better.is_none() {
                notes.extend(note_undirected_figure(first, second, figure));
                continue;
            }
            match FigurePair::new(*first, *second, figure, paired, others) {
                Some(pair) => pairs.push(pair),
                None => notes.push(note_figure_only_in(first, second, figure)),
            }
        }
        let candidate_figures = second.measured.figures.iter();
        let new_figures = candidate_figures.filter(|figure| first.figure(&figure.name).is_none());
        let added = new_figures.filter(|figure| figure.better.is_some());
        notes.extend(added.map(|figure| note_figure_only_in(second, first, figure)));
        if first.measured.figures.is_empty() && second.measured.figures.is_empty() {
            notes.push(format!(
                "neither {} nor {} has a figure of {} {}",
                first.letter, second.letter, first.measured.scenario, first.measured.mode
            ));
        }
    }
    let unmatched =
        |second: &&SideMeasurement<'_>| !baseline.iter().any(|first| same(first, second));
    notes.extend(candidate.iter().filter(compared).filter(unmatched).map(note_only_in));
}

/// Returns whether benchmarks are distinguished by their names: folders of one benchmark each may have any
/// name.
pub fn differ_in_benchmarks(
    baseline: &[SideMeasurement<'_>],
    candidate: &[SideMeasurement<'_>],
) -> bool {
    let share_benchmark =
        |all: &[SideMeasurement<'_>]| all.iter().map(|side| &side.measured.benchmark).all_equal();
    !(share_benchmark(baseline) && share_benchmark(candidate))
}

/// Returns a note on a figure that is not compared: the length of answers is no quality, and of others nobody
/// states whether higher or lower is better.
fn note_undirected_figure(
    first: &SideMeasurement<'_>,
    second: &SideMeasurement<'_>,
    figure: &MeasuredFigure,
) -> Option<String> {
    if find_known_figure(&figure.name).is_some() {
        return note_other_length(first, second, figure);
    }
    let (scenario, mode, name) = (&first.measured.scenario, first.measured.mode, &figure.name);
    Some(format!("{scenario} {mode}: {name} is not compared: {UNKNOWN_DIRECTION}"))
}

/// Noted where a model's answers are clearly longer or shorter: its speed is then for other work.
fn note_other_length(
    first: &SideMeasurement<'_>,
    second: &SideMeasurement<'_>,
    figure: &MeasuredFigure,
) -> Option<String> {
    let ours = *figure.trials.as_ref()?.first()?;
    let theirs = *second.figure(&figure.name)?.trials.as_ref()?.first()?;
    let ratio = theirs / ours;
    ((ratio - 1.0).abs() > MAX_LENGTH_DIFFERENCE).then(|| {
        format!(
            "{} {}: {} of {} is {} and of {} {}: the answers differ in length",
            first.measured.scenario,
            first.measured.mode,
            figure.name,
            first.letter,
            number::format_grouped(ours),
            second.letter,
            number::format_grouped(theirs)
        )
    })
}

/// `only A has Offline performance`
fn note_only_in(side: &SideMeasurement<'_>) -> String {
    format!("only {} has {} {}", side.letter, side.measured.scenario, side.measured.mode)
}

/// `only A has Offline performance of tokens_per_second: B is failed`
fn note_figure_only_in(
    has: &SideMeasurement<'_>,
    lacks: &SideMeasurement<'_>,
    figure: &MeasuredFigure,
) -> String {
    let why = if lacks.measured.valid {
        String::new()
    } else {
        format!(": {} is {}", lacks.letter, lacks.measured.outcome)
    };
    format!("{} of {}{why}", note_only_in(has), figure.name)
}

/// Returns the outcome of each performance result of which the candidate lacks a figure that the baseline has; none
/// where it lacks the result itself.
fn missing_results<'a>(
    baseline: &'a [SideMeasurement<'a>],
    candidate: &'a [SideMeasurement<'a>],
) -> impl Iterator<Item = Option<&'a SideMeasurement<'a>>> {
    let by_name = differ_in_benchmarks(baseline, candidate);
    let results = baseline.iter();
    let performance = results.filter(|first| first.measured.mode == Mode::Performance);
    performance.filter_map(move |first| {
        let like = |second: &&SideMeasurement<'_>| first.measured.is_like(second.measured, by_name);
        let mut figures = first.measured.figures.iter();
        match candidate.iter().find(like) {
            None => Some(None),
            Some(second) => {
                figures.any(|figure| second.figure(&figure.name).is_none()).then_some(Some(second))
            }
        }
    })
}

/// Notes different target rates: a server's throughput is its target rate, as long as it keeps up.
fn note_other_target(first: &SideMeasurement<'_>, second: &SideMeasurement<'_>) -> Option<String> {
    let scenario = &first.measured.scenario;
    let has_rate = *scenario == "Server" || *scenario == "Interactive";
    if first.measured.mode != Mode::Performance || !has_rate {
        return None;
    }
    let (ours, theirs) = (first.measured.target_qps?, second.measured.target_qps?);
    ((ours - theirs).abs() > RATE_TOLERANCE * ours.abs()).then(|| {
        format!(
            "{}: the target rate of {} is {} queries/s and of {} {}: throughput follows the target rate",
            scenario,
            first.letter,
            number::format_grouped(ours),
            second.letter,
            number::format_grouped(theirs)
        )
    })
}

/// Returns the change that each interval shows, with error `alpha` that any shows one that is not there.
pub fn corrected_changes(pairs: &[FigurePair<'_>], alpha: f64) -> Vec<Change> {
    let change_at = |pair: &FigurePair<'_>, share: f64| pair.change_at(alpha / 2.0 / share);
    let rejected =
        holm_step_down(pairs.len(), |index, share| change_at(&pairs[index], share).is_difference());
    pairs
        .iter()
        .zip(rejected)
        .map(|(pair, rejected)| match change_at(pair, 1.0) {
            change if change.is_difference() && !rejected => Change::NoDifference,
            change => change,
        })
        .collect()
}

/// On which side of `--fail-if` each lies: slower with error `alpha` for all of them together.
fn decide_limits(
    pairs: &[FigurePair<'_>],
    options: &ComparisonOptions,
    alpha: f64,
) -> Vec<Option<Decision>> {
    let Some(limit) = options.fail_if else {
        return vec![None; pairs.len()];
    };
    let tested: Vec<usize> = pairs.iter().positions(FigurePair::is_performance).collect();
    let worse = holm_step_down(tested.len(), |index, share| {
        pairs[tested[index]].decide(limit, alpha / share) == Decision::Worse
    });
    let mut sides = vec![None; pairs.len()];
    for (position, worse) in tested.into_iter().zip(worse) {
        sides[position] = Some(match pairs[position].decide(limit, alpha) {
            _ if worse => Decision::Worse,
            Decision::Holds => Decision::Holds,
            Decision::Worse | Decision::Open => Decision::Open,
        });
    }
    sides
}

/// Returns the exit code. Without a limit nothing can fail. With one, a figure passes only if it is shown to be within
/// the limit: `lacking` has a code for each that a candidate lacks.
fn exit_code(
    pairs: &[FigurePair<'_>],
    limits: &[Option<Decision>],
    lacking: &[ExitCode],
    options: &ComparisonOptions,
) -> ExitCode {
    if options.fail_if.is_none() {
        return ExitCode::Success;
    }
    let compared = pairs.iter().zip(limits).filter_map(|(pair, side)| {
        let candidate = pair.candidate.measured;
        Some(match (*side)? {
            Decision::Open if !candidate.valid => ExitCode::from(candidate.outcome),
            Decision::Holds => ExitCode::Success,
            Decision::Worse => ExitCode::NotReproduced,
            Decision::Open => ExitCode::Inconclusive,
        })
    });
    let codes: Vec<ExitCode> = compared.chain(lacking.iter().copied()).collect();
    if codes.is_empty() {
        return ExitCode::Inconclusive;
    }
    ExitCode::first_applicable(codes)
}
