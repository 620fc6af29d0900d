//! What results are judged by: the rounds that are known, and published figures.

use super::{reference, training_tree};
use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::format;
use crate::results::evidence::tree::{
    self, Fault, JudgeContext, Published, RoundOfTree, SubmissionTrees,
};
use retrial_mlperf::rounds::{Round, Rounds};
use retrial_recipe::model::JudgeRules;

/// What the command line says, with the files that it names.
pub struct Basis<'a> {
    pub(super) request: &'a JudgeRequest,
    pub(super) rounds: Rounds,
    pub(super) published: Option<Published>,
    pub(super) rules: JudgeRules,
}

impl<'a> Basis<'a> {
    /// Reads rules and published figures.
    pub fn read(request: &'a JudgeRequest) -> Result<Self, Failure> {
        let mut basis = Self {
            request,
            rounds: catalog::rounds_with(&request.rules)?,
            published: None,
            rules: JudgeRules::default(),
        };
        if let (Some(name), None) = (&request.round, basis.named_round()) {
            let known: Vec<&str> = basis.rounds.names().collect();
            return Err(Failure::usage(format!(
                "no rules of a round {name:?}; there are {} of MLPerf Inference (--rules FILE adds \
                 others), {} of MLPerf Training",
                known.join(", "),
                training_tree::known_rounds()
            )));
        }
        basis.published = reference::read(&basis)?;
        Ok(basis)
    }

    /// The round of `--round`.
    pub(super) fn named_round(&self) -> Option<&Round> {
        let name = self.request.round.as_ref()?;
        self.rounds.get("mlperf-inference", name)
    }

    /// What submission trees are judged by: the round that is named, else the one whose seeds are
    /// in most of the logs; and what is wrong if others are in some.
    pub fn context(&self, found: &SubmissionTrees) -> (JudgeContext<'_>, Option<Fault>) {
        let named = self.named_round();
        let of_tree = match named {
            Some(_) => None,
            None => tree::round_of(found, &self.rounds),
        };
        let context = JudgeContext {
            round: named.or_else(|| Some(of_tree.as_ref()?.round)),
            benchmark: self.request.benchmark.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
            require_accuracy: self.request.require_accuracy,
        };
        (context, of_tree.and_then(|of_tree| mixed(&of_tree)))
    }
}

fn mixed(of_tree: &RoundOfTree<'_>) -> Option<Fault> {
    let counts = of_tree.counts.iter();
    let counts: Vec<String> = counts
        .map(|(round, count)| format!("{} of {round}", format::count(*count, "result")))
        .collect();
    let round = &of_tree.round.round;
    (counts.len() > 1).then(|| Fault {
        path: ".".to_owned(),
        actual: format!("the seeds of several rounds: {}", counts.join(", ")),
        required: format!("one round; all are judged by {round} (choose another: --round ROUND)"),
        is_violation: false,
    })
}
