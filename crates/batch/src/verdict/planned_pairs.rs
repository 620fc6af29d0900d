//! The scenarios and figures that a claim compares, by the plan: all that two subjects were planned to have, even if
//! one of them has no result.

use retrial_mlperf::ScenarioName;
use retrial_recipe::model::Mode;
use retrial_results::verdict::comparison::{FigurePair, SideMeasurement, differ_in_benchmarks};

use super::not_testable::NotTestable;
use super::subject::{AlignedSubjects, JudgedSubject, SubjectMeasurement};
use crate::BatchClaim;

/// One scenario and figure of two subjects.
pub(super) struct PlannedPair<'a> {
    pub benchmark: &'a str,
    pub scenario: &'a ScenarioName,
    pub mode: Mode,
    /// The figure; empty where neither plan nor result names one.
    pub figure: String,
    /// Both sides, or why they cannot be compared.
    pub pair: Result<FigurePair<'a>, NotTestable>,
}

/// The planned scenarios of a claim, each with its figure.
pub(super) fn planned_pairs<'a>(
    claim: &BatchClaim,
    cut: &'a AlignedSubjects<'_>,
    mode: Mode,
) -> Vec<PlannedPair<'a>> {
    let [baseline, candidate] = cut.sides();
    let by_benchmark = differ_in_benchmarks(&baseline, &candidate);
    let is_like = |first: &SideMeasurement<'_>, second: &SideMeasurement<'_>| {
        first.measured.is_like(second.measured, by_benchmark)
    };
    let applies = |side: &SideMeasurement<'_>| {
        side.measured.mode == mode && is_selected(claim, &side.measured.scenario)
    };
    let mut pairs = Vec::new();
    for (at, first) in baseline.iter().enumerate().filter(|(_, side)| applies(side)) {
        let position = candidate.iter().position(|second| is_like(first, second));
        pairs.extend(match position {
            Some(other) => {
                let rounds = [&cut.subjects[0].rounds[at], &cut.subjects[1].rounds[other]];
                pair_of_scenario(claim, cut, [*first, candidate[other]], rounds)
            }
            None => unmatched_pair(claim, *first, at, cut.subjects),
        });
    }
    let [first, second] = cut.subjects;
    for (at, side) in candidate.iter().enumerate().filter(|(_, side)| applies(side)) {
        if !baseline.iter().any(|other| is_like(other, side)) {
            pairs.extend(unmatched_pair(claim, *side, at, [second, first]));
        }
    }
    pairs
}

/// Returns whether a claim is about a scenario.
pub(super) fn is_selected(claim: &BatchClaim, scenario: &ScenarioName) -> bool {
    let required = claim.scenario.as_ref();
    required.is_none_or(|required| required == scenario)
}

/// A scenario that both subjects were planned to have; none where neither has the figure that the claim names.
fn pair_of_scenario<'a>(
    claim: &BatchClaim,
    cut: &'a AlignedSubjects<'_>,
    sides: [SideMeasurement<'a>; 2],
    rounds: [&SubjectMeasurement; 2],
) -> Option<PlannedPair<'a>> {
    let plans = |figure: &str| rounds.map(|rounds| rounds.figures.is_planned(figure));
    let figure = if let Some(figure) = &claim.figure {
        let planned_flags = plans(figure);
        let is_planned = planned_flags.contains(&Some(true)) || planned_flags == [None, None];
        is_planned.then(|| figure.clone())?
    } else {
        let mut names = rounds.iter().flat_map(|rounds| &rounds.figures.names);
        let in_both = names.find(|name| !plans(name).contains(&Some(false)));
        in_both.cloned().unwrap_or_default()
    };
    let [baseline, candidate] = sides;
    let own = baseline.figure(&figure);
    let pair = own.and_then(|own| FigurePair::new(baseline, candidate, own, cut.paired, &[]));
    let found = pair.ok_or_else(|| {
        let reasons = why_unusable(cut.subjects, baseline, &figure);
        reasons.unwrap_or(NotTestable::NoCommonFigure)
    });
    Some(PlannedPair {
        benchmark: &candidate.measured.benchmark,
        scenario: &candidate.measured.scenario,
        mode: candidate.measured.mode,
        figure,
        pair: found,
    })
}

/// A scenario of the first subject alone, at this position of it: a missing part, unless the second was not to have it.
fn unmatched_pair<'a>(
    claim: &BatchClaim,
    side: SideMeasurement<'a>,
    at: usize,
    [has, lacks]: [&JudgedSubject; 2],
) -> Option<PlannedPair<'a>> {
    let rounds = &has.rounds[at];
    let named = claim.figure.as_deref();
    if named.is_some_and(|figure| rounds.figures.is_planned(figure) == Some(false)) {
        return None;
    }
    let (scenario, mode) = (&side.measured.scenario, side.measured.mode);
    let reason = lacks.why_lost(mode).or_else(|| {
        lacks.owes_scenarios_of(has).then(|| NotTestable::NoMeasurement {
            subject: lacks.name.clone(),
            scenario: scenario.clone(),
            mode,
        })
    })?;
    let figure = named.or(rounds.figures.names.first().map(String::as_str));
    Some(PlannedPair {
        benchmark: &side.measured.benchmark,
        scenario,
        mode,
        figure: figure.unwrap_or_default().to_owned(),
        pair: Err(reason),
    })
}

/// Explains why a figure of these subjects cannot be compared, each subject by itself; none if nothing is wrong with
/// either.
fn why_unusable(
    subjects: [&JudgedSubject; 2],
    like: SideMeasurement<'_>,
    figure: &str,
) -> Option<NotTestable> {
    let [baseline, candidate] = subjects;
    let both_reasons = [candidate, baseline].map(|one| one.why_unusable(like.measured, figure));
    match both_reasons {
        [Some(first), Some(second)] => Some(NotTestable::Both(Box::new(first), Box::new(second))),
        [first, second] => first.or(second),
    }
}

/// Explains why the two sides of a pair have no ratio.
pub(super) fn explain_missing_ratio(
    pair: &FigurePair<'_>,
    subjects: [&JudgedSubject; 2],
) -> NotTestable {
    let [ours, theirs] = &pair.figures;
    if let Some(reasons) = why_unusable(subjects, pair.baseline, &ours.name) {
        return reasons;
    }
    if !pair.has_common_unit() {
        let (first, second) = (pair.baseline.letter, pair.candidate.letter);
        return NotTestable::Units([
            (first.to_owned(), ours.unit.clone()),
            (second.to_owned(), theirs.unit.clone()),
        ]);
    }
    if ours.better.is_none() {
        return NotTestable::UnknownDirection;
    }
    match pair.trial_counts() {
        [0, _] | [_, 0] => NotTestable::NoCommonRound,
        _ => NotTestable::NotPositive,
    }
}

/// The scenarios that only one of two cells was planned to have: no part of a claim.
pub(super) fn notes_on_unmatched_scenarios(
    claim: &BatchClaim,
    cut: &AlignedSubjects<'_>,
    mode: Mode,
) -> Vec<String> {
    let [baseline, candidate] = cut.sides();
    let by_benchmark = differ_in_benchmarks(&baseline, &candidate);
    let only = |own: &[SideMeasurement<'_>],
                [has, lacks]: [&JudgedSubject; 2],
                others: &[SideMeasurement<'_>]| {
        let alone = own.iter().filter(|side| {
            side.measured.mode == mode
                && is_selected(claim, &side.measured.scenario)
                && !others.iter().any(|other| side.measured.is_like(other.measured, by_benchmark))
        });
        let is_planned = has.has_rounds() && lacks.has_rounds() && lacks.why_lost(mode).is_none();
        let notes = alone.filter(|_| is_planned).map(|side| {
            format!(
                "{}: {} is planned for {} only, not for {}: it is not part of the claim",
                claim.text, side.measured.scenario, has.name, lacks.name
            )
        });
        notes.collect::<Vec<String>>()
    };
    let [first, second] = cut.subjects;
    let mut notes = only(&baseline, [first, second], &candidate);
    notes.extend(only(&candidate, [second, first], &baseline));
    notes
}
