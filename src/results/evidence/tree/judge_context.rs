//! What a tree is judged by: the round, and published figures to compare with.

use super::{Published, Submitter, names};
use retrial_mlperf::rounds::Round;
use retrial_recipe::model::JudgeRules;

/// What a tree is judged by.
#[derive(Debug, Clone, Copy)]
pub struct JudgeContext<'a> {
    /// The round, where it is known.
    pub round: Option<&'a Round>,
    /// The benchmark that the command line says, in place of the folder's name.
    pub benchmark: Option<&'a str>,
    /// Published figures to compare with.
    pub published: Option<&'a Published>,
    /// Margin and confidence of comparisons.
    pub rules: &'a JudgeRules,
    /// Performance without accuracy is inconclusive.
    pub require_accuracy: bool,
}

impl JudgeContext<'_> {
    /// The name to look a benchmark's rules up by.
    pub(crate) fn official<'a>(&'a self, submitter: &'a Submitter, benchmark: &'a str) -> &'a str {
        let own = || names::official(submitter, benchmark, self.round);
        self.benchmark.unwrap_or_else(own)
    }
}
