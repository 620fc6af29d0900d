//! `retrial list`: the recipes that a filter selects, and the error for an unknown value.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

use rstest::rstest;

fn list(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial")).arg("list").args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = list(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A host without GPUs.
const NO_GPUS: [&str; 2] = ["--root", "tests/fixtures/recipes"];

/// Each in one line, the newest round first, by its shortest name, with GPUs and published figure.
#[test]
fn recipes_are_grouped_by_suite_and_round_the_newest_first() {
    let filter = ["--suite", "mlperf-inference", "--round", "4.1", "--round", "V5.0"];
    let text = text(&[&NO_GPUS[..], &filter].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "mlperf-inference v5.0");
    assert_eq!(lines[3..5], ["", "mlperf-inference v4.1"]);
    let words: Vec<&str> = lines[5].split_whitespace().collect();
    assert_eq!(words[..5], ["*", "llama2-70b-mi300x", "8", "x", "MI300X"]);
    assert!(lines[5].ends_with("tokens/s"), "{text}");
    assert!(lines[..8].iter().all(|line| line.len() <= 80), "{text}");
    assert!(lines[7].starts_with("* needs a secret"), "{text}");
    assert!(text.contains("trademarks of MLCommons"), "{text}");
}

#[test]
fn what_this_host_has_the_gpus_for_is_first_with_variants_for_it() {
    let text = text(&["--root", "tests/fixtures/hosts/mi300x-8", "--round", "v5.1"]);
    let (first, rest) = text.split_once("\n\n").unwrap();
    assert!(first.starts_with("this host has the GPUs for\n"), "{text}");
    assert!(first.contains("\n    --set gpu=mi300x"), "{text}");
    assert!(rest.contains("llama2-70b-mi355x"), "{text}");
    assert!(!first.contains("llama2-70b-mi355x"), "{text}");
}

#[rstest]
#[case(&["--gpu", "mi350P", "--benchmark", "gpt-oss"], "--set gpu=mi350p")]
#[case(&["--submitter", "dell_amd", "--benchmark", "llama2-70b"], "--set gpu=mi350p")]
#[case(&["--gpu", "MI300X", "--round", "v5.1", "--benchmark", "mixtral-8x7b"], "--set gpu=mi300x")]
fn a_variant_is_found(#[case] arguments: &[&str], #[case] setting: &str) {
    let text = text(&[&NO_GPUS[..], arguments].concat());
    let variants = text.lines().filter(|line| line.contains("--set"));
    let variants: Vec<&str> = variants.collect();
    assert_eq!(variants.len(), 1, "{text}");
    assert!(variants[0].contains(setting), "{text}");
}

#[rstest]
#[case("--suite", "mlperv", "mlperf-inference")]
#[case("--round", "v9", "v6.0")]
#[case("--gpu", "MI999X", "MI300X, MI325X")]
#[case("--submitter", "nobody", "AMD")]
#[case("--benchmark", "resnet51", "mixtral-8x7b")]
#[case("--rocm", "9.9", "7.2.4")]
#[case("--gpu", "MI355Y", "did you mean `MI355X`?")]
#[case("--outcome", "invald", "did you mean `invalid`?")]
fn unknown_values_are_reported_with_the_known_ones(
    #[case] facet: &str,
    #[case] value: &str,
    #[case] there_is: &str,
) {
    let output = list(&[facet, value]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(value) && stderr.contains(there_is), "{stderr}");
}

#[test]
fn recipes_are_found_by_a_release_that_one_of_their_images_has() {
    let gemm = |release: &str| {
        let arguments = ["--rocm", release, "--suite", "training-benchmarks"];
        text(&[&NO_GPUS[..], &arguments].concat()).contains("  gemm  ")
    };
    assert!(gemm("7.2") && gemm("7.1.1"), "variants");
    assert!(gemm("7.0.0"), "the recipe's own image");
    let only_submissions =
        text(&[&NO_GPUS[..], &["--rocm", "7.2", "--suite", "mlperf-inference"]].concat());
    assert!(!only_submissions.contains("gemm"), "{only_submissions}");
}

/// One object a recipe, whichever of its variants was requested.
#[test]
fn json_lists_one_object_per_recipe() {
    let objects: serde_json::Value =
        serde_json::from_str(&text(&["--gpu", "mi350p", "--output", "json"])).unwrap();
    let objects = objects.as_array().unwrap();
    assert_eq!(objects.len(), 4);
    let keys: Vec<&String> = objects[0].as_object().unwrap().keys().collect();
    let expected =
        "name title suite round submitter system benchmark gpus needs published source fits";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_host_without_gpus_and_one_that_does_not_exist_are_said() {
    let without = list(&NO_GPUS);
    let stderr = String::from_utf8(without.stderr).unwrap();
    assert_eq!(stderr.trim(), "no GPU found on this host");
    let missing = list(&["--root", "/no/such/host"]);
    assert!(missing.status.success(), "{missing:?}");
    let stderr = String::from_utf8(missing.stderr).unwrap();
    let warning = "warning: no such directory: --root /no/such/host";
    assert_eq!(stderr.matches(warning).count(), 1, "{stderr}");
}
