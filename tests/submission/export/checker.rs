//! The official submission checker, where `RETRIAL_OFFICIAL_CHECKER` names its tools/submission.

use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;

use super::planted::{Home, Planted};
use super::{COMPLETE, export, plant_three_runs, with_info};

/// Checks that it accepts the tree, with so many results.
fn assert_accepted(tree: &Path, round: &str, results: usize) {
    let tools = std::env::var_os("RETRIAL_OFFICIAL_CHECKER").map(PathBuf::from);
    let tools = tools.expect("RETRIAL_OFFICIAL_CHECKER names its tools/submission");
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
    let end: Vec<&str> = stderr.lines().filter(|line| !line.contains(" INFO] ")).collect();
    assert!(stderr.contains("SUMMARY: submission looks OK"), "{}", end.join("\n"));
    let rows = std::fs::read_to_string(&csv).unwrap().lines().count() - 1;
    assert_eq!(rows, results, "{}", end.join("\n"));
}

#[rstest]
#[case("v5.1")]
#[case("v6.0")]
#[ignore = "needs the official checker"]
fn the_official_checker_accepts_a_complete_run(#[case] round: &'static str) {
    let home = Home::new(round);
    home.plant(&Planted::WHOLE);
    with_info(&home);
    home.export(&export(round, &["whole"], &COMPLETE));
    assert_accepted(&home.path("tree"), round, 2);
}

#[test]
#[ignore = "needs the official checker"]
fn the_official_checker_accepts_a_tree_of_several_runs() {
    let home = Home::new("v6.0");
    plant_three_runs(&home);
    with_info(&home);
    home.export(&export("v6.0", &["one", "two", "three"], &COMPLETE));
    assert_accepted(&home.path("tree"), "v6.0", 2);
}
