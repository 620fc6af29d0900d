//! `retrial list`: the recipes that a filter selects, and the error for an unknown value.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

use rstest::rstest;

fn list(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("list")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = list(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Grouped by suite and round, a variant that is another submission under its recipe.
#[test]
fn recipes_are_grouped_by_suite_and_round() {
    let text = text(&[
        "--suite",
        "mlperf-inference",
        "--round",
        "4.1",
        "--round",
        "V5.0",
    ]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "mlperf-inference v4.1");
    assert!(lines[1].starts_with("  mlperf-inference/v4.1/amd/llama2-70b-mi300x"));
    assert_eq!(lines[2], "    also --set host=turin");
    assert_eq!(lines[3], "    also --set gpus=1");
    assert_eq!(lines[4..6], ["", "mlperf-inference v5.0"]);
    assert_eq!(lines.len(), 8, "{text}");
}

#[rstest]
#[case(&["--gpu", "mi350P", "--benchmark", "gpt-oss"], "    with --set gpu=mi350p")]
#[case(&["--submitter", "dell_amd", "--benchmark", "llama2-70b"], "    with --set gpu=mi350p")]
#[case(&["--gpu", "MI300X", "--round", "v5.1", "--benchmark", "mixtral-8x7b"], "    with --set gpu=mi300x")]
#[case(&["--gpu", "MI350X", "--gpu", "MI350P", "--benchmark", "wan-2.2"], "    with --set gpu=mi350x|mi350p")]
fn a_variant_is_found(#[case] arguments: &[&str], #[case] with: &str) {
    let text = text(arguments);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(text.lines().last(), Some(with));
}

#[rstest]
#[case("--suite", "mlperv", "mlperf-inference")]
#[case("--round", "v9", "v6.0")]
#[case("--gpu", "MI999X", "MI300X, MI325X")]
#[case("--submitter", "nobody", "AMD")]
#[case("--benchmark", "resnet51", "mixtral-8x7b")]
fn unknown_values_are_reported_with_the_known_ones(
    #[case] facet: &str,
    #[case] value: &str,
    #[case] there_is: &str,
) {
    let output = list(&[facet, value]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains(value) && stderr.contains(there_is),
        "{stderr}"
    );
}

/// One object a recipe, whichever of its variants was requested.
#[test]
fn json_lists_one_object_per_recipe() {
    let objects: serde_json::Value =
        serde_json::from_str(&text(&["--gpu", "mi350p", "--output", "json"])).unwrap();
    let objects = objects.as_array().unwrap();
    assert_eq!(objects.len(), 4);
    let keys: Vec<&String> = objects[0].as_object().unwrap().keys().collect();
    let expected = "name title suite round submitter system benchmark gpus source";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
}
