//! The official submission checker, where `RETRIAL_OFFICIAL_CHECKER` names its tools/submission.

use std::path::{Path, PathBuf};
use std::process::Command;

/// It accepts the tree with so many results; skipped with a word where it is not here.
pub fn accepts(tree: &Path, round: &str, results: usize) {
    let Some(tools) = std::env::var_os("RETRIAL_OFFICIAL_CHECKER").map(PathBuf::from) else {
        println!("skipped: RETRIAL_OFFICIAL_CHECKER names no checker");
        return;
    };
    let csv = tree.with_extension("csv");
    let mut command = Command::new("python3");
    // Since v6.0 it is a package; before, it knew the rounds up to its own.
    if tools.join("submission_checker").is_dir() {
        command.args(["-m", "submission_checker.main"]);
    } else {
        command.arg("submission_checker.py");
    }
    let output = command
        .current_dir(&tools)
        .args(["--version", round, "--input"])
        .arg(tree)
        .arg("--csv")
        .arg(&csv)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("invalid choice") {
        println!("skipped: this checker knows no {round}");
        return;
    }
    let end: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.contains(" INFO] "))
        .collect();
    assert!(
        stderr.contains("SUMMARY: submission looks OK"),
        "{}",
        end.join("\n")
    );
    let rows = std::fs::read_to_string(&csv).unwrap().lines().count() - 1;
    assert_eq!(rows, results, "{}", end.join("\n"));
}
