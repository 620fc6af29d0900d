//! The example of a batch: each release has an image of its own, of the same Dockerfile, and in the
//! lab one trial of one release runs through.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const EXAMPLE: &str = "./examples/library-releases";
const RELEASES: [&str; 3] = ["1.15.1", "1.20.1", "1.31.1"];

fn retrial(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let problems = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {problems}"))
}

fn succeeds(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{printed}");
    printed
}

#[test]
fn it_checks() {
    let recipe = format!("{EXAMPLE}/recipe.yaml");
    succeeds(&retrial(&["check", &recipe]));
}

/// Or all three measured the same.
#[test]
fn each_release_has_an_image_of_its_own() {
    let mut tags = Vec::new();
    for release in RELEASES {
        let chosen = format!("onnxruntime={release}");
        let arguments = ["plan", EXAMPLE, "--set", &chosen, "--format", "json"];
        let plan = json(&retrial(&arguments));
        assert_eq!(plan["steps"][0]["args"]["ONNXRUNTIME"], release);
        tags.push(plan["image"].to_string());
        let shown = succeeds(&retrial(&arguments[..4]));
        let argument = format!("--build-arg ONNXRUNTIME={release} -f ");
        assert!(shown.contains(&argument), "{shown}");
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), RELEASES.len(), "{tags:?}");
}

/// The real `LoadGen` and ONNX Runtime, for a moment.
#[test]
fn a_release_is_measured() {
    if std::env::var_os("RETRIAL_LAB").is_none() {
        eprintln!("skipped: no lab (`make test` brings it up)");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = Command::new(root.join("tests/lab/example"))
        .arg("library-releases")
        .output()
        .unwrap();
    assert!(copy.status.success(), "{copy:?}");
    let copy = String::from_utf8(copy.stdout).unwrap();
    let settings = ["samples=100000", "seconds=1", "onnxruntime=1.20.1"];
    let mut arguments = vec!["run", copy.trim(), "--quiet", "--output", "json"];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let output = retrial(&arguments);
    let verdict = json(&output);
    assert_eq!(verdict["outcome"], "reproduced", "{verdict:#}");
    assert_eq!(output.status.code(), Some(0));
    let measured = verdict.to_string();
    for figure in [
        "samples_per_second",
        "early_stopping_latency_ns",
        "accuracy",
    ] {
        assert!(measured.contains(&format!("\"{figure}\"")), "{verdict:#}");
    }
}
