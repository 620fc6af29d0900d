//! Results that are in no submission tree: their logs' seeds tell the round, their folders may tell
//! the benchmark, and the command line the rest.

use super::basis::Basis;
use crate::plan::measurement::MeasurementPlan;
use crate::results::evidence::result_path::ResultPath;
use crate::results::evidence::tree::published::ResultKey;
use retrial_mlperf::loadgen::{Run, Scenario};
use retrial_mlperf::rounds::Rules;
use retrial_recipe::model::{Mode, Submission};

impl Basis<'_> {
    /// A measurement of which no recipe says anything.
    pub fn measurement(
        &self,
        scenario: &str,
        mode: Mode,
        place: &ResultPath,
        run: &Run,
    ) -> MeasurementPlan {
        let benchmark = self.benchmark(place);
        let rules = self.rules_of(&benchmark, scenario, run);
        let mut measurement = MeasurementPlan {
            loadgen: true,
            ..MeasurementPlan::new(scenario, mode)
        };
        if mode == Mode::Performance
            && let (Some(rules), Some(published)) = (&rules, &self.published)
        {
            let key = ResultKey {
                division: self.request.division.as_deref(),
                benchmark: &benchmark,
                official: &rules.benchmark,
                scenario,
                ..ResultKey::default()
            };
            let expected = published.expectation(&key, &rules.metric.unit);
            let expected = expected.map(|one| (rules.metric.name(), vec![one]));
            measurement.expect.extend(expected);
        }
        measurement.rules = rules.filter(|_| mode != Mode::Compliance);
        measurement
    }

    /// The submission that results belong to, by their path, their rules and the command line.
    pub fn submission(&self, place: &ResultPath, rules: Option<&Rules>) -> Submission {
        let mut submission = place.submission();
        submission.benchmark = self.benchmark(place);
        if let Some(rules) = rules {
            "mlperf-inference".clone_into(&mut submission.suite);
            submission.round = Some(rules.round.clone());
        }
        let division = self.request.division.clone();
        submission.division = division.or(submission.division);
        submission
    }

    /// The benchmark, by the command line or the path.
    pub(super) fn benchmark(&self, place: &ResultPath) -> String {
        let named = self.request.benchmark.clone();
        named.unwrap_or_else(|| place.submission().benchmark)
    }

    /// What the round that is named, or whose seeds a log has, asks of a benchmark in a scenario.
    pub(super) fn rules_of(&self, benchmark: &str, scenario: &str, run: &Run) -> Option<Rules> {
        let seeds = || self.rounds.by_seeds(&run.parameters());
        let round = self.named_round().or_else(seeds)?;
        let rules = round.rules(benchmark, Scenario::from_word(scenario)?)?;
        Some(match &self.request.division {
            Some(division) => rules.submitted_to(division),
            None => rules,
        })
    }
}
