//! What results are judged by: the rounds that are known, and published figures.

use super::reference;
use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::app::terminal;
use crate::format;
use crate::results::evidence::tree::{self, JudgeContext, Published, RoundOfTree, SubmissionTrees};
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
                "no rules of a round {name:?}; there are {}, and --rules FILE adds others",
                known.join(", ")
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
    /// in the logs.
    pub fn context(&self, found: &SubmissionTrees) -> JudgeContext<'_> {
        let seeds = || {
            let of_tree = tree::round_of(found, &self.rounds)?;
            if of_tree.counts.len() > 1 {
                terminal::note(&mixed(&of_tree));
            }
            Some(of_tree.round)
        };
        JudgeContext {
            round: self.named_round().or_else(seeds),
            benchmark: self.request.benchmark.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
            require_accuracy: self.request.require_accuracy,
        }
    }
}

fn mixed(of_tree: &RoundOfTree<'_>) -> String {
    let counts = of_tree.counts.iter();
    let counts: Vec<String> = counts
        .map(|(round, count)| format!("{} of {round}", format::count(*count, "result")))
        .collect();
    let round = &of_tree.round.round;
    format!(
        "the results have the seeds of several rounds: {}\n  \
         all are judged by {round}; choose another: --round ROUND",
        counts.join(", ")
    )
}
