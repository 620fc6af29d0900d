//! Claims about differences of differences: a gap compares the distances of two subjects from a third, a gain two steps.

use super::super::not_testable::NotTestable;
use super::super::planned_pairs::{PlannedPair, explain_missing_ratio, planned_pairs};
use super::super::subject::JudgedSubject;
use super::ClaimTester;
use retrial_recipe::model::Mode;
use retrial_results::verdict::claim::{ClaimPart, DecisionMethod, Gap, GapTest, PartTest};
use retrial_results::verdict::comparison::{
    Change, ComparedFigure, FigurePair, MeasuredSide, SideMeasurement, differ_in_benchmarks,
};

impl ClaimTester<'_> {
    /// Tests one step against another, each from its first subject to its second, scenario by scenario.
    pub(super) fn test_gains(
        &self,
        candidate: [&JudgedSubject; 2],
        baseline: [&JudgedSubject; 2],
    ) -> Vec<PartTest> {
        let cuts = [candidate, baseline].map(|[from, to]| self.cut_pair(to, from));
        let [ours, theirs] =
            cuts.each_ref().map(|cut| planned_pairs(self.claim, cut, Mode::Performance));
        let tests = ours.iter().filter_map(|first| {
            let like = |second: &&PlannedPair<'_>| second.scenario == first.scenario;
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
            (None, _) => DecisionMethod::from(explain_missing_ratio(first, steps[0])),
            (_, None) => DecisionMethod::from(explain_missing_ratio(second, steps[1])),
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
    pub(super) fn test_gap(
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
            let pair = first
                .figure(figure)
                .and_then(|own| FigurePair::new(*first, *second, own, cut.paired, &[]));
            let pair = pair.ok_or_else(|| {
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
        let gap = GapTest { between, with_candidate, with_baseline };
        Ok((gap, to))
    }
}
