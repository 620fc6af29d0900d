//! `retrial judge DIR --recipe`: a figure is a whole number of the output, or it is missing.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

const RECIPE: &str = "\
schema: 1
title: numbers
submission: { suite: house, benchmark: numbers }
image: debian:bookworm-slim
scenarios:
  case:
    performance:
      run: bench
      figures:
        rate: { pattern: 'RATE', unit: items/s, noise: 1% }
        delay: { pattern: 'DELAY', unit: ms, better: lower }
      expect:
        rate: { value: 5300, kind: official, source: table 1 }
      limits:
        delay: { max: 300 }
";

/// Exit code, verdict and text of judging one output.
struct Judged {
    code: i32,
    verdict: Value,
    text: String,
}

impl Judged {
    fn new(rate: &str, delay: &str, output: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let recipe = RECIPE.replace("RATE", rate).replace("DELAY", delay);
        fs::write(directory.path().join("recipe.yaml"), recipe).unwrap();
        fs::create_dir(directory.path().join("out")).unwrap();
        fs::write(directory.path().join("out/output.log"), output).unwrap();
        let judge = |options: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_retrial"))
                .args(["judge", "out", "--recipe", "./recipe.yaml"])
                .args(options)
                .current_dir(&directory)
                .env("RETRIAL_HOME", directory.path().join("home"))
                .output()
                .unwrap()
        };
        let (json, text) = (judge(&["--output", "json"]), judge(&[]));
        Self {
            code: json.status.code().unwrap(),
            verdict: serde_json::from_slice(&json.stdout).unwrap_or(Value::Null),
            text: String::from_utf8_lossy(&[text.stdout, text.stderr].concat())
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    fn figure(&self, name: &str) -> Option<f64> {
        self.verdict["results"][0]["figures"][name]["value"].as_f64()
    }
}

#[rstest]
#[case::groups("rate: 5,301.5 items/s", "5,301.5")]
#[case::exponent("rate: 5.3015e+03 items/s", "5.3015e+03")]
#[case::suffix("rate: 5.3K items/s", "5.3K")]
#[case::cut_off("rate: 530… items/s", "530…")]
fn a_part_of_a_number_is_no_figure(#[case] line: &str, #[case] whole: &str) {
    let output = format!("{line}\ndelay: 120 ms\n");
    let judged = Judged::new("rate: ([0-9.]+)", "delay: ([0-9.]+)", &output);
    assert_eq!(judged.figure("rate"), None);
    assert!(matches!(judged.code, 1 | 2), "{}", judged.text);
    assert!(judged.text.contains(&format!("`rate: {whole}")), "{}", judged.text);
}

#[test]
fn a_limit_is_not_met_by_the_first_digits_of_a_delay() {
    let output = "rate: 5301.5 items/s\ndelay: 1,120 ms\n";
    let judged = Judged::new("rate: ${number}", "delay: ([0-9.]+)", output);
    assert_eq!(judged.code, 1, "{}", judged.text);
    assert!(judged.text.contains("delay: ${number}"), "{}", judged.text);
    let judged = Judged::new("rate: ${number}", "delay: ${number}", output);
    assert_eq!(judged.code, 1, "{}", judged.text);
    assert_eq!(judged.figure("delay"), Some(1120.0));
}

#[test]
fn the_reader_for_numbers_reads_groups_exponents_and_suffixes() {
    for rate in ["5,301.5", "5.3015e+03", "5.3015k", "5'301.5"] {
        let output = format!("rate: {rate} items/s\ndelay: 120ms\n");
        let judged = Judged::new("rate: ${number}", "delay: ${number}", &output);
        assert_eq!(judged.code, 0, "{}", judged.text);
        let figure = judged.figure("rate").unwrap();
        assert!((figure - 5301.5).abs() < 1e-6, "{rate}: {figure}");
    }
}

#[test]
fn units_that_mean_the_same_are_converted() {
    let output = "rate: 5.3015 kitems per second, all\ndelay: 0.12 sec\n";
    let rate = "rate: ${number} (?<unit>[^,]+)";
    let judged = Judged::new(rate, "delay: ${number} (?<unit>\\S+)", output);
    assert_eq!(judged.code, 0, "{}", judged.text);
    let delay = judged.figure("delay").unwrap();
    assert!((delay - 120.0).abs() < 1e-9, "{delay}");
    let output = output.replace("kitems", "samples");
    let judged = Judged::new(rate, "delay: ${number} (?<unit>\\S+)", &output);
    assert!(matches!(judged.code, 1 | 2), "{}", judged.text);
}
