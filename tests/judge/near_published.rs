//! `retrial judge LOGS` without a recipe: published figures as information, next to the same verdict.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Logs of LoadGen outside a submission tree.
fn logs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let run = "examples/submission/closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99/Offline/performance/run_1";
    fs::create_dir(directory.path().join("logs")).unwrap();
    for file in fs::read_dir(run).unwrap().flatten() {
        fs::copy(file.path(), directory.path().join("logs").join(file.file_name())).unwrap();
    }
    directory
}

fn judge(directory: &TempDir, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "logs"])
        .args(options)
        .current_dir(directory.path())
        .env("RETRIAL_HOME", directory.path().join("home"))
        .output()
        .unwrap()
}

#[test]
fn the_nearest_published_figures_follow_the_verdict_with_their_ratios() {
    let output = judge(&logs(), &["--benchmark", "llama2-70b-99"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (verdict, near) = text.split_once("\npublished for llama2-70b-99 Offline").unwrap();
    assert!(verdict.contains("nothing was published to compare with"), "{text}");
    let lines: Vec<&str> = near.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    assert!(lines[1].trim_start().starts_with("0.432  v5.1  8 x MI300X"), "{text}");
    assert!(lines[6].ends_with("list --published --benchmark llama2-70b-99"), "{text}");
    assert_eq!(text.matches("trademarks of").count(), 1, "{text}");
}

#[test]
fn no_other_format_and_no_unknown_benchmark_has_them() {
    let directory = logs();
    let with_benchmark = ["--benchmark", "llama2-70b-99"];
    for options in [
        [&with_benchmark[..], &["--output", "json"]].concat(),
        [&with_benchmark[..], &["--quiet"]].concat(),
        Vec::new(),
    ] {
        let text = String::from_utf8(judge(&directory, &options).stdout).unwrap();
        assert!(!text.contains("nearest first"), "{options:?}: {text}");
    }
}
