//! Faults planted in results, each found by `retrial judge`: the table of tests/judge/README.md, row by row,
//! in both layouts. The example submission has that of v6.0; a published result of v4.1, with its
//! compliance tests, the older one.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

mod faults;
use crate::support::copy::copy;
use crate::support::corpus::unpacked;
use faults::{FAULTS, Place, Severity};

/// A result of v4.1 whose logs are all in the corpus, below a division's folder.
const PUBLISHED: &str = "SYS_821GE_TNHR_H100_SXM_80GBx8_TRT/stable-diffusion-xl";

/// The violated rules of all results, and the warnings of results and benchmarks.
fn judged(root: &Path) -> (Vec<String>, Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(root)
        .args(["--output", "json"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rules_of = |part: &str| {
        let owners = document[part].as_array().unwrap().iter();
        owners.flat_map(|owner| owner["rules"].as_array().unwrap().clone())
    };
    let named = |rule: &Value| format!("{}: {}", rule["rule"], rule["measured"]);
    let results = rules_of("results").filter(|rule| rule["passed"] == false);
    let warnings = rules_of("results").chain(rules_of("benchmarks"));
    let warnings = warnings.filter(|rule| rule["warning"] == true);
    (results.map(|rule| named(&rule)).collect(), warnings.map(|rule| named(&rule)).collect())
}

/// Plants each fault in a copy of the place; returns the number of planted ones.
fn plant_all(original: &Place) -> usize {
    let (violated, warned) = judged(&original.root);
    assert_eq!(violated, [""; 0], "before any fault");
    let mut planted = 0;
    for (name, plant, severity, rule) in FAULTS {
        let directory = tempfile::tempdir().unwrap();
        copy(&original.root, directory.path());
        let moved = |path: &Path| directory.path().join(path.strip_prefix(&original.root).unwrap());
        let place = Place {
            root: directory.path().to_owned(),
            results: moved(&original.results),
            other: moved(&original.other),
            tests: moved(&original.tests),
        };
        if !plant(&place) {
            continue;
        }
        planted += 1;
        let (violations, warnings) = judged(&place.root);
        let (reported, before) = match severity {
            Severity::Violation => (violations, &violated),
            Severity::Warning => (warnings, &warned),
        };
        let is_new = |text: &String| text.contains(rule) && !before.contains(text);
        assert!(reported.iter().any(is_new), "{name}: {severity:?} of {rule} in {reported:#?}");
    }
    planted
}

#[test]
fn faults_in_one_folder() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission");
    let directory = tempfile::tempdir().unwrap();
    copy(&example, directory.path());
    let benchmark = directory.path().join("closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99");
    // The example has it to show violated rules.
    fs::remove_dir_all(benchmark.join("Interactive")).unwrap();
    let place = Place {
        root: directory.path().to_owned(),
        results: benchmark.join("Offline"),
        other: benchmark.join("Server"),
        tests: benchmark.join("Offline"),
    };
    assert_eq!(plant_all(&place), FAULTS.len() - 4, "all but those of TEST01 and TEST04");
}

#[test]
#[ignore = "needs the corpus"]
fn faults_in_a_published_result() {
    let corpus = unpacked("mlperf-inference-results-v4.1.tar.xz");
    let from = corpus.path().join("v4.1/closed/Supermicro");
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("closed/Supermicro");
    for part in ["results", "compliance"] {
        copy(&from.join(part).join(PUBLISHED), &to.join(part).join(PUBLISHED));
    }
    copy(&from.join("systems"), &to.join("systems"));
    let place = Place {
        root: directory.path().to_owned(),
        results: to.join("results").join(PUBLISHED).join("Offline"),
        other: to.join("results").join(PUBLISHED).join("Server"),
        tests: to.join("compliance").join(PUBLISHED).join("Offline"),
    };
    assert_eq!(
        plant_all(&place),
        FAULTS.len() - 5,
        "LoadGen 4.1 counts no errors, and SDXL no tokens, nor does its script count samples"
    );
}
