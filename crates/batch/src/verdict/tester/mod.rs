//! The tests of a claim: which figures of which subjects it is about. Child modules test differences of differences.

mod gap_and_gain;

use itertools::join;

use super::not_testable::NotTestable;
use super::planned_pairs::{
    PlannedPair, explain_missing_ratio, is_selected, notes_on_unmatched_scenarios, planned_pairs,
};
use super::subject::{AlignedSubjects, JudgedSubject, SubjectMeasurement};
use crate::accuracy::{AccuracyLimits, check_accuracy_limits};
use crate::{Assertion, BatchClaim, CellPair};
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::claim::{
    ClaimOutcome, ClaimPart, DecisionMethod, PartTest, RequiredRatio, Statistic,
};
use retrial_results::verdict::comparison::{Change, FigurePair, MeasuredFigure, MeasuredSide};
use retrial_stats::{Difference, Scatter};

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
        let test = DecisionMethod::from(reason);
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
        let words = [self.claim.scenario.as_deref(), self.claim.figure.as_deref()];
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
        let required = self.claim.assertion.required_ratio();
        ClaimPart {
            of: self.part.of.to_string(),
            benchmark: String::new(),
            scenario: ScenarioName::default(),
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
            candidate: MeasuredSide::unmeasured(candidate),
            baseline: baseline.map(MeasuredSide::unmeasured),
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
            scenario: planned.scenario.clone(),
            mode: planned.mode,
            figure: planned.figure.clone(),
            ..self.blank_part(candidate, Some(baseline))
        };
        let test = DecisionMethod::from(reason.clone());
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
            (None, _) => DecisionMethod::from(explain_missing_ratio(pair, [both[1], both[0]])),
            (Some(_), _) if matches!(self.claim.assertion, Assertion::Consistency { .. }) => {
                scatters = pair_scatters(pair);
                scatters.map_or_else(
                    || DecisionMethod::from(NotTestable::NoScatter),
                    |[candidate, baseline]| {
                        DecisionMethod::Ratio(Difference::between_scatters(&candidate, &baseline))
                    },
                )
            }
            (Some(difference), None) => DecisionMethod::Ratio(difference.clone()),
            (Some(_), Some(third)) => match self.test_gap(pair, both, third) {
                Err(reason) => DecisionMethod::from(reason),
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
}

/// Explains why nothing can be compared with a subject that has no result.
fn explain_missing_result(name: &str, subject: Option<&JudgedSubject>) -> NotTestable {
    if let Some(failed) = subject.and_then(JudgedSubject::why_failed) {
        return failed;
    }
    let name = name.to_owned();
    match subject.and_then(|subject| subject.first_lost_run.as_ref()) {
        Some((trial, reason)) => {
            NotTestable::LostResult { subject: name, trial: *trial, reason: reason.clone() }
        }
        None => NotTestable::NoResult { subject: name },
    }
}

/// Returns the scatter of the candidate's trials, and of the baseline's.
fn pair_scatters(pair: &FigurePair<'_>) -> Option<[Scatter; 2]> {
    let [baseline, candidate] = &pair.figures;
    let scatter = |figure: &MeasuredFigure| {
        Scatter::from_trials(figure.trials.as_deref()?, figure.rounding_error)
    };
    Some([scatter(candidate)?, scatter(baseline)?])
}

/// Tests whether a cell is within the benchmark's own limits of accuracy.
fn test_limits(measured: &SubjectMeasurement, figure: Option<&str>) -> DecisionMethod {
    match check_accuracy_limits(&measured.result, &measured.limited_figures, figure) {
        AccuracyLimits::Within(figures) => DecisionMethod::Limits(ClaimOutcome::Supported, figures),
        AccuracyLimits::Outside(figure) => {
            DecisionMethod::Limits(ClaimOutcome::Contradicted, figure)
        }
        AccuracyLimits::Unknown(reason) => DecisionMethod::from(NotTestable::UnknownLimits(reason)),
    }
}
