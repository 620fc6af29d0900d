//! `retrial list --results` and `retrial new --from-results`, as a user types them: the example tree,
//! and every result of the published round v4.1.
//!
//! The corpus is next to the repository in `../shared/corpus` and is too large to be part of it;
//! without it its test says so and passes.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::copy::copy;
use crate::support::corpus::unpacked;
use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/submission");

/// Results of v4.1 whose own logs a recipe does not call reproduced, by a part of their paths: how
/// many, and why.
const EXPLAINED: [(&str, usize, &str); 2] = [
    (
        "7-1-node-2S-EMR-PyTorch/gptj-99",
        2,
        "Offline has five runs, which a recipe takes for trials; the first is published",
    ),
    (
        "neuralmagic_Llama-2-7b-chat-hf-FP8",
        3,
        "the round has no rules of this benchmark, so nobody knows whether it is valid",
    ),
];

struct Retrial {
    home: TempDir,
}

impl Retrial {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
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
    let new = retrial.run(&["new", recipe, "--from-results", EXAMPLE, "--result", "6.0-9002"]);
    assert!(new.status.success(), "{new:?}");
    let text = std::fs::read_to_string(recipe).unwrap();
    for line in [
        "completed_tokens_per_second: { value: 12400, kind: official, source: \"6.0-9002\" }",
        "tokens_per_second: { value: 11812.3, kind: official, source: \"6.0-9001\" }",
        "ROUGE1: { value: 44.5371, kind: official, source: \"6.0-9001\" }",
        "target_qps: 39    # as in the published log; min_duration 10m",
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
        ("mlperf_log_detail.txt", "\"result_tokens_per_second\", \"value\": "),
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
    assert!(judgements.contains("mode of accuracy/mlperf_log_detail.txt"), "{judgements}");
}

/// Writes what the endpoints client leaves of a scenario.
/// Writes a result of so many samples in 1,001 s, whose rates, counts and lengths agree.
fn write_endpoint(folder: &Path, kind: &str, samples: u32, score: &str) {
    for run in ["performance", "accuracy"] {
        std::fs::create_dir_all(folder.join(run)).unwrap();
    }
    let config = format!(
        "type: {kind}\nmodel_params: {{streaming: 'on'}}\nsettings:\n  runtime:\n    min_duration_ms: 900000\n    \
         n_samples_to_issue: {samples}\n    scheduler_random_seed: 16159082839903944936\n    \
         dataloader_random_seed: 2747215439041700203\n  load_pattern: {{type: poisson, target_qps: 13.5}}\n"
    );
    std::fs::write(folder.join("config.yaml"), config).unwrap();
    let seconds = 1_001.234_567_89;
    let (qps, length) = (f64::from(samples) / seconds, 51234.5 * seconds / 13164.0);
    let tps = if samples == 13164 { 51234.5 } else { qps * length };
    // Each run is one of its own.
    let ttft = if kind == "online" { 1_400_000_000.5 } else { 1_500_000_000.5 };
    let summary = format!(
        r#"{{"n_samples_issued": {samples}, "n_samples_completed": {samples}, "n_samples_failed": 0,
        "duration_ns": 1001234567890, "complete": true, "qps": {qps}, "tps": {tps},
        "ttft": {{"early_stopping_percentiles": {{"99.0": {ttft}}}}},
        "tpot": {{"early_stopping_percentiles": {{"99.0": 14000000.25}}}},
        "latency": {{"avg": 4321098765.4, "early_stopping_percentiles": {{"99.0": 9000000000}}}},
        "output_sequence_lengths": {{"avg": {length}}}}}"#
    );
    std::fs::write(folder.join("performance/result_summary.json"), summary).unwrap();
    let scores = format!(
        r#"{{"accuracy_scores": [{{"dataset_name": "all", "score": {score}, "complete": true, "dataset_type": "accuracy",
        "output_sequence_lengths": {{"avg": 3890.5}}}}]}}"#
    );
    std::fs::write(folder.join("accuracy/accuracy_results.json"), scores).unwrap();
}

/// The example's tree with results of endpoints in place of LoadGen's, for each of two benchmarks.
fn tree_of_endpoints(retrial: &Retrial, division: &str) -> std::path::PathBuf {
    let tree = retrial.home.path().join("tree");
    copy(Path::new(EXAMPLE), &tree);
    std::fs::remove_file(tree.join("summary_results.json")).unwrap();
    let results = tree.join("closed/Example/results/8xEXAMPLE_2xCPU");
    std::fs::remove_dir_all(results.join("llama2-70b-99")).unwrap();
    let deepseek = r#"81.25, "total_samples": 4388"#;
    write_endpoint(&results.join("deepseek-r1/Offline"), "offline", 13164, deepseek);
    write_endpoint(&results.join("deepseek-r1/Interactive"), "online", 13164, deepseek);
    let qwen =
        r#"0.84125, "total_samples": 995, "breakdown": {"normalized_single_turn_score": 86.5}"#;
    write_endpoint(&results.join("qwen3.6-27b/SingleStream"), "online", 231, qwen);
    if division != "closed" {
        std::fs::rename(tree.join("closed"), tree.join(division)).unwrap();
    }
    tree
}

#[test]
fn results_of_an_endpoint_are_listed_with_their_figures() {
    let retrial = Retrial::new();
    let tree = tree_of_endpoints(&retrial, "closed");
    let entries = retrial.list(tree.to_str().unwrap());
    let figures = entries.iter().flat_map(|entry| {
        let figures = entry["scenarios"].as_array().unwrap().iter();
        figures.map(|figure| {
            let [benchmark, scenario, unit] =
                [&entry["benchmark"], &figure["scenario"], &figure["unit"]]
                    .map(|text| text.as_str().unwrap());
            let value = figure["value"].as_f64().unwrap();
            format!("{benchmark} {scenario} {value:.4} {unit}")
        })
    });
    let figures: Vec<String> = figures.collect();
    let expected = [
        "deepseek-r1 Interactive 51234.5000 tokens/s",
        "deepseek-r1 Offline 51234.5000 tokens/s",
        "qwen3.6-27b SingleStream 4321.0988 ms",
    ];
    assert_eq!(figures, expected);
}

/// A recipe from results of an endpoint judges these results: all figures at exactly 1.000, in
/// whichever folder of the tree, and by the rules of the round.
#[test]
fn a_recipe_of_an_endpoint_judges_its_own_results() {
    for division in ["closed", "open"] {
        let retrial = Retrial::new();
        let tree = tree_of_endpoints(&retrial, division);
        let entries = retrial.list(tree.to_str().unwrap());
        assert_eq!(entries.len(), 2);
        for (number, entry) in entries.iter().enumerate() {
            let recipe = retrial.home.path().join(format!("{number}.yaml"));
            let became = retrial.imported(tree.to_str().unwrap(), entry, &recipe);
            assert_eq!(became, "reproduced", "{division}: {entry:#}");
            let results = tree.join(entry["source"].as_str().unwrap());
            let arguments =
                ["judge", results.to_str().unwrap(), "--recipe", recipe.to_str().unwrap()];
            let judged = retrial.json(&arguments);
            let modes = judged["results"].as_array().unwrap().iter();
            let modes: Vec<&str> = modes.map(|result| result["mode"].as_str().unwrap()).collect();
            assert!(modes.contains(&"accuracy") && modes.contains(&"performance"), "{modes:?}");
        }
    }
}

/// The rules of the round hold for an endpoint's results by a recipe as they do in a tree, and a
/// summary that cannot be read is no result.
#[test]
fn faults_of_an_endpoint_are_found_by_a_recipe() {
    let retrial = Retrial::new();
    let tree = tree_of_endpoints(&retrial, "closed");
    let results = tree.join("closed/Example/results/8xEXAMPLE_2xCPU/deepseek-r1");
    let recipe = retrial.home.path().join("mine.yaml");
    let recipe = recipe.to_str().unwrap();
    let new = retrial.run(&["new", recipe, "--from-results", results.to_str().unwrap()]);
    assert!(new.status.success(), "{new:?}");
    // A recipe has nothing to say of scenarios that it does not measure.
    let arguments = ["--recipe", recipe, "--scenario", "SingleStream"];
    let refused = retrial.run(&[&["judge", results.to_str().unwrap()][..], &arguments].concat());
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let summary = results.join("Interactive/performance/result_summary.json");
    let whole = std::fs::read_to_string(&summary).unwrap();
    for (from, to, reason) in [
        ("\"n_samples_failed\": 0", "\"n_samples_failed\": 7", "7 failed"),
        ("1400000000.5", "1600000000.5", "time to first token"),
        ("\"complete\": true", "\"complete\": false", "not complete"),
        ("{\"n_samples_issued\"", "{\"n_samples_issued", "result_summary.json"),
    ] {
        std::fs::write(&summary, whole.replace(from, to)).unwrap();
        let arguments = ["judge", results.to_str().unwrap(), "--recipe", recipe];
        let judged = retrial.json(&arguments);
        assert_eq!(verdict(&judged), "invalid", "{reason}");
        assert!(judged.to_string().contains(reason), "{reason}: {judged:#}");
    }
    std::fs::remove_file(&summary).unwrap();
    let judged = retrial.json(&["judge", results.to_str().unwrap(), "--recipe", recipe]);
    assert_eq!(verdict(&judged), "invalid", "{judged:#}");
}

#[test]
#[ignore = "needs the corpus"]
fn every_result_of_a_round_is_imported_as_a_recipe() {
    let corpus = unpacked("mlperf-inference-results-v4.1.tar.xz");
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
    let mut left: BTreeMap<&str, &str> =
        others.map(|(path, ended)| (path.as_str(), ended.as_str())).collect();
    for (part, count, reason) in EXPLAINED {
        let before = left.len();
        left.retain(|path, _| !path.contains(part));
        assert_eq!(before - left.len(), count, "{part}: {reason}");
    }
    assert!(left.is_empty(), "{left:#?}");
}
