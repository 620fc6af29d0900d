//! `retrial judge` on the summaries that AMD's guides print.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const RECIPE: &str = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
const SERVER: &str = "v6.0-guide-llama2-server-stats-twice.txt";

/// The exit code and the standard output of `judge` on a folder with this summary alone.
fn judge(summary: &str, output: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mlperf_log_summary.txt"), summary).unwrap();
    let judged = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(folder.path())
        .args(["--recipe", RECIPE, "--output", output])
        .env("RETRIAL_HOME", folder.path().join("home"))
        .output()
        .unwrap();
    let text = String::from_utf8(judged.stdout).unwrap();
    (judged.status.code().unwrap(), text)
}

fn printed(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/mlperf/tests/fixtures");
    fs::read_to_string(fixtures.join("summaries").join(name)).unwrap()
}

#[test]
fn unjudged_figures_are_labeled() {
    let (_, text) = judge(&printed(SERVER), "markdown");
    let head =
        "| scenario | not judged | unit | min | mean | p50 | p90 | p95 | p97 | p99 | p99.9 | max |";
    assert!(text.contains(head), "{text}");
    let first_token = "| Server | time to first token | s | 0.0204295 | 0.616415 | 0.637052 | 0.850115 \
                       | 0.897937 | 0.930504 | 1.01924 | 1.32414 | 1.60957 |";
    assert!(text.contains(first_token), "{text}");
    // The guide prints this very summary.
    let published = first_token.replace("first token", "first token, guide");
    assert!(text.contains(&published), "{text}");
    let rates = "Server performance, not judged: completed_samples_per_second 354.41 samples/s (guide: 354.41); \
                 scheduled_samples_per_second 359.71 samples/s (guide: 359.71).";
    assert!(text.contains(rates), "{text}");

    let (_, json) = judge(&printed(SERVER), "json");
    let verdict: Value = serde_json::from_str(&json).unwrap();
    let result = &verdict["results"][0];
    assert_eq!(result["figures"]["tpot_p99_ns"]["value"], 161_051_159.0);
    let judged = result["judgements"].as_array().unwrap();
    let judged = judged.iter().map(|item| item["figure"].as_str().unwrap());
    assert_eq!(judged.collect::<Vec<_>>(), ["completed_tokens_per_second"]);
}

#[test]
fn an_excerpt_suggests_the_full_logs_not_more_runs() {
    let excerpt = printed("v6.0-guide-llama2-offline.txt");
    let (code, text) = judge(&excerpt, "text");
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("Incomplete log"), "{text}");
    assert!(text.contains("help: judge the whole result directory"), "{text}");
    assert!(!text.contains("--mode accuracy"), "{text}");
}
