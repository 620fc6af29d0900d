//! A recipe over releases of ROCm: the example's batch, in stand-ins of AMD's images.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::harness::{engine, root};

const EXAMPLE: &str = "examples/mi350x-rocm-releases.yaml";

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn the_example_over_releases_says_what_changed_and_which_release_is_slower() {
    let engine = engine();
    let home = tempfile::tempdir().unwrap();
    let host = home.path().join("host");
    let planted = Command::new(root().join("tests/fixtures/hosts/plant"));
    let planted = { planted }.arg(&host).arg("8xMI350X").status().unwrap();
    assert!(planted.success());
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["batch", EXAMPLE, "--engine", &engine.url, "--telemetry", "off"])
        .args(["--quiet", "--output", "json"])
        .arg("--root")
        .arg(&host)
        .current_dir(root())
        .env("RETRIAL_HOME", home.path())
        .env("RETRIAL_CACHE", home.path().join("cache"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claims = verdict["claims"].as_array().unwrap();
    let outcomes: Vec<&Value> = claims.iter().map(|claim| &claim["outcome"]).collect();
    assert_eq!(outcomes, ["supported", "supported", "supported"], "{verdict:#}");

    let notes = verdict["notes"].as_array().unwrap();
    let is_noted = |text: &str| notes.iter().any(|note| note.as_str().unwrap().starts_with(text));
    assert!(
        is_noted("ROCm 7.0.0 → 7.2.4 and PyTorch 2.9.0 → 2.10.0 changed together"),
        "{notes:#?}"
    );

    let cells = verdict["cells"].as_array().unwrap();
    let cell = |name: &str| cells.iter().find(|cell| cell["axes"]["rocm"] == name).unwrap();
    assert_eq!(cell("7.0.0")["outcome"], "reproduced");
    assert_eq!(cell("10.0.0")["outcome"], "not reproduced");
    let modified = cell("10.1.0")["verdict"]["qualifiers"].to_string();
    let replaced = "rocm/pytorch:rocm10.1.0_ubuntu24.04_py3.12_pytorch_release_2.12.0 (sha256:";
    assert!(modified.contains(replaced), "{modified}");
    let published = "in place of rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210";
    assert!(modified.contains(published), "{modified}");
    assert!(fs::read_dir(home.path().join("batches")).unwrap().next().is_some());
}
