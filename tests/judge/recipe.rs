//! `retrial judge DIR --recipe`: what a folder has, what it lacks, and why.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

/// Two scenarios with figures of their own, and one of `LoadGen`.
const RECIPE: &str = "\
schema: 1
title: three scenarios
submission: { suite: house, benchmark: case }
image: debian:bookworm-slim
scenarios:
  short:
    performance:
      trials: { min: 3, max: 8 }
      run: bench
      figures: { rate: { pattern: 'rate (\\S+)', unit: items/s, noise: 1% } }
      expect: { rate: { value: 50, kind: official, source: table 1 } }
  long:
    performance:
      warmup: 1
      run: bench
      results: /long
      figures: { depth: { json: $.depth, file: depth.json, unit: items/s, noise: 1% } }
      expect: { depth: { value: 70, kind: official, source: table 2 } }
  offline:
    performance:
      run: bench
      results: /offline
      expect: { samples_per_second: { value: 30, kind: official, source: table 3, noise: 1% } }
";

const SUMMARY: &str = "\
================================================
MLPerf Results Summary
================================================
SUT name : House
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 30.25
Result is : VALID
  Min duration satisfied : Yes
  Min queries satisfied : Yes
  Early stopping satisfied: Yes

No warnings encountered during test.

No errors encountered during test.
";

/// A folder of results, with the recipe next to it.
struct Results {
    directory: tempfile::TempDir,
}

/// What `judge` printed and its exit code.
struct Judged {
    code: i32,
    text: String,
    verdict: Value,
}

impl Results {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let results = Self { directory };
        fs::write(results.path("recipe.yaml"), RECIPE).unwrap();
        fs::create_dir(results.path("out")).unwrap();
        for (path, text) in files {
            let path = results.path("out").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        results
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    fn judge(&self, folder: &str, options: &[&str]) -> Judged {
        let judge = |further: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_retrial"))
                .args(["judge", folder, "--recipe", "./recipe.yaml"])
                .args(options)
                .args(further)
                .current_dir(self.directory.path())
                .env("RETRIAL_HOME", self.path("home"))
                .output()
                .unwrap()
        };
        let text = judge(&[]);
        let json = judge(&["--output", "json"]);
        assert_eq!(text.status.code(), json.status.code());
        let shown = [text.stdout, text.stderr].concat();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        Judged {
            code: text.status.code().unwrap(),
            text: shown.split_whitespace().collect::<Vec<_>>().join(" "),
            verdict: serde_json::from_slice(&json.stdout).unwrap_or_default(),
        }
    }
}

impl Judged {
    fn says(&self, words: &[&str]) -> &Self {
        for word in words {
            assert!(self.text.contains(word), "no '{word}' in {}", self.text);
        }
        self
    }

    fn result(&self, scenario: &str) -> &Value {
        let all = self.verdict["results"].as_array().unwrap();
        let result = all.iter().find(|result| result["scenario"] == scenario);
        result.unwrap_or_else(|| panic!("no {scenario} in {:#}", self.verdict))
    }

    fn outcome(&self, scenario: &str) -> &str {
        self.result(scenario)["outcome"].as_str().unwrap()
    }
}

/// Three good trials of `short`.
const SHORT: [(&str, &str); 3] = [
    ("short/performance/run_1/output.log", "rate 50.1\n"),
    ("short/performance/run_2/output.log", "rate 50.2\n"),
    ("short/performance/run_3/output.log", "rate 50.3\n"),
];

#[rstest]
#[case::its_file_is_cut(
    &[("long/performance/run_2/depth.json", "{\"depth\": 7")],
    "depth.json"
)]
#[case::its_file_is_missing(
    &[("long/performance/run_2/output.log", "Killed\n")],
    "depth.json"
)]
#[case::it_is_no_number(
    &[("long/performance/run_2/depth.json", "{\"depth\": \"deep\"}")],
    "depth.json"
)]
#[case::nothing_is_in_its_folder(&[("long/notes.txt", "")], "depth.json")]
fn a_scenario_that_was_run_without_a_figure_is_invalid(
    #[case] files: &[(&str, &str)],
    #[case] reason: &str,
) {
    let judged = Results::new(&[&SHORT, files].concat()).judge("out", &[]);
    assert_eq!(judged.code, 1, "{}", judged.text);
    judged.says(&["long", "depth is missing", reason]);
    assert_eq!(judged.outcome("long"), "invalid");
    assert_eq!(judged.outcome("short"), "reproduced");
}

/// A script keeps the options of its plan next to the results.
#[test]
fn options_that_changed_a_script_qualify_its_results() {
    let options = ("changed-options.txt", "--skip setup-lock-clocks\n");
    for directory in ["out", "out/short"] {
        let judged = Results::new(&[&SHORT[..], &[options]].concat()).judge(directory, &[]);
        assert_eq!(judged.code, 0, "{}", judged.text);
        judged.says(&["modified: --skip setup-lock-clocks"]);
    }
}

#[test]
fn a_scenario_without_a_folder_was_not_run() {
    let judged = Results::new(&SHORT).judge("out", &[]);
    assert_eq!(judged.code, 0, "{}", judged.text);
    judged.says(&["not among these results: long, Offline"]);
    let judged = Results::new(&SHORT).judge("out", &["--scenario", "short"]);
    assert_eq!(judged.code, 0, "{}", judged.text);
    assert!(!judged.text.contains("not among"), "{}", judged.text);
    judged.says(&["in part: without long, Offline"]);
}

#[test]
fn only_the_named_scenario_is_judged() {
    let mut files = SHORT.to_vec();
    let summary = "offline/performance/run_1/mlperf_log_summary.txt";
    files.push((summary, SUMMARY));
    files.push(("long/performance/run_2/depth.json", "{}"));
    let results = Results::new(&files);
    let judged = results.judge("out", &["--scenario", "offline"]);
    assert_eq!(judged.code, 0, "{}", judged.text);
    assert_eq!(judged.outcome("Offline"), "reproduced");
    let judged = results.judge("out", &["--scenario", "server"]);
    assert_eq!(judged.code, 2, "{}", judged.text);
    judged.says(&["no scenario \"server\"; it has short, long, offline"]);
}

#[test]
fn a_folder_without_any_figure_is_refused_with_every_reason() {
    let judged = Results::new(&[("other.json", "{}")]).judge("out", &[]);
    assert_eq!(judged.code, 2, "{}", judged.text);
    judged.says(&[
        "short rate: output.log",
        "long depth: depth.json",
        "Offline: no mlperf_log_summary.txt",
    ]);
}

#[test]
fn one_folder_with_the_output_of_two_scenarios_is_judged_for_both() {
    let files = [("output.log", "rate 50\n"), ("depth.json", "{\"dept\": 70}")];
    let results = Results::new(&files);
    let judged = results.judge("out", &[]);
    assert_eq!(judged.code, 1, "{}", judged.text);
    judged.says(&["depth is missing", "--scenario NAME"]);
    let judged = results.judge("out", &["--scenario", "short"]);
    assert_ne!(judged.code, 1, "{}", judged.text);
}

#[rstest]
#[case::empty(Some(""))]
#[case::foreign(Some("Bus error (core dumped)\n"))]
#[case::missing(None)]
fn one_log_that_cannot_be_read_makes_its_trial_invalid(#[case] summary: Option<&str>) {
    let mut files = SHORT.to_vec();
    files.push(("offline/performance/run_1/mlperf_log_summary.txt", SUMMARY));
    files.push(("offline/performance/run_2/other.txt", ""));
    let broken = "offline/performance/run_2/mlperf_log_summary.txt";
    files.extend(summary.map(|text| (broken, text)));
    let judged = Results::new(&files).judge("out", &[]);
    assert_eq!(judged.code, 1, "{}", judged.text);
    judged.says(&["trial 2", "mlperf_log_summary.txt"]);
    if summary.is_some() {
        judged.says(&[broken]);
    }
    let result = judged.result("Offline");
    assert_eq!(result["outcome"], "invalid");
    assert_eq!(result["trials"][0]["valid"], true);
    assert_eq!(result["trials"][0]["figures"]["samples_per_second"]["value"], 30.25);
    assert_eq!(result["trials"][1]["valid"], false);
    assert_eq!(judged.outcome("short"), "reproduced");
}

#[test]
fn a_log_without_a_recipe_that_cannot_be_read_leaves_the_others() {
    let files = [
        ("Offline/performance/run_1/mlperf_log_summary.txt", SUMMARY),
        ("Server/performance/run_1/mlperf_log_summary.txt", "Killed\n"),
    ];
    let results = Results::new(&files);
    let judged = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "out", "--output", "json"])
        .current_dir(results.directory.path())
        .env("RETRIAL_HOME", results.path("home"))
        .output()
        .unwrap();
    assert_eq!(judged.status.code(), Some(1), "{judged:?}");
    let verdict: Value = serde_json::from_slice(&judged.stdout).unwrap();
    let outcomes: Vec<_> = verdict["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["scenario"].as_str(), result["outcome"].as_str()))
        .collect();
    assert_eq!(
        outcomes,
        [(Some("Offline"), Some("inconclusive")), (Some("Server"), Some("invalid"))]
    );
}

#[test]
fn a_command_that_failed_in_a_script_failed() {
    let mut files = SHORT.to_vec();
    files.push(("short/performance/run_3/output.log.failed", "139\n"));
    let judged = Results::new(&files).judge("out", &[]);
    assert_eq!(judged.code, 4, "{}", judged.text);
    judged.says(&["trial 3", "exit code 139"]);
    assert_eq!(judged.outcome("short"), "failed");
}

#[test]
fn numbers_of_trials_count_warmups() {
    let files = [
        ("long/performance/run_1/depth.json", "{\"depth\": 7}"),
        ("long/performance/run_2/depth.json", "{\"depth\": 70}"),
    ];
    let judged = Results::new(&files).judge("out", &[]);
    let result = judged.result("long");
    assert_eq!(result["figures"]["depth"]["value"], 70.0);
    assert_eq!(result["warmups"][0]["trial"], 1);
    // Results that all have the number of a warm-up are numbered from one.
    let judged = Results::new(&files[..1]).judge("out", &[]);
    let result = judged.result("long");
    assert_eq!(result["figures"]["depth"]["value"], 7.0);
}

#[rstest]
#[case::scenario("out/short")]
#[case::mode("out/short/performance")]
fn the_folder_of_a_scenario_is_judged_by_itself(#[case] folder: &str) {
    let mut files = SHORT.to_vec();
    files.push(("long/performance/run_2/depth.json", "{}"));
    let judged = Results::new(&files).judge(folder, &[]);
    assert_eq!(judged.code, 0, "{}", judged.text);
    let trials = judged.result("short")["trials"].as_array().map(Vec::len);
    assert_eq!(trials, Some(3));
}

/// Judges trials of these numbers, which all have the same rate.
fn judge_equal_trials(numbers: impl Iterator<Item = u32>) -> Judged {
    let paths = numbers.map(|number| format!("short/performance/run_{number}/output.log"));
    let paths: Vec<String> = paths.collect();
    let files = paths.iter().map(|path| (path.as_str(), "rate 50\n"));
    let files: Vec<(&str, &str)> = files.collect();
    Results::new(&files).judge("out", &[])
}

/// `trials: { min: 3, max: 8 }` is analysed after 3, 5 and 8 trials.
#[rstest]
#[case::first_stage(3, 3)]
#[case::between_stages(4, 4)]
#[case::last_stage(8, 3)]
#[case::after_the_last(10, 5)]
fn folders_share_the_error_between_analyses(#[case] trials: u32, #[case] analyses: u32) {
    let judged = judge_equal_trials(1..=trials);
    let judgement = &judged.result("short")["judgements"][0];
    let error = 1.0 - judgement["confidence"].as_f64().unwrap();
    let expected = 0.05 / f64::from(analyses);
    assert!((error - expected).abs() < 1e-9, "{error} is not {expected}");
}

/// Nobody may leave trials out.
#[rstest]
#[case::in_the_middle(&[1, 2, 4, 5], "1 of 5 trials is not among these results: run_3")]
#[case::fewer_than_planned(&[1, 2], "1 of 3 trials is not among these results: run_3")]
fn missing_trials_leave_a_figure_undecided(#[case] numbers: &[u32], #[case] missing: &str) {
    let judged = judge_equal_trials(numbers.iter().copied());
    judged.says(&[missing]);
    assert_eq!((judged.code, judged.outcome("short")), (5, "inconclusive"));
}

/// Of which scenario the only output is, nobody knows.
#[test]
fn a_record_is_of_one_scenario() {
    let results = Results::new(&[("output.log", "rate 50.2\n")]);
    let recipe = fs::read_to_string(results.path("recipe.yaml")).unwrap();
    let trials = recipe.replace("      trials: { min: 3, max: 8 }\n", "");
    let (before, rest) = trials.split_once("  short:\n").unwrap();
    let (short, rest) = rest.split_once("  long:\n").unwrap();
    let both = format!("{before}  short:\n{short}  again:\n{short}  long:\n{rest}");
    fs::write(results.path("recipe.yaml"), both).unwrap();
    let judged = results.judge("out", &[]);
    judged.says(&["output.log, line 1 is read for again, too", "--scenario NAME"]);
    assert_eq!((judged.code, judged.outcome("short")), (1, "invalid"));
    assert_eq!(judged.outcome("again"), "invalid");
    let judged = results.judge("out", &["--scenario", "short"]);
    assert_eq!((judged.code, judged.outcome("short")), (0, "reproduced"));
}
