//! `doctor` on hosts with ROCm in several layouts, and for images of several releases. Planted: no AMD GPU was here.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

use rstest::rstest;

use crate::support::planted::Host;

fn recipe(image: &str) -> String {
    format!(
        r#"schema: 1
title: A benchmark
submission: {{ suite: s, benchmark: b }}
image: "{image}"
requires: {{ gpus: {{ vendor: amd, count: 1 }}, rocm: ">=7.2.2" }}
scenarios:
  c:
    performance:
      run: python3 bench.py
      figures: {{ speed: {{ pattern: "speed: ${{number}}", unit: items/s }} }}
"#
    )
}

/// State and finding of a check.
fn check(host: &Host, image: &str, name: &str) -> (String, String) {
    host.write("recipe.yaml", &recipe(image));
    let checks = host.json(&["doctor", "./recipe.yaml"]);
    let mut checks = checks["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no {name} for {image}"));
    let text = |key: &str| check[key].as_str().unwrap().to_owned();
    (text("state"), text("actual"))
}

#[rstest]
#[case("folder", "7.2.3 (build 90), by /opt/rocm/.info/version")]
#[case("core", "10.1.0, by /opt/rocm/core/.info/version")]
#[case(
    "two-cores",
    "10.0.0, by /opt/rocm/core/.info/version; also installed: 7.14.1, by /opt/rocm/core-7.14/.info/version"
)]
#[case("patched-core", "10.1.1, by /opt/rocm/core/.info/version")]
#[case("nightly-packages", "10.1.0a20260811, by /opt/rocm/core/.info/version")]
#[case("wheels", "10.0.0, by rocm-sdk-core in /usr/local/lib/python3.12/site-packages")]
#[case(
    "nightly-wheels",
    "7.14.0a20260608, by rocm-sdk-core in /opt/venv/lib/python3.12/site-packages"
)]
#[case(
    "folder-and-core",
    "10.0.0, by /opt/rocm/core/.info/version; mixed with 7.2.4, by /opt/rocm-7.2.4/.info/version"
)]
#[case(
    "wheels-and-core",
    "10.1.0, by rocm-sdk-core in /opt/venv/lib/python3.12/site-packages; mixed with 10.0.0, by /opt/rocm/core/.info/version"
)]
#[case("nightly-tarball", "10.2.0a20260930, by /opt/rocm/.info/version")]
fn the_release_of_a_host_is_read(#[case] layout: &str, #[case] release: &str) {
    let host = Host::new(&["1xMI355X"]);
    std::fs::remove_dir_all(host.path("opt")).unwrap();
    let plant = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rocm/plant");
    let status = Command::new(plant).arg(host.0.path()).arg(layout).status();
    assert!(status.unwrap().success());
    let found = check(&host, "debian:bookworm-slim", "rocm on the host");
    assert_eq!(found, ("ok".to_owned(), release.to_owned()));
}

#[rstest]
#[case("rocm/pytorch:rocm6.3.4_ubuntu24.04_py3.12_pytorch_release_2.4.0", "6.3.4", "error")]
#[case("rocm/pytorch:rocm7.14_ubuntu24.04_py3.12_pytorch_release_2.10.0", "7.14.0", "ok")]
#[case("rocm/sgl-dev:v0.5.20-rocm10-mi35x-20260928", "10.0.x", "ok")]
#[case("rocm/sgl-dev:v0.5.18-rocm724-mi35x-20260826", "7.2.4", "ok")]
#[case("lmsysorg/sglang:v0.5.16-rocm720-mi30x", "7.2.0", "ok")]
#[case("rocm/primus:v26.4", "7.14.0a20260608", "ok")]
#[case("example/x:rocm10.2.0", "10.2.0", "unknown")]
#[case(
    "rocm/vllm:rocm7.14.0_rdna_ubuntu24.04_py3.14_pytorch_2.11.0_vllm_0.23.0",
    "an image for RDNA GPUs",
    "error"
)]
#[case("rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0", "the name does not state it", "unknown")]
fn the_release_of_an_image_is_guessed_by_its_name(
    #[case] image: &str,
    #[case] text: &str,
    #[case] state: &str,
) {
    let found = check(&Host::new(&["1xMI355X"]), image, "image for these GPUs");
    assert_eq!(found.0, state, "{}", found.1);
    assert!(found.1.contains(text), "{}", found.1);
}

#[test]
fn a_known_issue_of_the_release_is_a_warning_unless_the_recipe_avoids_it() {
    let host = Host::new(&["2xMI355X"]);
    let image = "rocm/pytorch:rocm10.1.0_ubuntu24.04_py3.12_pytorch_release_2.13.0";
    let text = recipe(image).replace("count: 1", "count: 2");
    host.write("recipe.yaml", &text);
    let issue = "ROCm 10.1.0 (by its name): an all-reduce by the protocol LL returns wrong sums (TheRock#8792)";
    let plan = host.json(&["plan", "./recipe.yaml"]);
    let notes = plan["notes"].to_string();
    assert!(notes.contains(issue) && notes.contains("NCCL_PROTO=LL128,Simple"), "{notes}");
    let doctor = host.json(&["doctor", "./recipe.yaml"]).to_string();
    assert!(doctor.contains(issue), "{doctor}");
    let set = text.replace("scenarios:", "container: { env: { NCCL_PROTO: Simple } }\nscenarios:");
    host.write("recipe.yaml", &set);
    for command in ["plan", "doctor"] {
        let answer = host.json(&[command, "./recipe.yaml"]).to_string();
        assert!(!answer.contains("TheRock#8792"), "{answer}");
    }
}

#[test]
fn the_users_releases_are_added() {
    let host = Host::new(&["1xMI355X"]);
    let directory = host.path("configuration");
    host.write("recipe.yaml", &recipe("example/x:rocm10.2.0"));
    let doctor = || {
        let mut command = host.command(&["doctor", "./recipe.yaml"]);
        command.env("XDG_CONFIG_HOME", &directory).output().unwrap()
    };
    let text =
        "dates: { 10.2.0: 2026-11-20 }\nreleases: [{ number: \"10.2\", gpus: { gfx950: [] } }]\n";
    host.write("configuration/retrial/rocm-releases.yaml", text);
    let printed = String::from_utf8(doctor().stdout).unwrap();
    assert!(printed.contains("ROCm 10.2.0 (by its name) has code for these GPUs"), "{printed}");
    host.write("configuration/retrial/rocm-releases.yaml", "releases: 5\n");
    let output = doctor();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("rocm-releases.yaml: "), "{printed}");
}
