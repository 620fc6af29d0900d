//! `retrial list --results` and `retrial new --from-results`, as a user types them: the example tree,
//! and every result of the published round v4.1.
//!
//! The corpus is next to the repository in `../shared/corpus` and is too large to be part of it;
//! without it its test says so and passes.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "support/copy.rs"]
mod copy;
#[path = "support/corpus.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use copy::copy;
use rayon::prelude::*;
use serde_json::Value;
use support::unpacked;
use tempfile::TempDir;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/submission");

/// Results of v4.1 whose own logs a recipe does not call reproduced, by a part of their paths: how
/// many, and why.
const EXPLAINED: [(&str, usize, &str); 1] = [(
    "7-1-node-2S-EMR-PyTorch/gptj-99",
    2,
    "Offline has five runs, which a recipe takes for trials; the first is published",
)];

struct Retrial {
    home: TempDir,
}

impl Retrial {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .env("RETRIAL_HOME", self.home.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--output", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    fn list(&self, tree: &str) -> Vec<Value> {
        let list = self.json(&["list", "--results", tree]);
        list.as_array().unwrap().clone()
    }

    /// What becomes of one result: its recipe, whether `check` passes with nothing but what is marked,
    /// and what its own logs are by it.
    fn imported(&self, tree: &str, entry: &Value, recipe: &Path) -> String {
        let recipe = recipe.to_str().unwrap();
        let results = Path::new(tree).join(entry["source"].as_str().unwrap());
        let results = results.to_str().unwrap();
        let new = self.run(&["new", recipe, "--from-results", results]);
        if !new.status.success() {
            return "not imported".to_owned();
        }
        let checked = self.json(&["check", recipe]);
        if checked[0]["ok"] != true {
            return "with problems".to_owned();
        }
        let judged = self.json(&["judge", results, "--recipe", recipe]);
        verdict(&judged)
    }
}

/// `reproduced` where every published figure is reproduced at a ratio of 1.000. A scenario whose
/// figure was worked out of another's run has none in the recipe.
fn verdict(judged: &Value) -> String {
    let results = judged["results"].as_array().unwrap().iter();
    let judged = results.filter(|item| !item["judgements"].as_array().unwrap().is_empty());
    let mut count = 0;
    for result in judged {
        let outcome = result["outcome"].as_str().unwrap();
        if outcome != "reproduced" {
            return outcome.to_owned();
        }
        for judgement in result["judgements"].as_array().unwrap() {
            count += 1;
            let ratio = judgement["ratio"].as_f64().unwrap();
            if (ratio - 1.0).abs() >= 0.0005 {
                return format!("ratio {ratio:.3}");
            }
        }
    }
    if count == 0 { "nothing" } else { "reproduced" }.to_owned()
}

#[test]
fn the_example_is_imported_with_its_id() {
    let retrial = Retrial::new();
    let recipe = retrial.home.path().join("mine.yaml");
    let recipe = recipe.to_str().unwrap();
    let new = retrial.run(&[
        "new",
        recipe,
        "--from-results",
        EXAMPLE,
        "--result",
        "6.0-9002",
    ]);
    assert!(new.status.success(), "{new:?}");
    let text = std::fs::read_to_string(recipe).unwrap();
    for line in [
        "completed_tokens_per_second: { value: 12400, kind: official, source: \"6.0-9002\" }",
        "tokens_per_second: { value: 11812.3, kind: official, source: \"6.0-9001\" }",
        "ROUGE1: { value: 44.5371, kind: official, source: \"6.0-9001\" }",
        "target_qps: 40    # as in the published log; min_duration 10m",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let checked = retrial.json(&["check", recipe]);
    let problems = checked[0]["problems"].as_array().unwrap().iter();
    let marked = problems.filter(|problem| problem["code"] == "incomplete");
    assert_eq!(marked.count(), text.matches("\n  - ").count());
    let run = retrial.run(&["run", recipe, "--yes"]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
}

/// Five folders `accuracy` of v5.1 have the log of a performance run, which the official checker takes.
#[test]
fn a_performance_log_in_the_accuracy_folder_is_not_performance() {
    let retrial = Retrial::new();
    let recipe = retrial.home.path().join("mine.yaml");
    let recipe = recipe.to_str().unwrap();
    let id = ["--result", "6.0-9001", "--benchmark", "llama2-70b-99"];
    let new = retrial.run(&[&["new", recipe, "--from-results", EXAMPLE][..], &id].concat());
    assert!(new.status.success(), "{new:?}");
    let tree = retrial.home.path().join("tree");
    copy(Path::new(EXAMPLE), &tree);
    let result = tree.join("closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99");
    let (performance, accuracy) = ("Offline/performance/run_1", "Offline/accuracy");
    for (file, scale) in [
        (
            "mlperf_log_detail.txt",
            "\"result_tokens_per_second\", \"value\": ",
        ),
        ("mlperf_log_summary.txt", "Tokens per second: "),
    ] {
        let text = std::fs::read_to_string(result.join(performance).join(file)).unwrap();
        let slow = text.replace(&format!("{scale}11800"), &format!("{scale}100"));
        assert_ne!(text, slow, "{file}");
        std::fs::write(result.join(accuracy).join(file), slow).unwrap();
    }
    let offline = result.join("Offline");
    let judged = retrial.json(&["judge", offline.to_str().unwrap(), "--recipe", recipe]);
    // The round's table has 11,812.3 tokens/s, the log 11,800.5.
    assert_eq!(verdict(&judged), "ratio 0.999", "{judged:#}");
    let judgements = judged.to_string();
    assert!(
        judgements.contains("mode of accuracy/mlperf_log_detail.txt"),
        "{judgements}"
    );
}

#[test]
fn every_result_of_a_round_is_imported_as_a_recipe() {
    let Some(corpus) = unpacked("mlperf-inference-results-v4.1.tar.xz") else {
        return;
    };
    let tree = corpus.path().join("v4.1");
    let tree = tree.to_str().unwrap();
    let retrial = Retrial::new();
    let entries = retrial.list(tree);
    let ended: Vec<(String, String)> = entries
        .par_iter()
        .enumerate()
        .map(|(number, entry)| {
            let recipe = retrial.home.path().join(format!("{number}.yaml"));
            let ended = retrial.imported(tree, entry, &recipe);
            (entry["source"].as_str().unwrap().to_owned(), ended)
        })
        .collect();
    let others = ended.iter().filter(|(_, ended)| ended != "reproduced");
    let mut left: BTreeMap<&str, &str> = others
        .map(|(path, ended)| (path.as_str(), ended.as_str()))
        .collect();
    for (part, count, reason) in EXPLAINED {
        let before = left.len();
        left.retain(|path, _| !path.contains(part));
        assert_eq!(before - left.len(), count, "{part}: {reason}");
    }
    assert!(left.is_empty(), "{left:#?}");
}
