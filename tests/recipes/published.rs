//! `retrial list --published`: figures of the built-in recipes and of tables in the home.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::{Command, Output};

use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

const TABLE: &str = r#"[
    {"ID": "6.0-9001", "Submitter": "Example", "Category": "closed", "Platform": "8xMI355X", "Availability": "available",
     "UsedModel": "llama2-70b-99", "Model": "llama2-70b-99", "Scenario": "Offline", "version": "v6.0", "errors": 0,
     "Performance_Result": 80000, "Performance_Units": "Tokens/s", "Accelerator": "AMD Instinct MI355X", "a#": 8, "Nodes": 1},
    {"ID": "6.0-9002", "Submitter": "Example", "Category": "open", "Platform": "cpu", "Availability": "available",
     "UsedModel": "resnet", "Model": "resnet", "Scenario": "Offline", "version": "v6.0", "errors": 0,
     "Performance_Result": 100, "Performance_Units": "Samples/s", "Accelerator": "", "a#": 0, "Nodes": 1}
]"#;

/// A home, with these files among its tables.
fn home(tables: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("published");
    fs::create_dir(&directory).unwrap();
    for (name, text) in tables {
        fs::write(directory.join(name), text).unwrap();
    }
    home
}

fn run(home: &TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap()
}

fn list(home: &TempDir, arguments: &[&str]) -> String {
    let host = ["list", "--published", "--root", "tests/fixtures/recipes"];
    let output = run(home, &[&host[..], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(home: &TempDir, arguments: &[&str]) -> Vec<Value> {
    let text = list(home, &[arguments, &["--output", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn figures_of_recipes_are_listed_with_the_best_of_one_gpu_first() {
    let home = home(&[]);
    let filter = ["--gpu", "mi355x", "--round", "v6.0", "--benchmark", "llama2-70b-99"];
    let text = list(&home, &filter);
    let lines: Vec<&str> = text.lines().collect();
    let heading = lines.iter().position(|line| *line == "mlperf-inference llama2-70b-99 Offline");
    let first = lines[heading.unwrap() + 1];
    for part in ["v6.0", "8 x MI355X", "103,480 tokens/s", "12,935 per GPU", "6.0-0002"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(text.contains(" more: -v") && text.contains("trademarks of MLCommons"), "{text}");
    assert!(!list(&home, &[&filter[..], &["-v"]].concat()).contains(" more: -v"));
}

#[test]
fn a_point_of_a_curve_has_its_value_and_the_client_s_unit() {
    let all = json(&home(&[]), &["--suite", "inferencex", "--gpu", "mi355x"]);
    let rate = all.iter().find(|entry| entry["figure"] == "total_throughput").unwrap();
    assert_eq!(rate["scenario"], "serving-4");
    assert_eq!((&rate["unit"], &rate["gpus"]), (&"tokens/s".into(), &8.into()));
    assert!((rate["per_gpu"].as_f64().unwrap() - 327.11).abs() < 1e-9, "{rate}");
    let latency = all.iter().find(|entry| entry["figure"] == "tpot_p50").unwrap();
    assert_eq!((&latency["unit"], &latency["per_gpu"]), (&"ms".into(), &Value::Null));
}

#[test]
fn a_table_in_the_home_has_all_figures_of_its_round() {
    let home = home(&[("any.name", TABLE)]);
    let all = json(&home, &["--suite", "mlperf-inference", "--round", "v6.0"]);
    let sources: Vec<&Value> = all.iter().map(|entry| &entry["source"]).collect();
    assert_eq!(sources, ["6.0-9001"], "no accelerator, or repeated by a recipe");
    assert_eq!(all[0]["per_gpu"], 10000.0);
    assert!(json(&home, &["--round", "v5.1"]).len() > 5, "other rounds stay");
    assert_eq!(json(&home, &["example"]).len(), 1, "a part of the submitter");
}

#[test]
fn a_file_that_is_no_table_is_reported_and_the_others_are_listed() {
    let home = home(&[("a.json", TABLE), ("b.json", "{")]);
    let output = run(&home, &["list", "--published", "--round", "v6.0"]);
    assert!(output.status.success(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("figures are not listed: ") && stderr.contains("b.json"), "{stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("6.0-9001"));
}

#[rstest]
#[case("--gpu", "MI999X", "MI300X")]
#[case("--benchmark", "resnet51", "llama2-70b-99")]
#[case("--round", "v9", "v6.0")]
#[case("--outcome", "invalid", "a published result states none")]
fn unknown_values_are_refused(#[case] option: &str, #[case] value: &str, #[case] said: &str) {
    let output = run(&home(&[]), &["list", "--published", option, value]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn without_a_filter_they_are_those_of_this_host_s_gpus() {
    let host = ["--root", "tests/fixtures/hosts/mi300x-8"];
    let arguments = [&["list", "--published", "--output", "json"][..], &host].concat();
    let output = run(&home(&[]), &arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("of this host's GPUs, MI300X"), "{stderr}");
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let is_own = |entry: &Value| entry["gpu_models"].as_array().unwrap().contains(&"MI300X".into());
    assert!(!all.is_empty() && all.iter().all(is_own));
    let of_other = json(&home(&[]), &[]);
    assert!(of_other.len() > all.len(), "a host without GPUs has all");
}

/// The line counts what its command lists.
#[test]
fn show_and_list_lead_to_published_figures() {
    let home = home(&[]);
    let shown = run(&home, &["show", "v6.0/llama2-70b-mi355x"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let line = shown.lines().find(|line| line.contains("list --published")).unwrap();
    let (count, command) = line.split_once(": retrial list --published ").unwrap();
    let count: usize = count.split(' ').next().unwrap().parse().unwrap();
    let filter: Vec<&str> = command.split(' ').collect();
    assert_eq!(json(&home, &filter).len(), count, "{line}");
    let recipes = run(&home, &["list"]);
    let recipes = String::from_utf8(recipes.stdout).unwrap();
    assert!(recipes.contains("retrial list --published --gpu MODEL"), "{recipes}");
}
