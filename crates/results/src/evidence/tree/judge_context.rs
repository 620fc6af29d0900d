//! The basis of a tree's verdicts: the round, the suite's name of a benchmark in it, and published figures to
//! compare with.

use super::{PublishedFigures, Submitter};
use retrial_mlperf::rounds::Round;
use retrial_recipe::model::JudgeRules;

/// The round and the rules by which a tree is judged, and the published figures to compare with.
#[derive(Debug, Clone, Copy)]
pub struct JudgeContext<'a> {
    /// The round, where it is known.
    pub round: Option<&'a Round>,
    /// Published figures to compare with.
    pub published: Option<&'a PublishedFigures>,
    /// Margin and confidence of comparisons.
    pub rules: &'a JudgeRules,
    /// Performance without accuracy is inconclusive.
    pub require_accuracy: bool,
}

impl JudgeContext<'_> {
    /// Returns the name to look a benchmark's rules up by.
    pub(crate) fn official_name<'a>(
        &'a self,
        submitter: &'a Submitter,
        benchmark: &'a str,
    ) -> &'a str {
        find_official_name(submitter, benchmark, self.round)
    }
}

/// Benchmarks that `MLCommons`' checker guesses where a name is neither one of the round's nor explained by the
/// submitter: submitters of the open division name the network, `mobilenet-v1-0.25-128`.
const GUESSED_NAMES: [(&str, &str); 6] = [
    ("mobilenet", "resnet"),
    ("efficientnet", "resnet"),
    ("resnet50", "resnet"),
    ("bert-99.9", "bert-99.9"),
    ("bert-99", "bert-99"),
    ("llama3_1-405b", "llama3.1-405b"),
];

/// Returns the name to look rules up by: one that the round knows, where there is one.
pub fn find_official_name<'a>(
    submitter: &'a Submitter,
    name: &'a str,
    round: Option<&'a Round>,
) -> &'a str {
    let own = submitter.names.get(name).map(String::as_str);
    let Some(round) = round else {
        return own.unwrap_or(name);
    };
    if let Some((rules, _)) = round.find_benchmark(name) {
        return rules;
    }
    if let Some(own) = own {
        return own;
    }
    let guess = GUESSED_NAMES.into_iter().find(|(part, _)| name.contains(part));
    guess.map_or(name, |(_, official)| official)
}
