//! The suite's name of a benchmark, by a submitter's name.

use super::submission::Submitter;
use retrial_mlperf::rounds::Round;

/// What `MLCommons`' checker guesses where a name is neither one of the round's nor explained by the
/// submitter: submitters of the open division name the network, `mobilenet-v1-0.25-128`.
const GUESSED: [(&str, &str); 6] = [
    ("mobilenet", "resnet"),
    ("efficientnet", "resnet"),
    ("resnet50", "resnet"),
    ("bert-99.9", "bert-99.9"),
    ("bert-99", "bert-99"),
    ("llama3_1-405b", "llama3.1-405b"),
];

/// The name to look rules up by: one that the round knows, where there is one.
#[must_use]
pub fn official<'a>(submitter: &'a Submitter, name: &'a str, round: Option<&'a Round>) -> &'a str {
    let own = submitter.names.get(name).map(String::as_str);
    let Some(round) = round else {
        return own.unwrap_or(name);
    };
    if let Some((known, _)) = round.benchmark(name) {
        return known;
    }
    if let Some(own) = own {
        return own;
    }
    let guess = GUESSED.into_iter().find(|(part, _)| name.contains(part));
    guess.map_or(name, |(_, official)| official)
}
