//! The claims of a recipe: each compares two figures of one run.

use itertools::Itertools as _;

use super::judge::{TestedClaim, judge_claims};
use super::model::{ClaimPart, ClaimVerdict, RequiredRatio, Statistic};
use super::part::{DecisionMethod, PartTest};
use crate::verdict::comparison::{
    Change, FigurePair, MeasuredFigure, MeasuredSide, PooledMeasurement, SideMeasurement,
    measured_figure,
};
use crate::verdict::outcome::ClaimOutcome;
use crate::verdict::{Evidence, Outcome, ResultVerdict, RunContext, UNKNOWN_DIRECTION, table_name};
use retrial_readings::natural::natural_sort_key;
use retrial_recipe::model::{Better, ClaimedFigure, FigureClaim, entry_name};

/// Judges the claims of a run's recipe.
pub(crate) fn judge_figure_claims(
    context: &RunContext,
    evidence: &[Evidence],
    results: &[ResultVerdict],
) -> Vec<ClaimVerdict> {
    let claims = context.claims.iter();
    let tested = claims.map(|claim| {
        let sides = claim.sides().map(|side| {
            let mut all = evidence.iter().zip(results);
            let found = all.find(|(one, _)| {
                one.plan.mode == side.mode && one.plan.has_scenario_name(&side.scenario)
            });
            found.map(|(evidence, result)| ClaimSide::new(context, evidence, result, side))
        });
        let tests = match sides {
            [Some(candidate), Some(baseline)] => {
                let tester = FigureClaimTester { context, claim, candidate, baseline };
                tester.build_tests()
            }
            _ => Vec::new(),
        };
        TestedClaim {
            text: claim.claim.clone(),
            source: claim.source.clone(),
            not_always: false,
            tests,
        }
    });
    // Nothing of a claim is tested where another run's plan measured a side of it.
    let testable = tested.filter(|claim| !claim.tests.is_empty());
    judge_claims(testable.collect(), context.error_per_analysis(1))
}

/// One side of a claim, with what was measured of it.
struct ClaimSide<'a> {
    claimed: &'a ClaimedFigure,
    evidence: &'a Evidence,
    result: &'a ResultVerdict,
    measurement: PooledMeasurement,
}

impl<'a> ClaimSide<'a> {
    fn new(
        context: &RunContext,
        evidence: &'a Evidence,
        result: &'a ResultVerdict,
        claimed: &'a ClaimedFigure,
    ) -> Self {
        Self {
            claimed,
            evidence,
            result,
            measurement: PooledMeasurement::new(context, evidence, result),
        }
    }

    /// Returns the entries of the table that were measured; one that is empty for the figure itself.
    fn measured_entries(&self) -> impl Iterator<Item = String> {
        let claimed = self.claimed.figure.as_str();
        let trials = self.evidence.trials.iter();
        let names = trials.flat_map(|trial| trial.figures.keys());
        names.filter_map(move |name| match table_name(name) {
            _ if name.eq_ignore_ascii_case(claimed) => Some(String::new()),
            Some(table) if table.eq_ignore_ascii_case(claimed) => {
                let entry = &name[table.len()..];
                Some(entry.trim_matches(['[', ']']).to_owned())
            }
            _ => None,
        })
    }

    fn figure_name(&self, entry: &str) -> String {
        match entry {
            "" => self.claimed.figure.clone(),
            entry => entry_name(&self.claimed.figure, entry),
        }
    }

    /// Returns the figure of an entry, or why it cannot be compared.
    fn measure(&self, context: &RunContext, entry: &str) -> Result<MeasuredFigure, String> {
        let name = self.figure_name(entry);
        let scenario = &self.evidence.plan.scenario;
        let trials = &self.evidence.trials;
        let with_figure = trials.iter().filter(|trial| trial.figure(&name).is_some());
        match (self.result.outcome, with_figure.count()) {
            (outcome @ (Outcome::Failed | Outcome::Invalid), _) => {
                Err(format!("{scenario} is {outcome}"))
            }
            (_, 0) => Err(format!("{scenario} has no {name}")),
            (_, count) if count < trials.len() => {
                Err(format!("a trial of {scenario} has no {name}"))
            }
            _ => Ok(measured_figure(context, self.evidence, &name)),
        }
    }
}

struct FigureClaimTester<'a> {
    context: &'a RunContext,
    claim: &'a FigureClaim,
    candidate: ClaimSide<'a>,
    baseline: ClaimSide<'a>,
}

impl FigureClaimTester<'_> {
    /// Returns a test for each entry that a side has; one for figures that are no tables.
    fn build_tests(&self) -> Vec<PartTest> {
        let entries = self.candidate.measured_entries();
        let entries = entries.chain(self.baseline.measured_entries()).unique();
        let mut sorted: Vec<String> = entries.collect();
        sorted.sort_by_cached_key(|entry| natural_sort_key(entry));
        if sorted.is_empty() {
            sorted.push(String::new());
        }
        sorted.iter().map(|entry| self.test_entry(entry)).collect()
    }

    /// Returns the names of the sides, as far as they differ: scenarios, figures, or both.
    fn subjects(&self) -> [String; 2] {
        let [first, second] = self.claim.sides();
        let differ_in_scenario = (&first.scenario, first.mode) != (&second.scenario, second.mode);
        self.claim.sides().map(|side| {
            let scenario = differ_in_scenario.then_some(side.scenario.as_str());
            let figure = (first.figure != second.figure).then_some(side.figure.as_str());
            scenario.into_iter().chain(figure).join(" ")
        })
    }

    fn test_entry(&self, entry: &str) -> PartTest {
        let (candidate, baseline) = (&self.candidate, &self.baseline);
        let [of_candidate, of_baseline] = self.subjects();
        let blank = self.blank_part(entry, [&of_candidate, &of_baseline]);
        let not_testable =
            |reason| PartTest { part: blank.clone(), test: DecisionMethod::NotTestable(reason) };
        let measured = candidate.measure(self.context, entry);
        let other = baseline.measure(self.context, entry);
        let (figure, other) = match (measured, other) {
            (Ok(figure), Ok(other)) => (figure, other),
            (Err(first), Err(second)) if first != second => {
                return not_testable(format!("{first}; {second}"));
            }
            (Err(reason), _) | (_, Err(reason)) => return not_testable(reason),
        };
        let side = |letter, measured| SideMeasurement { letter, measured };
        let pair = FigurePair::between(
            [
                side(&of_baseline, &baseline.measurement),
                side(&of_candidate, &candidate.measurement),
            ],
            [&other, &figure],
            std::ptr::eq(candidate.evidence, baseline.evidence),
            &[],
        );
        let alpha = self.context.error_per_analysis(1);
        let compared = pair.to_compared_figure(alpha, Change::NotCompared, None);
        let [ours, theirs] = &pair.figures;
        let test = match &pair.difference {
            Some(difference) => DecisionMethod::Ratio(difference.clone()),
            None => DecisionMethod::NotTestable(if !pair.has_common_unit() {
                format!("{of_candidate} is in {}, {of_baseline} in {}", theirs.unit, ours.unit)
            } else if other.better.is_none() {
                UNKNOWN_DIRECTION.to_owned()
            } else {
                "it is not above zero in every trial".to_owned()
            }),
        };
        let part = ClaimPart {
            unit: compared.unit,
            better: compared.better,
            candidate: compared.candidate,
            baseline: Some(compared.baseline),
            paired: compared.paired,
            ..blank
        };
        PartTest { part, test }
    }

    /// Creates a part of which only the sides are known.
    fn blank_part(&self, entry: &str, subjects: [&str; 2]) -> ClaimPart {
        let [candidate, baseline] = subjects.map(MeasuredSide::unmeasured);
        ClaimPart {
            of: entry.to_owned(),
            benchmark: self.candidate.result.benchmark.clone(),
            scenario: self.candidate.evidence.plan.scenario.clone(),
            mode: self.claim.candidate.mode,
            figure: self.claim.candidate.figure.clone(),
            unit: String::new(),
            better: Better::Higher,
            statistic: Statistic::Value,
            required: RequiredRatio {
                claim: Some(self.claim.is),
                margin: self.claim.margin(),
                negated: false,
            },
            candidate,
            baseline: Some(baseline),
            gaps: Vec::new(),
            paired: false,
            ratio: None,
            bounds: None,
            outcome: ClaimOutcome::NotDecided,
            more_trials: None,
            sentence: String::new(),
        }
    }
}
