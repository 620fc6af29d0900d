//! From a rules file's text to a checked round.

use super::model::{Round, RoundBenchmark};
use crate::loadgen::TestScenario;
use retrial_document::{
    Diagnostics, Keys as _, Node, PlainLanguage, Source, Validator, parse_yaml, suggest_nearest,
};

impl Round {
    /// Reads a rules file.
    ///
    /// # Errors
    /// Every problem of it, each with its place.
    pub fn parse(source: &Source) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let round = read_round(source, &mut problems);
        problems.into_result(round, &source.path)
    }

    /// Returns a benchmark by its official name, by a submitter's name for it, or by a part of a name
    /// that contains it: `obert-large-pruned95-none-vnni-bert-99` is a `bert-99` of the open division.
    pub fn find_benchmark(&self, name: &str) -> Option<(&str, &RoundBenchmark)> {
        let same = |other: &String| other.eq_ignore_ascii_case(name);
        let lower = name.to_ascii_lowercase();
        let find = |matches: &dyn Fn(&(String, RoundBenchmark)) -> bool| {
            self.benchmarks.iter().find(|entry| matches(entry))
        };
        let found = find(&|(official, _)| official == name)
            .or_else(|| {
                find(&|(official, benchmark)| same(official) || benchmark.names.iter().any(same))
            })
            .or_else(|| {
                // The longest part: a name that contains `bert-99.9` also contains `bert-99`.
                let parts = self.benchmarks.iter().flat_map(|entry| {
                    let parts = entry.1.like.iter();
                    parts.map(move |part| (part.len(), part, entry))
                });
                parts
                    .filter(|(_, part, _)| lower.contains(&part.to_ascii_lowercase()))
                    .max_by_key(|(length, ..)| *length)
                    .map(|(_, _, entry)| entry)
            });
        found.map(|(official, benchmark)| (official.as_str(), benchmark))
    }
}

/// Returns every problem of a rules file.
pub fn check_rules_file(source: &Source) -> Diagnostics {
    Round::parse(source).err().unwrap_or_default()
}

/// Returns whether a file has rules and is no recipe: it has `benchmarks`.
pub fn is_rules_file(source: &Source) -> bool {
    // Most files are recipes, and need no second parse to say so.
    source.text.contains("benchmarks")
        && parse_yaml(source, &mut Diagnostics::default())
            .is_some_and(|node| node.entry("benchmarks").is_some())
}

fn read_round(source: &Source, problems: &mut Diagnostics) -> Option<Round> {
    let node = parse_yaml(source, problems)?;
    let top = source.span(0..0);
    let checked = Validator::new(&mut PlainLanguage::default(), problems).check_object(
        &node,
        Round::OBJECT,
        &top,
    );
    check_consistency(&checked, problems);
    Round::from_keys(&checked)
}

/// Reports a name that the round describes nowhere.
fn report_unknown_name(
    node: &Node,
    known: &[&str],
    (kind, key): (&str, &str),
    problems: &mut Diagnostics,
) {
    let name = node.text().unwrap_or_default();
    if known.contains(&name) {
        return;
    }
    let help = suggest_nearest(name, known.iter().copied())
        .unwrap_or_else(|| format!("describe it under `{key}`"));
    let message = format!("`{name}` is not a {kind} of this round");
    problems.error("unknown-value", message, &node.span, help);
}

/// Checks keys against each other.
fn check_consistency(round: &Node, problems: &mut Diagnostics) {
    let names: Vec<&str> = round.present_entries_at("tests").map(|(name, _)| name).collect();
    let metrics = round.get("metrics");
    let benchmarks: Vec<&str> =
        round.present_entries_at("benchmarks").map(|(name, _)| name).collect();
    for endpoint in round.items_at("endpoints") {
        report_unknown_name(endpoint, &benchmarks, ("benchmark", "benchmarks"), problems);
    }
    for (_, benchmark) in round.present_entries_at("benchmarks") {
        for test in benchmark.items_at("compliance") {
            report_unknown_name(test, &names, ("test", "tests"), problems);
        }
        for entry in benchmark.entries_at("scenarios") {
            let scenario = &entry.value;
            let usual = metrics.and_then(|metrics| metrics.get(&entry.key));
            let own = [scenario.get("figure"), scenario.get("unit")];
            let lacks = match own {
                [Some(_), Some(_)] => false,
                [None, None] => usual.is_none(),
                _ => true,
            };
            if lacks {
                let message = format!("no published figure for {}", entry.key);
                let help = "write `figure` and `unit` here, or under `metrics`";
                problems.error("missing-key", message, &entry.key_span, help);
            }
            if TestScenario::from_word(&entry.key) != Some(TestScenario::Offline)
                && let Some(wrong) = scenario.entry("min_samples_per_query")
            {
                let message = "only Offline has a minimum number of samples per query";
                problems.error("conflict", message, &wrong.key_span, "remove the key");
            }
        }
    }
}
