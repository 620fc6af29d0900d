//! What is known of a result that is in no submission tree: its log's seeds tell the round, its
//! folder may tell the benchmark, and the command line what neither does.

use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::plan::measurement::MeasurementPlan;
use crate::results::evidence::result_path::ResultPath;
use crate::results::evidence::tree::Published;
use crate::results::evidence::tree::published::ResultKey;
use retrial_mlperf::loadgen::{Run, Scenario};
use retrial_mlperf::rounds::{Round, Rounds, Rules};
use retrial_recipe::model::{Mode, Submission};

use super::{reference, tree};

/// What results are judged by where no path tells.
pub struct LooseResults<'a> {
    asked: &'a JudgeRequest,
    rounds: Rounds,
    published: Option<Published>,
}

impl<'a> LooseResults<'a> {
    /// Reads what the command line names.
    pub fn new(asked: &'a JudgeRequest) -> Result<Self, Failure> {
        let rounds = tree::rounds(asked)?;
        if let Some(name) = &asked.round {
            tree::round_named(&rounds, name)?;
        }
        let published = reference::read(asked, &rounds)?;
        Ok(Self {
            asked,
            rounds,
            published,
        })
    }

    /// A measurement of which no recipe says anything.
    pub fn measurement(
        &self,
        scenario: &str,
        mode: Mode,
        place: &ResultPath,
        run: &Run,
    ) -> MeasurementPlan {
        let benchmark = self.benchmark(place);
        let rules = self.rules(&benchmark, scenario, run);
        let metric = rules.as_ref().map(|rules| rules.metric.name());
        let expected = self
            .published
            .as_ref()
            .zip(metric)
            .and_then(|(published, metric)| {
                let official = rules
                    .as_ref()
                    .map_or(benchmark.as_str(), |rules| rules.benchmark.as_str());
                let key = ResultKey {
                    division: self.asked.division.as_deref(),
                    benchmark: &benchmark,
                    official,
                    scenario,
                    ..ResultKey::default()
                };
                let unit = rules
                    .as_ref()
                    .map_or("", |rules| rules.metric.unit.as_str());
                Some((metric, vec![published.expectation(&key, unit)?]))
            });
        MeasurementPlan {
            loadgen: true,
            expect: expected
                .filter(|_| mode == Mode::Performance)
                .into_iter()
                .collect(),
            rules: rules.filter(|_| mode != Mode::Compliance),
            ..MeasurementPlan::new(scenario, mode)
        }
    }

    /// What was submitted, with what the command line and the rules say of it.
    pub fn submission(&self, place: &ResultPath, rules: Option<&Rules>) -> Submission {
        let mut submission = place.submission();
        submission.benchmark = self.benchmark(place);
        if let Some(rules) = rules {
            "mlperf-inference".clone_into(&mut submission.suite);
            submission.round = Some(rules.round.clone());
        }
        let division = self.asked.division.clone();
        submission.division = division.or(submission.division);
        submission
    }

    fn benchmark(&self, place: &ResultPath) -> String {
        let named = self.asked.benchmark.clone();
        named.unwrap_or_else(|| place.submission().benchmark)
    }

    fn rules(&self, benchmark: &str, scenario: &str, run: &Run) -> Option<Rules> {
        let round: &Round = match &self.asked.round {
            Some(name) => self.rounds.get("mlperf-inference", name)?,
            None => self.rounds.by_seeds(&run.parameters())?,
        };
        let rules = round.rules(benchmark, Scenario::from_word(scenario)?)?;
        Some(match &self.asked.division {
            Some(division) => rules.submitted_to(division),
            None => rules,
        })
    }
}
