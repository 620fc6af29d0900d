//! `retrial doctor` on a planted host, without an engine.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

use serde_json::Value;

fn doctor(arguments: &[&str]) -> Output {
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8");
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["--root", host, "--engine", "unix:///nowhere.sock", "doctor"])
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .env_remove("https_proxy")
        .env_remove("HTTPS_PROXY")
        .output()
        .unwrap()
}

fn state<'a>(checks: &'a Value, name: &str) -> (&'a str, &'a str) {
    let check =
        checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap();
    (check["state"].as_str().unwrap(), check["actual"].as_str().unwrap())
}

#[test]
fn gpus_are_found_and_a_missing_engine_is_an_error() {
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let output = doctor(&[recipe, "--output", "json"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(state(&checks, "gpus"), ("ok", "8 x MI355X"));
    assert_eq!(state(&checks, "partition"), ("ok", "SPX"));
    assert_eq!(state(&checks, "amdgpu driver"), ("ok", "6.16.6 (series 30.20)"));
    assert_eq!(state(&checks, "engine").0, "error");
    let engine = &checks["checks"][0];
    assert!(engine["fix"].as_str().unwrap().contains("systemctl status docker"), "{engine}");
}

#[test]
fn other_gpus_are_a_warning_that_suggests_force() {
    let output = doctor(&["mlperf-inference/v4.1/amd/llama2-70b-mi300x"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("! gpus "), "{text}");
    assert!(text.contains("required: 8 x MI300X"), "{text}");
    assert!(text.contains("--force"), "{text}");
    assert!(text.contains("not ready: 1 error"), "{text}");
}

const DOWNLOADS: &str = r#"
schema: 1
title: What it downloads
submission: { suite: mine, benchmark: little }
image: debian:bookworm-slim
datasets:
  words:
    run: curl -O https://words.invalid/all
    cache: { path: /data, key: words }
    download: { from: "Words, by curl", size: 900 TiB, size_by: its page, licence: CC0, hosts: [words.invalid], files: ["all: MD5 0f1e"] }
scenarios:
  one:
    performance: { run: 'true' }
    accuracy:
      run: 'echo score: 1'
      figures: { score: { pattern: 'score: (.*)', unit: "%" } }
      download: { from: PyPI, hosts: [packages.invalid], terms: "https://packages.invalid/terms" }
"#;

#[test]
fn downloads_are_listed_and_checked_in_advance() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = directory.path().join("words.yaml");
    std::fs::write(&recipe, DOWNLOADS).unwrap();
    let recipe = recipe.to_str().unwrap();
    let output = doctor(&[recipe, "--output", "json"]);
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (network, message) = state(&checks, "network");
    assert_eq!(network, "warning", "{message}");
    assert!(message.contains("words.invalid: "), "{message}");
    assert!(message.contains("packages.invalid: "), "{message}");
    let all = checks["checks"].as_array().unwrap();
    let mut disks = all.iter();
    let data = disks.find(|check| {
        let name = check["name"].as_str().unwrap_or_default();
        name.starts_with("disk for") && name.ends_with("data")
    });
    assert_eq!(data.unwrap()["required"], "900 TiB");

    for command in ["show", "plan"] {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args([command, recipe])
            .env("RETRIAL_HOME", directory.path())
            .env("RETRIAL_CACHE", "/the/cache")
            .env("HF_TOKEN", "hf_abcdefghijk")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(TOLD), "{text}");
    }
}

/// How much disk it takes depends on what is fetched already, which only `doctor` and a run ask.
#[test]
fn a_plan_does_not_judge_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = directory.path().join("large.yaml");
    let large = DOWNLOADS.replace("scenarios:", "requires: { disk: 900 TiB }\nscenarios:");
    std::fs::write(&recipe, large).unwrap();
    let recipe = recipe.to_str().unwrap();
    let checks: Value =
        serde_json::from_slice(&doctor(&[recipe, "--output", "json"]).stdout).unwrap();
    let mut all = checks["checks"].as_array().unwrap().iter();
    let is_disk = |check: &&Value| check["name"].as_str().unwrap().starts_with("disk for");
    assert_ne!(all.find(is_disk).unwrap()["state"], "ok", "{checks:#}");
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", recipe])
        .env("RETRIAL_HOME", directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("900 TiB") && !text.contains("disk for"), "{text}");
}

const TOLD: &str = "\
downloads
  dataset-words  Words, by curl
                 900 TiB (its page); licence: CC0; to /the/cache; connects to words.invalid
                 expected: all: MD5 0f1e
  one-accuracy   PyPI
                 connects to packages.invalid; only after a measurement
                 gated: accept its terms at https://packages.invalid/terms; a token is in HF_TOKEN
";

#[test]
fn a_missing_device_is_reported_by_doctor_plan_and_run() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = directory.path().join("device.yaml");
    let text = "schema: 1\ntitle: Device\nsubmission: { suite: mine, benchmark: mine }\nimage: debian:12\ncontainer: { devices: [/dev/no-such-device] }\nscenarios: { a: { performance: { run: 'true' } } }\n";
    std::fs::write(&recipe, text).unwrap();
    let said = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["--engine", "unix:///nowhere.sock", command])
            .arg(&recipe)
            .env("RETRIAL_HOME", directory.path())
            .output()
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for command in ["doctor", "plan", "run"] {
        let said = said(command);
        assert!(said.contains("device /dev/no-such-device"), "{command}: {said}");
    }
}
