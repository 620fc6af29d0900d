//! The tests of a claim: which figures of which subjects it is about.

use itertools::join;

use super::gap::GapTest;
use super::model::{ClaimOutcome, ClaimPart, Gap, RequiredRatio, Statistic};
use super::not_testable::NotTestable;
use super::part::{DecisionMethod, PartTest, test_limits};
use super::planned_pairs::{
    PlannedPair, explain_missing_ratio, is_selected, notes_on_unmatched_scenarios, planned_pairs,
};
use super::subject::{AlignedSubjects, JudgedSubject};
use crate::{Assertion, BatchClaim, CellPair};
use retrial_plan::measurement::is_same_scenario;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::comparison::{
    Change, ComparedFigure, FigurePair, MeasuredFigure, MeasuredSide, SideMeasurement,
    differ_in_benchmarks,
};
use retrial_stats::{Difference, Scatter};

/// How claims are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimTestOptions {
    /// Whether the trials of a round are compared as pairs.
    pub paired: bool,
    /// Error of each one-sided bound.
    pub alpha: f64,
}

/// A part of a claim, and how it is judged.
pub(super) struct ClaimTester<'a> {
    pub claim: &'a BatchClaim,
    pub part: &'a CellPair,
    pub rules: ClaimTestOptions,
}

impl ClaimTester<'_> {
    /// The tests of a part: one for each benchmark, scenario and figure that the claim is about.
    pub fn build_tests<'a>(
        &self,
        find: &impl Fn(&str) -> Option<&'a JudgedSubject>,
    ) -> Vec<PartTest> {
        let reason = match self.test_figures(find) {
            Ok(tests) if !tests.is_empty() => return tests,
            Ok(_) => self.explain_missing_figure(find),
            Err(missing) => missing,
        };
        let part = self.blank_part(&self.part.candidate, self.part.baseline.as_deref());
        let test = DecisionMethod::NotTestable(reason);
        vec![PartTest { part, test }]
    }

    /// The tests of the figures that there are, or which subject has no result.
    fn test_figures<'a>(
        &self,
        find: &impl Fn(&str) -> Option<&'a JudgedSubject>,
    ) -> Result<Vec<PartTest>, NotTestable> {
        let measured = |name: &String| {
            let subject = find(name).filter(|subject| !subject.rounds.is_empty());
            subject.ok_or_else(|| explain_missing_result(name, find(name)))
        };
        let candidate = measured(&self.part.candidate)?;
        let baseline = self.part.baseline.as_ref().map(measured).transpose()?;
        let third = self.part.gap_to.as_ref().map(measured).transpose()?;
        let Some(baseline) = baseline else {
            return Ok(self.test_single(candidate));
        };
        Ok(match &self.part.from {
            Some([candidate_from, baseline_from]) => self.test_gains(
                [measured(candidate_from)?, candidate],
                [measured(baseline_from)?, baseline],
            ),
            None => self.test_pairs([candidate, baseline], third),
        })
    }

    /// Notes on scenarios that only one of the two cells was planned to have.
    pub fn planning_notes<'a>(
        &self,
        find: &impl Fn(&str) -> Option<&'a JudgedSubject>,
    ) -> Vec<String> {
        let measured = |name: &String| find(name).filter(|subject| !subject.rounds.is_empty());
        let candidate = measured(&self.part.candidate);
        let baseline = self.part.baseline.as_ref().and_then(measured);
        let (Some(candidate), Some(baseline)) = (candidate, baseline) else {
            return Vec::new();
        };
        notes_on_unmatched_scenarios(
            self.claim,
            &self.cut_pair(candidate, baseline),
            self.claimed_mode(),
        )
    }

    /// Returns the mode that the claim is about.
    fn claimed_mode(&self) -> Mode {
        match self.claim.assertion {
            Assertion::Accuracy { .. } | Assertion::Accurate => Mode::Accuracy,
            Assertion::Speed { .. }
            | Assertion::Consistency { .. }
            | Assertion::Gap { .. }
            | Assertion::Gain { .. } => Mode::Performance,
        }
    }

    /// Explains why there is nothing to test.
    fn explain_missing_figure<'a>(
        &self,
        find: &impl Fn(&str) -> Option<&'a JudgedSubject>,
    ) -> NotTestable {
        let baseline = self.part.baseline.as_ref();
        let mut names = [Some(&self.part.candidate), baseline].into_iter().flatten();
        let lost = names.find_map(|name| find(name)?.why_lost(self.claimed_mode()));
        if let Some(lost) = lost {
            return lost;
        }
        let words = [&self.claim.scenario, &self.claim.figure];
        let words = join(words.into_iter().flatten(), " ");
        match self.claim.assertion {
            _ if !words.is_empty() => NotTestable::NothingNamed { words },
            Assertion::Accurate => NotTestable::NoAccuracy,
            Assertion::Accuracy { .. } => NotTestable::NoCommonAccuracy,
            Assertion::Speed { .. }
            | Assertion::Consistency { .. }
            | Assertion::Gap { .. }
            | Assertion::Gain { .. } => NotTestable::NoCommonFigure,
        }
    }

    /// Creates a part of which only the subjects are known.
    fn blank_part(&self, candidate: &str, baseline: Option<&str>) -> ClaimPart {
        let side = |subject: &str| MeasuredSide {
            subject: subject.to_owned(),
            value: None,
            trials: Vec::new(),
        };
        let required = self.claim.assertion.required_ratio();
        ClaimPart {
            of: self.part.of.to_string(),
            benchmark: String::new(),
            scenario: String::new(),
            mode: Mode::Performance,
            figure: String::new(),
            unit: String::new(),
            better: Better::Higher,
            statistic: match self.claim.assertion {
                Assertion::Consistency { .. } => Statistic::Scatter,
                Assertion::Gap { .. } => Statistic::Gap,
                Assertion::Gain { .. } => Statistic::Gain,
                Assertion::Speed { .. } | Assertion::Accuracy { .. } | Assertion::Accurate => {
                    Statistic::Value
                }
            },
            required: RequiredRatio {
                claim: required.map(|(claim, _)| claim),
                margin: required.map_or(0.0, |(_, margin)| margin),
                negated: self.claim.not_always,
            },
            candidate: side(candidate),
            baseline: baseline.map(side),
            gaps: Vec::new(),
            paired: false,
            ratio: None,
            bounds: None,
            outcome: ClaimOutcome::NotDecided,
            more_trials: None,
            sentence: String::new(),
        }
    }

    fn names_figure(&self, figure: &str) -> bool {
        let required = self.claim.figure.as_deref();
        required.is_none_or(|required| required == figure)
    }

    /// Tests one subject against the benchmark's own limits of accuracy.
    fn test_single(&self, candidate: &JudgedSubject) -> Vec<PartTest> {
        let measured = candidate.rounds.iter().filter(|rounds| {
            rounds.measurement.mode == Mode::Accuracy
                && is_selected(self.claim, &rounds.measurement.scenario)
        });
        measured
            .map(|rounds| {
                let mut part = self.blank_part(&candidate.name, None);
                part.benchmark.clone_from(&rounds.measurement.benchmark);
                part.scenario.clone_from(&rounds.measurement.scenario);
                part.mode = Mode::Accuracy;
                let mut figures = rounds.measurement.figures.iter();
                let figure = figures.find(|figure| {
                    self.names_figure(&figure.name) && rounds.limited_figures.contains(&figure.name)
                });
                if let Some(figure) = figure {
                    part.figure.clone_from(&figure.name);
                    part.unit.clone_from(&figure.unit);
                    part.better = figure.better.unwrap_or_default();
                    part.candidate.trials = figure.trials.clone().unwrap_or_default();
                    part.candidate.value = part.candidate.trials.first().copied();
                }
                let test = test_limits(rounds, self.claim.figure.as_deref());
                PartTest { part, test }
            })
            .collect()
    }

    /// Cuts two subjects to the rounds that they have in common.
    fn cut_pair<'a>(
        &self,
        candidate: &'a JudgedSubject,
        baseline: &'a JudgedSubject,
    ) -> AlignedSubjects<'a> {
        AlignedSubjects::new(baseline, candidate, self.rules.paired)
    }

    fn test_pairs(
        &self,
        both: [&JudgedSubject; 2],
        third: Option<&JudgedSubject>,
    ) -> Vec<PartTest> {
        let [candidate, baseline] = both;
        let cut = self.cut_pair(candidate, baseline);
        let pairs = planned_pairs(self.claim, &cut, self.claimed_mode()).into_iter();
        let tests = pairs.map(|planned| match &planned.pair {
            Ok(pair) => self.test_pair(pair, both, third),
            Err(reason) => self.missing_part(&planned, both.map(|side| &*side.name), reason),
        });
        tests.collect()
    }

    /// Creates a part of which a side is missing.
    fn missing_part(
        &self,
        planned: &PlannedPair<'_>,
        both: [&str; 2],
        reason: &NotTestable,
    ) -> PartTest {
        let [candidate, baseline] = both;
        let part = ClaimPart {
            benchmark: planned.benchmark.to_owned(),
            scenario: planned.scenario.to_owned(),
            mode: planned.mode,
            figure: planned.figure.clone(),
            ..self.blank_part(candidate, Some(baseline))
        };
        let test = DecisionMethod::NotTestable(reason.clone());
        PartTest { part, test }
    }

    fn test_pair(
        &self,
        pair: &FigurePair<'_>,
        both: [&JudgedSubject; 2],
        third: Option<&JudgedSubject>,
    ) -> PartTest {
        let alpha = self.rules.alpha;
        let compared = pair.to_compared_figure(alpha, Change::NotCompared, None);
        let [candidate, baseline] = [&compared.candidate, &compared.baseline];
        let cells = [candidate.subject.clone(), baseline.subject.clone()];
        let mut gaps = Vec::new();
        let mut scatters = None;
        let test = match (&pair.difference, third) {
            (None, _) => {
                DecisionMethod::NotTestable(explain_missing_ratio(pair, [both[1], both[0]]))
            }
            (Some(_), _) if matches!(self.claim.assertion, Assertion::Consistency { .. }) => {
                scatters = pair_scatters(pair);
                scatters.map_or_else(
                    || DecisionMethod::NotTestable(NotTestable::NoScatter),
                    |[candidate, baseline]| {
                        DecisionMethod::Ratio(Difference::between_scatters(&candidate, &baseline))
                    },
                )
            }
            (Some(difference), None) => DecisionMethod::Ratio(difference.clone()),
            (Some(_), Some(third)) => match self.test_gap(pair, both, third) {
                Err(reason) => DecisionMethod::NotTestable(reason),
                Ok((gap, to)) => {
                    gaps = gap.to_gaps([&cells[0], &cells[1]], &to, alpha);
                    DecisionMethod::Gap(Box::new(gap))
                }
            },
        };
        let mut part = ClaimPart {
            benchmark: compared.benchmark,
            scenario: compared.scenario,
            mode: compared.mode,
            figure: compared.figure,
            unit: compared.unit,
            better: compared.better,
            candidate: compared.candidate,
            baseline: Some(compared.baseline),
            paired: compared.paired,
            gaps,
            ..self.blank_part(&cells[0], None)
        };
        if let Some([candidate, baseline]) = scatters {
            part.candidate.value = Some(candidate.value * 100.0);
            if let Some(theirs) = part.baseline.as_mut() {
                theirs.value = Some(baseline.value * 100.0);
            }
            "%".clone_into(&mut part.unit);
            part.better = Better::Lower;
            part.paired = false;
        }
        PartTest { part, test }
    }

    /// Tests one step against another, each from its first subject to its second, scenario by scenario.
    fn test_gains(
        &self,
        candidate: [&JudgedSubject; 2],
        baseline: [&JudgedSubject; 2],
    ) -> Vec<PartTest> {
        let cuts = [candidate, baseline].map(|[from, to]| self.cut_pair(to, from));
        let [ours, theirs] = cuts
            .each_ref()
            .map(|cut| planned_pairs(self.claim, cut, Mode::Performance));
        let tests = ours.iter().filter_map(|first| {
            let like =
                |second: &&PlannedPair<'_>| is_same_scenario(second.scenario, first.scenario);
            let second = theirs.iter().find(like)?;
            Some(match (&first.pair, &second.pair) {
                (Ok(gain), Ok(next_to)) => self.test_gain([gain, next_to], [candidate, baseline]),
                (Err(reason), _) | (_, Err(reason)) => {
                    let ends = [candidate[1], baseline[1]].map(|end| &*end.name);
                    self.missing_part(first, ends, reason)
                }
            })
        });
        tests.collect()
    }

    fn test_gain(
        &self,
        [first, second]: [&FigurePair<'_>; 2],
        steps: [[&JudgedSubject; 2]; 2],
    ) -> PartTest {
        let alpha = self.rules.alpha;
        let compared =
            [first, second].map(|pair| pair.to_compared_figure(alpha, Change::NotCompared, None));
        let test = match (&first.difference, &second.difference) {
            (Some(gain), Some(next_to)) => DecisionMethod::Ratio(gain.excess_over(next_to)),
            (None, _) => DecisionMethod::NotTestable(explain_missing_ratio(first, steps[0])),
            (_, None) => DecisionMethod::NotTestable(explain_missing_ratio(second, steps[1])),
        };
        let gain = |pair: &FigurePair<'_>, figure: &ComparedFigure| {
            let (from, to) = (&figure.baseline.subject, &figure.candidate);
            Gap::from_difference(from, to, pair.difference.as_ref(), alpha)
        };
        let gaps = vec![gain(first, &compared[0]), gain(second, &compared[1])];
        let [ours, theirs] = compared;
        let blank = self.blank_part(&ours.candidate.subject, Some(&theirs.candidate.subject));
        let part = ClaimPart {
            benchmark: ours.benchmark,
            scenario: ours.scenario,
            figure: ours.figure,
            better: ours.better,
            paired: ours.paired,
            gaps,
            ..blank
        };
        PartTest { part, test }
    }

    /// Compares the third with both, in the figure of the pair.
    fn test_gap(
        &self,
        pair: &FigurePair<'_>,
        [candidate, baseline]: [&JudgedSubject; 2],
        third: &JudgedSubject,
    ) -> Result<(GapTest, MeasuredSide), NotTestable> {
        let figure = &pair.figures[0].name;
        let reference = pair.baseline.measured;
        let next_to = |other: &JudgedSubject| {
            let cut = self.cut_pair(third, other);
            let [theirs, its] = cut.sides();
            let by_benchmark = differ_in_benchmarks(&theirs, &its);
            let like = |side: &&SideMeasurement<'_>| {
                side.measured.is_like(reference, true)
                    || (!by_benchmark && side.measured.is_like(reference, false))
            };
            let both = theirs.iter().find(like).zip(its.iter().find(like));
            let (first, second) = both.ok_or_else(|| NotTestable::NoScenario {
                subject: third.name.clone(),
                scenario: reference.scenario.clone(),
            })?;
            let subjects = [other, third];
            let of_figure = first.figure(figure);
            let candidate_pair =
                of_figure.and_then(|own| FigurePair::new(*first, *second, own, cut.paired));
            let pair = candidate_pair.ok_or_else(|| {
                let reason = third.why_unusable(reference, figure);
                reason.unwrap_or_else(|| NotTestable::NoFigure {
                    subject: third.name.clone(),
                    figure: figure.clone(),
                })
            })?;
            let compared = pair.to_compared_figure(self.rules.alpha, Change::NotCompared, None);
            let known_difference = pair.difference.clone();
            let difference =
                known_difference.ok_or_else(|| explain_missing_ratio(&pair, subjects))?;
            Ok::<_, NotTestable>((difference, compared.candidate))
        };
        let (with_candidate, to) = next_to(candidate)?;
        let (with_baseline, _) = next_to(baseline)?;
        let both = [baseline, candidate];
        let known_difference = pair.difference.clone();
        let between = known_difference.ok_or_else(|| explain_missing_ratio(pair, both))?;
        let gap = GapTest {
            between,
            with_candidate,
            with_baseline,
        };
        Ok((gap, to))
    }
}

/// Explains why nothing can be compared with a subject that has no result.
fn explain_missing_result(name: &str, subject: Option<&JudgedSubject>) -> NotTestable {
    let name = name.to_owned();
    match subject.and_then(|subject| subject.first_lost_run.as_ref()) {
        Some((trial, reason)) => NotTestable::LostResult {
            subject: name,
            trial: *trial,
            reason: reason.clone(),
        },
        None => NotTestable::NoResult { subject: name },
    }
}

/// Returns the scatter of the candidate's trials, and of the baseline's.
fn pair_scatters(pair: &FigurePair<'_>) -> Option<[Scatter; 2]> {
    let [baseline, candidate] = &pair.figures;
    let scatter = |figure: &MeasuredFigure| Scatter::from_trials(figure.trials.as_deref()?);
    Some([scatter(candidate)?, scatter(baseline)?])
}
