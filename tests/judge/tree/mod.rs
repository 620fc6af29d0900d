//! `retrial judge` on a submission tree: the small one of `examples/submission`, and what is wrong
//! with copies of it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod compared;
mod objections;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::copy::copy;
use serde_json::Value;
use tempfile::TempDir;

const BENCHMARK: &str = "closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99";
const SYSTEM: &str = "closed/Example/systems/8xEXAMPLE_2xCPU.json";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission")
}

/// A copy of the example that may be broken.
fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    copy(&example(), tree.path());
    tree
}

struct Judgement {
    code: i32,
    json: Value,
}

fn run_judge(directory: &Path, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(directory)
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap()
}

/// The text on standard output, and that on standard error.
fn judge_text(directory: &Path, arguments: &[&str]) -> (String, String) {
    let output = run_judge(directory, arguments);
    let [text, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (text, errors)
}

/// The exit code, and the text on standard error.
fn failed(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let output = run_judge(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), errors)
}

fn judge(directory: &Path, arguments: &[&str]) -> Judgement {
    let output = run_judge(directory, &[&["--output", "json"], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_str(&text);
    Judgement {
        code: output.status.code().unwrap(),
        json: json.unwrap_or_else(|error| panic!("{error}: {text} {errors}")),
    }
}

impl Judgement {
    fn results(&self) -> &Vec<Value> {
        self.json["results"].as_array().expect("results")
    }

    fn result(&self, end: &str) -> &Value {
        let mut results = self.results().iter();
        let found = results.find(|item| item["path"].as_str().unwrap().ends_with(end));
        found.unwrap_or_else(|| panic!("no result of {end}"))
    }

    /// The violated rules of a result.
    fn broken(&self, end: &str) -> Vec<String> {
        broken(&self.result(end)["rules"])
    }

    /// Those of the benchmark as a whole.
    fn broken_benchmark(&self) -> Vec<String> {
        broken(&self.json["benchmarks"][0]["rules"])
    }
}

fn broken(rules: &Value) -> Vec<String> {
    let rules = rules.as_array().unwrap().iter();
    rules
        .filter(|rule| rule["passed"] == false)
        .map(|rule| {
            let word = |name: &str| rule[name].as_str().unwrap().to_owned();
            format!("{}: {}", word("rule"), word("measured"))
        })
        .collect()
}

const OFFLINE: &str = "Offline/performance/run_1";
const SERVER: &str = "Server/performance/run_1";
const INTERACTIVE: &str = "Interactive/performance/run_1";

#[test]
fn a_tree_is_judged_by_its_round() {
    let judgement = judge(&example(), &[]);
    assert_eq!(judgement.code, 1, "Interactive lacks TEST06 and is too slow");
    assert_eq!(judgement.results().len(), 8, "three performance, three accuracy, two tests");
    let offline = judgement.result(OFFLINE);
    assert_eq!(offline["valid"], true, "{}", offline["sentence"]);
    assert_eq!(offline["round"], "v6.0");
    assert_eq!(offline["division"], "closed");
    assert_eq!(offline["submitter"], "Example");
    assert_eq!(offline["system"], "8xEXAMPLE_2xCPU");
    assert_eq!(offline["deciding"], "tokens_per_second");
    assert_eq!(offline["figures"]["tokens_per_second"]["value"], 11_800.5);
    assert_eq!(offline["figures"]["tokens_per_second"]["unit"], "tokens/s");
    let accuracy = judgement.result("Offline/accuracy");
    assert_eq!(accuracy["deciding"], "ROUGE1");
    assert_eq!(accuracy["valid"], true);
    assert_eq!(judgement.result(SERVER)["valid"], true);
    let interactive = judgement.result(INTERACTIVE);
    assert_eq!(
        (&interactive["scenario"], &interactive["valid"]),
        (&"Interactive".into(), &false.into())
    );
    let rules = judgement.broken(INTERACTIVE);
    assert!(rules.contains(&"TEST06: missing".to_owned()), "{rules:?}");
    let late = rules.iter().any(|rule| rule.contains("first token") && rule.contains("612 ms"));
    assert!(late, "{rules:?}");
    assert_eq!(judgement.json["benchmarks"][0]["system_type"], "datacenter");
    assert_eq!(judgement.broken_benchmark(), [""; 0]);
    assert_eq!(judgement.json["counts"]["performance"], 3);
    assert!(judgement.json["notice"].as_str().unwrap().contains("Unverified MLPerf v6.0"));
}

#[test]
fn any_folder_of_a_tree_is_judged() {
    for (folder, results) in [
        ("closed", 8),
        ("closed/Example", 8),
        ("closed/Example/results", 8),
        ("closed/Example/results/8xEXAMPLE_2xCPU", 8),
        (BENCHMARK, 8),
        (&format!("{BENCHMARK}/Offline"), 3),
        (&format!("{BENCHMARK}/Offline/performance"), 1),
        (&format!("{BENCHMARK}/Offline/performance/run_1"), 1),
        (&format!("{BENCHMARK}/Offline/accuracy"), 1),
        (&format!("{BENCHMARK}/Offline/TEST06"), 1),
    ] {
        let judgement = judge(&example().join(folder), &[]);
        assert_eq!(judgement.results().len(), results, "{folder}");
        let paths = judgement.results().iter().map(|item| item["path"].as_str().unwrap());
        assert!(paths.clone().all(|path| path.starts_with(BENCHMARK)), "{folder}");
        let item = &judgement.results()[0];
        assert_eq!(
            (&item["round"], &item["system"]),
            (
                &if folder.ends_with("TEST06") || folder.ends_with("accuracy") {
                    item["round"].clone()
                } else {
                    "v6.0".into()
                },
                &"8xEXAMPLE_2xCPU".into()
            ),
            "{folder}"
        );
    }
}

#[test]
fn a_parent_of_trees_is_judged() {
    let tree = tempfile::tempdir().unwrap();
    copy(&example(), &tree.path().join("rounds/v6.0"));
    assert_eq!(judge(tree.path(), &[]).results().len(), 8);
}

#[test]
fn missing_parts_of_a_benchmark_are_reported() {
    let tree = tree();
    let at = |path: &str| tree.path().join(path);
    fs::remove_dir_all(at(BENCHMARK).join("Offline")).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.broken_benchmark(), ["required scenario: Offline is missing"]);
    fs::write(
        at(SYSTEM),
        r#"{"system_type": "laptop", "division": "open", "submitter": "Somebody"}"#,
    )
    .unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark().join("\n");
    for part in ["laptop", "division: \"open\"", "Somebody"] {
        assert!(rules.contains(part), "{rules}");
    }
    fs::remove_file(at(SYSTEM)).unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark();
    assert_eq!(rules, [format!("{SYSTEM}: missing")]);
    fs::rename(at(BENCHMARK), at(BENCHMARK).with_file_name("llama2-71b")).unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark().join("\n");
    assert!(rules.contains("benchmark: llama2-71b"), "{rules}");
}

#[test]
fn missing_and_irregular_files_are_reported() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join("Offline");
    let run = offline.join("performance/run_1");
    fs::remove_file(run.join("mlperf_log_detail.txt")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", run.join("mlperf_log_detail.txt")).unwrap();
    fs::remove_file(offline.join("accuracy/accuracy.txt")).unwrap();
    fs::create_dir(offline.join("accuracy/accuracy.txt")).unwrap();
    fs::write(offline.join("accuracy/mlperf_log_summary.txt"), b"\0\x01\x02").unwrap();
    let server = tree.path().join(BENCHMARK).join("Server/performance");
    fs::remove_dir_all(&server).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.code, 1);
    let rules = judgement.broken(OFFLINE).join("\n");
    assert!(rules.contains("mlperf_log_detail.txt") && rules.contains("it is a link"), "{rules}");
    let rules = judgement.broken("Offline/accuracy").join("\n");
    assert!(rules.contains("accuracy.txt") && rules.contains("not a regular file"), "{rules}");
    assert!(rules.contains("mlperf_log_summary.txt"), "{rules}");
    let rules = judgement.broken(SERVER);
    assert!(rules.contains(&"mlperf_log_summary.txt: missing".to_owned()), "{rules:?}");
    assert_eq!(judgement.result(SERVER)["outcome"], "invalid");
}

#[test]
fn problems_of_the_tree_are_in_every_output_format() {
    let tree = tree();
    let mapping = tree.path().join("closed/Example/model_mapping.json");
    fs::write(mapping, "no JSON").unwrap();
    let judgement = judge(tree.path(), &[]);
    let faults = judgement.json["faults"].as_array().unwrap();
    assert_eq!(faults[0]["path"], "closed/Example/model_mapping.json");
    for (form, expected) in
        [("junit", "closed/Example/model_mapping.json"), ("markdown", "## Submission tree")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["judge", "--output", form])
            .arg(tree.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{text}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn the_majority_of_results_decides_the_round() {
    let tree = tree();
    let seeds = [
        ("2465351861681999779", "1780908523862526354"),
        ("14276810075590677512", "14771362308971278857"),
        ("3936089224930324775", "18209322760996052031"),
    ];
    let first = tree.path().join(BENCHMARK).join(INTERACTIVE);
    for log in ["mlperf_log_summary.txt", "mlperf_log_detail.txt"] {
        let text = fs::read_to_string(first.join(log)).unwrap();
        let other = seeds.iter().fold(text, |text, (own, other)| text.replace(own, other));
        fs::write(first.join(log), other).unwrap();
    }
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.result(OFFLINE)["round"], "v6.0");
    assert_eq!(judgement.result(OFFLINE)["valid"], true);
    let broken = judgement.broken(INTERACTIVE).join("\n");
    assert!(broken.contains("qsl_rng_seed"), "{broken}");
    let faults = judgement.json["faults"].to_string();
    assert!(faults.contains("several rounds: 2 results of v6.0, 1 result of v5.1"), "{faults}");
}

#[test]
fn unknown_names_and_scenarios_are_reported() {
    let warned = |judgement: &Judgement| {
        let rules = judgement.json["benchmarks"][0]["rules"].as_array().unwrap().iter();
        let warnings = rules.filter(|rule| rule["warning"] == true);
        warnings.map(|rule| rule["measured"].to_string()).collect::<String>()
    };
    let closed = tree();
    let at = closed.path().join(BENCHMARK);
    fs::rename(&at, at.with_file_name("llama-own")).unwrap();
    let mapping = closed.path().join("closed/Example/model_mapping.json");
    fs::write(mapping, r#"{"llama-own": "llama2-70b-99"}"#).unwrap();
    let measured = warned(&judge(closed.path(), &[]));
    assert!(measured.contains("model_mapping.json calls llama2-70b-99"), "{measured}");

    let open = tree();
    fs::create_dir(open.path().join("open")).unwrap();
    let example = open.path().join("open/Example");
    fs::rename(open.path().join("closed/Example"), &example).unwrap();
    let benchmark = example.join("results/8xEXAMPLE_2xCPU/llama2-70b-99");
    fs::rename(benchmark.join("Interactive"), benchmark.join("MultiStream")).unwrap();
    let measured = warned(&judge(open.path(), &[]));
    assert!(measured.contains("MultiStream"), "{measured}");
}
