//! The basis of judgements: known rounds, and published figures. For results outside a submission tree, the
//! logs' seeds determine the round, their folders possibly the benchmark, and the command line the rest.

use itertools::Itertools as _;

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use retrial_document::measures::format;
use retrial_mlperf::loadgen::{LoadgenRun, TestScenario};
use retrial_mlperf::rounds::{InferenceRules, Round, Rounds};
use retrial_mlperf::training::built_in_training_rounds as training_rules;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{JudgeRules, Mode, Submission};
use retrial_results::evidence::folders::RecipelessRules;
use retrial_results::evidence::result_path::ResultPath;
use retrial_results::evidence::training::{self, TrainingContext, TrainingTrees};
use retrial_results::evidence::tree::published::ResultKey;
use retrial_results::evidence::tree::{
    self, JudgeContext, PublishedFigures, SubmissionTrees, TreeFault, TreeRound,
};
use retrial_results::evidence::unknown_rules;

/// The request of the command line, with the files that it names.
pub struct JudgeInputs<'a> {
    pub(super) request: &'a JudgeRequest,
    pub(super) rounds: Rounds,
    pub(super) published: Option<PublishedFigures>,
    pub(super) rules: JudgeRules,
}

impl<'a> JudgeInputs<'a> {
    /// Reads the rules; there are no published figures yet.
    pub fn read(request: &'a JudgeRequest) -> Result<Self, Failure> {
        let basis = Self {
            request,
            rounds: catalog::load_rounds(&request.rules)?,
            published: None,
            rules: JudgeRules::default(),
        };
        if let (Some(name), None) = (&request.round, basis.named_round()) {
            return Err(Failure::usage(format!(
                "no rules of a round {name:?}; there are {} of MLPerf Inference (--rules FILE adds \
                 others), {} of MLPerf Training",
                basis.rounds.round_names().join(", "),
                training_rounds()
            )));
        }
        Ok(basis)
    }

    /// The round of `--round`.
    pub(super) fn named_round(&self) -> Option<&Round> {
        let name = self.request.round.as_ref()?;
        self.rounds.get("mlperf-inference", name)
    }

    /// The context for submission trees: the named round, else the one whose seeds are in most of the
    /// logs; and a fault if some logs have other seeds.
    pub fn inference_context(
        &self,
        trees: &SubmissionTrees,
    ) -> (JudgeContext<'_>, Option<TreeFault>) {
        let named = self.named_round();
        let tree_round = match named {
            Some(_) => None,
            None => tree::round_of(trees, &self.rounds),
        };
        let context = JudgeContext {
            round: named.or_else(|| Some(tree_round.as_ref()?.round)),
            benchmark: self.request.benchmark.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
            require_accuracy: self.request.require_accuracy,
        };
        (
            context,
            tree_round.and_then(|round| mixed_rounds_fault(&round)),
        )
    }

    /// The context for training results: the named round, else the one that their paths, benchmarks and
    /// dates indicate.
    pub fn training_context(&self, trees: &TrainingTrees) -> Result<TrainingContext<'_>, Failure> {
        let request = self.request;
        let selected = match &request.round {
            Some(name) => {
                let bare = |name: &str| name.trim_start_matches(['v', 'V']).to_owned();
                let mut rounds = training_rules().iter();
                rounds.find(|round| bare(&round.round) == bare(name))
            }
            None => training::find_round(trees),
        };
        let round = selected.ok_or_else(|| {
            let known = training_rounds();
            match &request.round {
                Some(name) => Failure::usage(format!(
                    "no rules of MLPerf Training {name}; known: {known}"
                )),
                None => Failure::usage(
                    "neither the path nor the benchmarks and dates of the logs identify the round",
                )
                .with_help(format!("choose one: --round ROUND ({known})")),
            }
        })?;
        Ok(TrainingContext {
            round,
            benchmark: request.benchmark.as_deref(),
            division: request.division.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
        })
    }

    /// The submission that results belong to, by their path, their rules and the command line.
    pub fn submission(&self, place: &ResultPath, rules: Option<&InferenceRules>) -> Submission {
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
    fn benchmark(&self, place: &ResultPath) -> String {
        let named = self.request.benchmark.clone();
        named.unwrap_or_else(|| place.submission().benchmark)
    }

    /// The named round, or the one whose seeds a log has.
    fn round_for_log(&self, run: &LoadgenRun) -> Option<&Round> {
        let seeds = || self.rounds.find_by_seeds(&run.parameters());
        self.named_round().or_else(seeds)
    }

    /// The rules for a benchmark in a scenario, of the named round or the one whose seeds a log has.
    fn rules_for_log(
        &self,
        benchmark: &str,
        scenario: &str,
        run: &LoadgenRun,
    ) -> Option<InferenceRules> {
        let round = self.round_for_log(run)?;
        let rules = round.benchmark_rules(benchmark, TestScenario::from_word(scenario)?)?;
        Some(match &self.request.division {
            Some(division) => rules.in_division(division),
            None => rules,
        })
    }
}

impl RecipelessRules for JudgeInputs<'_> {
    fn plan_measurement(
        &self,
        scenario: &str,
        mode: Mode,
        place: &ResultPath,
        run: &LoadgenRun,
    ) -> MeasurementPlan {
        let benchmark = self.benchmark(place);
        let rules = self.rules_for_log(&benchmark, scenario, run);
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
            let expectation = published.expectation(&key, &rules.metric.unit);
            let expected = expectation.map(|one| (rules.metric.published_name(), vec![one]));
            measurement.expect.extend(expected);
        }
        measurement.rules = rules.filter(|_| mode != Mode::Compliance);
        measurement
    }

    fn find_rules(
        &self,
        scenario: &str,
        place: &ResultPath,
        run: &LoadgenRun,
    ) -> Option<InferenceRules> {
        self.rules_for_log(&self.benchmark(place), scenario, run)
    }

    fn reason_for_unknown_rules(
        &self,
        scenario: &str,
        place: &ResultPath,
        run: &LoadgenRun,
    ) -> Option<String> {
        let benchmark = self.benchmark(place);
        let is_known = self.rules_for_log(&benchmark, scenario, run).is_some();
        (!is_known).then(|| {
            unknown_rules::reason_for_result(self.round_for_log(run), &benchmark, scenario)
        })
    }
}

/// `v5.0, v5.1, v6.0`
fn training_rounds() -> String {
    let rounds = training_rules().iter();
    rounds.map(|round| &round.round).join(", ")
}

fn mixed_rounds_fault(tree_round: &TreeRound<'_>) -> Option<TreeFault> {
    let round_counts = tree_round.counts.iter();
    let counts: Vec<String> = round_counts
        .map(|(round, count)| format!("{} of {round}", format::format_count(*count, "result")))
        .collect();
    let round = &tree_round.round.round;
    (counts.len() > 1).then(|| TreeFault {
        path: ".".to_owned(),
        actual: format!("the seeds of several rounds: {}", counts.join(", ")),
        required: format!("one round; all are judged by {round} (choose another: --round ROUND)"),
        is_violation: false,
    })
}
