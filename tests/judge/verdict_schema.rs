//! The committed schemas of verdicts and comparisons are those of the types, and what the program
//! prints fits them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

use crate::support::json_schema::fits;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What `retrial schema` prints.
fn printed_schema(of: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial")).args(["schema", of]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn schema(of: &str) -> Value {
    serde_json::from_str(&printed_schema(of)).unwrap()
}

/// `UPDATE_SCHEMA=1 cargo test` writes them.
#[rstest]
#[case("verdict")]
#[case("comparison")]
#[case("comparisons")]
#[case("report")]
#[case("tree")]
#[case("verification")]
#[case("batch-verdict")]
fn the_committed_schemas_are_up_to_date(#[case] schema: &str) {
    let file = format!("docs/{schema}.schema.json");
    let fresh = printed_schema(schema);
    let path = root().join(&file);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(committed == fresh, "{file} is old: `retrial schema {schema} > {file}`");
}

/// Published results as a folder that `judge` reads.
fn folder(standin: &str, names: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let published = root().join("tests/standins").join(standin).join("published");
    for (from, to) in names {
        let to: PathBuf = directory.path().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(published.join(from), &to).unwrap();
    }
    directory
}

fn llama2() -> tempfile::TempDir {
    folder(
        "llama2-70b-v6.0",
        &[
            ("offline.summary", "Offline/performance/run_1/mlperf_log_summary.txt"),
            ("server.summary", "Server/performance/run_1/mlperf_log_summary.txt"),
            ("interactive.summary", "Interactive/performance/run_1/mlperf_log_summary.txt"),
        ],
    )
}

fn printed(directory: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .args(["--output", "json"])
        .current_dir(directory)
        .env("RETRIAL_HOME", directory.join(".home"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    })
}

const RECIPE: &str = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";

/// One published performance result, judged with a recipe: a whole verdict.
#[test]
fn a_printed_verdict_matches_the_schema() {
    let schema = schema("verdict");
    let directory = folder(
        "llama2-70b-v6.0",
        &[("offline.summary", "Offline/performance/run_1/mlperf_log_summary.txt")],
    );
    let verdict = printed(directory.path(), &["judge", ".", "--recipe", RECIPE]);
    assert_eq!(fits(&schema, &schema, &verdict, ""), Ok(()));
    assert_eq!(verdict["outcome"], "reproduced");
    let mut broken = verdict.clone();
    broken["results"][0]["judgements"][0]["outcome"] = Value::from("good");
    assert_eq!(fits(&schema, &schema, &broken, "").unwrap_err(), "/results/0/judgements/0/outcome");
    let mut broken = verdict;
    broken["results"][0].as_object_mut().unwrap().remove("valid");
    assert_eq!(fits(&schema, &schema, &broken, "").unwrap_err(), "/results/0");
}

/// Several: each result as in a verdict.
#[test]
fn printed_results_match_the_schema() {
    let schema = schema("verdict");
    let directory = llama2();
    let judged = printed(directory.path(), &["judge", ".", "--recipe", RECIPE]);
    let results = judged["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let of_result = schema.pointer("/$defs/ResultVerdict").unwrap();
    for result in results {
        assert_eq!(fits(&schema, of_result, result, ""), Ok(()));
    }
}

#[test]
fn a_printed_tree_matches_the_schema() {
    let schema = schema("tree");
    let tree = root().join("examples/submission");
    let judged = printed(&tree, &["judge", "."]);
    assert_eq!(fits(&schema, &schema, &judged, ""), Ok(()));
    assert_eq!(judged["results"].as_array().unwrap().len(), 8);
}

#[test]
fn a_printed_comparison_matches_the_schema() {
    let schema = schema("comparison");
    let (candidate, baseline) = (llama2(), llama2());
    let path = |directory: &tempfile::TempDir| directory.path().display().to_string();
    let limit = ["--recipe", RECIPE, "--fail-if", "slower:5%"];
    let (first, second) = (path(&candidate), path(&baseline));
    let arguments = [["compare", &first, &second].as_slice(), &limit].concat();
    let comparison = printed(candidate.path(), &arguments);
    assert_eq!(fits(&schema, &schema, &comparison, ""), Ok(()));
    assert_eq!(comparison["figures"][0]["change"], "no difference shown");
    assert_eq!(comparison["exit_code"], 0);
    assert!(comparison["notice"].is_string());
}
