//! The basis of judgements: known rounds, and published figures. For results outside a submission tree, the
//! logs' seeds determine the round, their folders possibly the benchmark, and the user the rest.

use itertools::Itertools as _;

use super::error::JudgeError;
use crate::evidence::folders::{RecipelessRules, UnplannedResult};
use crate::evidence::result_path::ResultPath;
use crate::evidence::training::{self, TrainingContext, TrainingTrees};
use crate::evidence::tree::published::ResultKey;
use crate::evidence::tree::{
    self, JudgeContext, PublishedFigures, SubmissionTrees, TreeFault, TreeRound,
};
use crate::evidence::unknown_rules;
use retrial_document::measures::format;
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::rounds::{InferenceRules, Round, Rounds};
use retrial_mlperf::training::built_in_training_rounds as training_rules;
use retrial_mlperf::{Division, ScenarioName};
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{JudgeRules, Mode, Submission};

/// What results outside of runs are judged by.
#[derive(Default)]
pub struct JudgeBasis {
    /// The known rounds of inference.
    pub rounds: Rounds,
    /// The figures that results are compared with.
    pub published: Option<PublishedFigures>,
    /// The limits of judgements.
    pub rules: JudgeRules,
    /// The round that the user names, if any.
    pub round: Option<String>,
    /// The benchmark that the user names, if any: that of results outside a submission tree.
    pub benchmark: Option<String>,
    /// The division that the user names, if any: that of results whose folders do not name it.
    pub division: Option<Division>,
    /// The scenario that the user names, if any: that of results outside a submission tree.
    pub scenario: Option<ScenarioName>,
    /// Performance without accuracy is inconclusive.
    pub require_accuracy: bool,
    /// Results of another system than the recipe's are compared, as `modified`.
    pub force: bool,
}

impl JudgeBasis {
    /// Refuses a round that the user names and that is not known.
    ///
    /// # Errors
    /// If there is no such round.
    pub fn require_known_round(&self) -> Result<(), JudgeError> {
        match (&self.round, self.named_round()) {
            (Some(name), None) => Err(JudgeError::UnknownRound {
                name: name.clone(),
                inference: self.rounds.round_names().join(", "),
                training: training_rounds(),
            }),
            _ => Ok(()),
        }
    }

    /// The round that the user names.
    fn named_round(&self) -> Option<&Round> {
        let name = self.round.as_ref()?;
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
            published: self.published.as_ref(),
            rules: &self.rules,
            require_accuracy: self.require_accuracy,
        };
        (context, tree_round.and_then(|round| mixed_rounds_fault(&round)))
    }

    /// The context for training results: the named round, else the one that their paths, benchmarks and
    /// dates indicate.
    ///
    /// # Errors
    /// If there is no such round, or nothing indicates one.
    pub fn training_context(
        &self,
        trees: &TrainingTrees,
    ) -> Result<TrainingContext<'_>, JudgeError> {
        let selected = match &self.round {
            Some(name) => {
                let bare = |name: &str| name.trim_start_matches(['v', 'V']).to_owned();
                let mut rounds = training_rules().iter();
                rounds.find(|round| bare(&round.round) == bare(name))
            }
            None => training::find_round(trees),
        };
        let round = selected.ok_or_else(|| {
            let known = training_rounds();
            match self.round.clone() {
                Some(name) => JudgeError::UnknownTrainingRound { name, known },
                None => JudgeError::NoTrainingRound { known },
            }
        })?;
        Ok(TrainingContext {
            round,
            division: self.division,
            published: self.published.as_ref(),
            rules: &self.rules,
        })
    }

    /// The submission that results belong to, by their path, their rules and the user.
    pub fn submission(&self, place: &ResultPath, rules: Option<&InferenceRules>) -> Submission {
        let mut submission = place.submission();
        submission.benchmark = self.benchmark_of(place);
        if let Some(rules) = rules {
            "mlperf-inference".clone_into(&mut submission.suite);
            submission.round = Some(rules.round.clone());
        }
        submission.division = self.division.or(submission.division);
        submission
    }

    /// The benchmark, by the user or the path.
    fn benchmark_of(&self, place: &ResultPath) -> String {
        let named = self.benchmark.clone();
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
        scenario: &ScenarioName,
        run: &LoadgenRun,
    ) -> Option<InferenceRules> {
        let round = self.round_for_log(run)?;
        let rules = round.benchmark_rules(benchmark, scenario.test_scenario()?)?;
        Some(match self.division {
            Some(division) => rules.in_division(division),
            None => rules,
        })
    }
}

impl RecipelessRules for JudgeBasis {
    fn plan_result(
        &self,
        scenario: &ScenarioName,
        mode: Mode,
        place: &ResultPath,
        run: &LoadgenRun,
    ) -> UnplannedResult {
        let benchmark = self.benchmark_of(place);
        let rules = self.rules_for_log(&benchmark, scenario, run);
        let mut measured =
            MeasurementPlan { loadgen: true, ..MeasurementPlan::new(scenario.clone(), mode) };
        if mode == Mode::Performance
            && let (Some(rules), Some(published)) = (&rules, &self.published)
        {
            let key = ResultKey {
                division: self.division,
                benchmark: &benchmark,
                official: &rules.benchmark,
                scenario,
                submitter: None,
                system: None,
            };
            let expectation = published.expectation(&key, &rules.metric.unit);
            let expected = expectation.map(|one| (rules.metric.published_name(), vec![one]));
            measured.expect.extend(expected);
        }
        measured.rules = rules.clone().filter(|_| mode != Mode::Compliance);
        let is_unknown = rules.is_none() && unknown_rules::needs_rules(run, mode);
        let unknown_rules = is_unknown.then(|| {
            unknown_rules::reason_for_result(self.round_for_log(run), &benchmark, scenario)
        });
        UnplannedResult { measured, rules, unknown_rules }
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
