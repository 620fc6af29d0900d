//! Faults planted in results, each found by `retrial judge`: the table of docs/judging.md, row by row,
//! in both layouts. The example submission has that of v6.0; a published result of v4.1, with its
//! compliance tests, the older one.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::Value;

#[path = "support/copy.rs"]
mod copy;
#[path = "support/corpus.rs"]
mod support;
use copy::copy;
use support::unpacked;

const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";
const RUN: &str = "performance/run_1";
/// A result of v4.1 whose logs are all in the corpus, below a division's folder.
const PUBLISHED: &str = "SYS_821GE_TNHR_H100_SXM_80GBx8_TRT/stable-diffusion-xl";

/// One scenario of a tree.
struct Place {
    root: PathBuf,
    results: PathBuf,
    /// The same result in another scenario.
    other: PathBuf,
    tests: PathBuf,
}

/// What the tool says of a fault.
#[derive(Clone, Copy, Debug)]
enum Told {
    Violation,
    Warning,
}
use Told::{Violation, Warning};

/// A fault's name in the docs, how it is planted (false where a result has no such thing), and a part
/// of the rule that finds it.
type Fault = (&'static str, fn(&Place) -> bool, Told, &'static str);

const FAULTS: [Fault; 28] = [
    (
        "figure raised by 3 % in both logs",
        |at| at.scale(&RATES, 1.03),
        Violation,
        "longest latency",
    ),
    (
        "figure raised by 3 % in the detail log",
        |at| at.detail(&RATES, |value| value * 1.03),
        Violation,
        "LoadGen's result",
    ),
    (
        "tokens/s raised by 3 % in both logs",
        |at| at.scale(&["result_tokens_per_second"], 1.03),
        Violation,
        "tokens per sample",
    ),
    (
        "figure 0",
        |at| at.scale(&RATES, 0.0),
        Violation,
        "per_second",
    ),
    (
        "figure below 0",
        |at| at.scale(&RATES, -1.0),
        Violation,
        "per_second",
    ),
    (
        "percentile divided by 5",
        |at| at.detail(&["result_99.00_percentile_latency_ns"], |value| value / 5.0),
        Violation,
        "latency percentiles",
    ),
    (
        "mean latency divided by 4",
        |at| at.detail(&["result_mean_latency_ns"], |value| value / 4.0),
        Violation,
        "mean latency",
    ),
    (
        "run shorter than its latencies",
        |at| {
            at.replace(
                RUN,
                DETAIL,
                r#"("power_end", "value": "[^"]*)\d\d\.\d{3}""#,
                "${1}59.999\"",
            )
        },
        Violation,
        "duration of the run",
    ),
    (
        "count of errors cut off",
        |at| at.drop_lines("\"num_errors\""),
        Violation,
        DETAIL,
    ),
    (
        "latencies removed from the detail log",
        |at| at.drop_lines("percentile_latency_ns\""),
        Violation,
        DETAIL,
    ),
    (
        "figure removed from the detail log",
        |at| at.drop_lines("\"result_samples_per_second\""),
        Violation,
        "LoadGen's result",
    ),
    (
        "num_errors 7",
        |at| at.detail(&["num_errors"], |_| 7.0),
        Violation,
        "LoadGen's errors",
    ),
    (
        "error line added",
        |at| {
            at.append(r#":::MLLOG {"key": "error_runtime", "value": "lost", "time_ms": 1.0, "metadata": {"is_error": true}}"#)
        },
        Violation,
        "LoadGen's errors",
    ),
    (
        "detail log removed",
        |at| fs::remove_file(at.results.join(RUN).join(DETAIL)).is_ok(),
        Warning,
        DETAIL,
    ),
    (
        "INVALID in both logs",
        |at| {
            at.replace(
                RUN,
                DETAIL,
                r#"("result_validity", "value": )"VALID""#,
                "${1}\"INVALID\"",
            ) && at.replace(RUN, SUMMARY, "Result is : VALID", "Result is : INVALID")
        },
        Violation,
        "LoadGen's result",
    ),
    (
        "summary of another scenario",
        |at| at.copy_from(&at.other.join(RUN), RUN, &[SUMMARY]),
        Violation,
        "LoadGen's result",
    ),
    (
        "performance_issue_same in the performance run",
        |at| at.setting(RUN, "performance_issue_same", "true", "1"),
        Violation,
        "performance_issue_same",
    ),
    (
        "answers logged in the performance run",
        |at| at.setting(RUN, "accuracy_log_sampling_target", "256", "256"),
        Warning,
        "accuracy_log_sampling_target",
    ),
    (
        "performance run's logs as the accuracy run's",
        |at| at.copy_from(&at.results.join(RUN), "accuracy", &[SUMMARY, DETAIL]),
        Warning,
        "mode of accuracy",
    ),
    (
        "another scenario's accuracy run",
        |at| at.copy_from(&at.other.join("accuracy"), "accuracy", &[SUMMARY, DETAIL]),
        Warning,
        "scenario of accuracy",
    ),
    (
        "other SUT name in the accuracy log",
        |at| {
            at.replace(
                "accuracy",
                DETAIL,
                r#"("sut_name", "value": ")[^"]*"#,
                "${1}other",
            )
        },
        Warning,
        "SUT name",
    ),
    (
        "other LoadGen in the accuracy log",
        |at| {
            at.replace(
                "accuracy",
                DETAIL,
                r#"("loadgen_version", "value": ")[^"]*"#,
                "${1}3.1 @ 0",
            )
        },
        Warning,
        "LoadGen's version",
    ),
    (
        "accuracy log a year older",
        |at| {
            at.replace(
                "accuracy",
                DETAIL,
                r#"("test_datetime", "value": ")\d{4}"#,
                "${1}2019",
            )
        },
        Warning,
        "dates",
    ),
    (
        "accuracy log of another data set",
        |at| {
            at.replace(
                "accuracy",
                DETAIL,
                r#"("qsl_reported_total_count", "value": )\d+"#,
                "${1}7",
            )
        },
        Warning,
        "samples of the data set",
    ),
    (
        "test that copies the performance run",
        |at| {
            at.test("TEST01", |test| {
                Place::copy_into(&at.results.join(RUN), &test.join(RUN), &[SUMMARY, DETAIL])
            })
        },
        Violation,
        "run of the test",
    ),
    (
        "TEST01 that logs no answers",
        |at| {
            at.test("TEST01", |test| {
                Place::setting_in(&test.join(RUN), "accuracy_log_sampling_target", "0", "0")
            })
        },
        Violation,
        "accuracy_log_sampling_target",
    ),
    (
        "TEST04 with different samples",
        |at| {
            at.test("TEST04", |test| {
                Place::setting_in(&test.join(RUN), "performance_issue_same", "false", "0")
            })
        },
        Violation,
        "performance_issue_same",
    ),
    (
        "harness's own mark INVALID",
        |at| fs::write(at.results.join(RUN).join("INVALID"), "").is_ok(),
        Violation,
        "own checks",
    ),
];

const RATES: [&str; 2] = ["result_samples_per_second", "result_tokens_per_second"];

impl Place {
    /// Changes the values of keys in the detail log of the performance run.
    fn detail(&self, keys: &[&str], change: fn(f64) -> f64) -> bool {
        let path = self.results.join(RUN).join(DETAIL);
        let mut text = fs::read_to_string(&path).unwrap();
        let mut found = false;
        for key in keys {
            let begin = format!(r#""key": "{key}", "value": "#);
            let Some((before, rest)) = text.split_once(&begin) else {
                continue;
            };
            let (value, after) = rest.split_once(',').unwrap();
            let value = change(value.parse().unwrap());
            let shown = if key.ends_with("_ns") {
                format!("{value:.0}")
            } else {
                value.to_string()
            };
            text = format!("{before}{begin}{shown},{after}");
            found = true;
        }
        fs::write(path, text).unwrap();
        found
    }

    /// Multiplies figures in both logs.
    fn scale(&self, keys: &[&str], factor: f64) -> bool {
        let path = self.results.join(RUN).join(SUMMARY);
        let mut text = fs::read_to_string(&path).unwrap();
        let detail = self.results.join(RUN).join(DETAIL);
        let mut log = fs::read_to_string(&detail).unwrap();
        let mut found = false;
        for key in keys {
            let printed = match *key {
                "result_samples_per_second" => r"(?m)^(Samples per second: )(\S+)",
                _ => r"(?m)^(Tokens per second: )(\S+)",
            };
            let logged = format!(r#"("key": "{key}", "value": )([^,]+)"#);
            for (text, pattern) in [(&mut text, printed), (&mut log, logged.as_str())] {
                let pattern = Regex::new(pattern).unwrap();
                found |= pattern.is_match(text);
                let scaled = pattern.replace(text, |parts: &regex::Captures<'_>| {
                    let value: f64 = parts[2].parse().unwrap();
                    format!("{}{}", &parts[1], value * factor)
                });
                *text = scaled.into_owned();
            }
        }
        fs::write(path, text).unwrap();
        fs::write(detail, log).unwrap();
        found
    }

    /// Replaces what a pattern matches in a file of a part.
    fn replace(&self, part: &str, file: &str, pattern: &str, with: &str) -> bool {
        replace(&self.results.join(part).join(file), pattern, with)
    }

    /// Sets a setting in both logs of a part.
    fn setting(&self, part: &str, name: &str, logged: &str, printed: &str) -> bool {
        Self::setting_in(&self.results.join(part), name, logged, printed)
    }

    fn setting_in(run: &Path, name: &str, logged: &str, printed: &str) -> bool {
        let pattern = format!(r#"("effective_{name}", "value": )[^,]+"#);
        replace(
            &run.join(SUMMARY),
            &format!("(?m)^({name} : ).*"),
            &format!("${{1}}{printed}"),
        );
        if replace(&run.join(DETAIL), &pattern, &format!("${{1}}{logged}")) {
            return true;
        }
        let line =
            format!(r#":::MLLOG {{"key": "effective_{name}", "value": {logged}, "time_ms": 1.0}}"#);
        append(&run.join(DETAIL), &line)
    }

    /// Removes the lines of the detail log that have a text.
    fn drop_lines(&self, text: &str) -> bool {
        let path = self.results.join(RUN).join(DETAIL);
        let log = fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = log.lines().filter(|line| !line.contains(text)).collect();
        fs::write(path, kept.join("\n") + "\n").unwrap();
        kept.len() < log.lines().count()
    }

    fn append(&self, line: &str) -> bool {
        append(&self.results.join(RUN).join(DETAIL), line)
    }

    fn copy_from(&self, from: &Path, part: &str, files: &[&str]) -> bool {
        Self::copy_into(from, &self.results.join(part), files)
    }

    fn copy_into(from: &Path, to: &Path, files: &[&str]) -> bool {
        let copied = files
            .iter()
            .map(|file| fs::copy(from.join(file), to.join(file)));
        copied.collect::<Result<Vec<_>, _>>().is_ok()
    }

    /// Does something to a test of the audit, where the result has it.
    fn test(&self, name: &str, plant: impl Fn(&Path) -> bool) -> bool {
        let test = self.tests.join(name);
        test.is_dir() && plant(&test)
    }
}

fn replace(path: &Path, pattern: &str, with: &str) -> bool {
    let Ok(text) = fs::read_to_string(path) else {
        return false;
    };
    let pattern = Regex::new(pattern).unwrap();
    let changed = pattern.replace_all(&text, with);
    fs::write(path, changed.as_bytes()).unwrap();
    changed != text
}

fn append(path: &Path, line: &str) -> bool {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{text}{line}\n")).is_ok()
}

/// The violated rules of all results, and the warnings.
fn judged(root: &Path) -> (Vec<String>, Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(root)
        .args(["--output", "json"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = document["results"].as_array().unwrap().iter();
    let rules = results.flat_map(|result| result["rules"].as_array().unwrap());
    let named = |wanted: fn(&Value) -> bool| {
        let found = rules.clone().filter(|rule| wanted(rule));
        found
            .map(|rule| format!("{}: {}", rule["rule"], rule["measured"]))
            .collect()
    };
    (
        named(|rule| rule["passed"] == false),
        named(|rule| rule["warning"] == true),
    )
}

/// Plants each fault in a copy of the place; returns how many it could.
fn plant_all(original: &Place) -> usize {
    let (violated, warned) = judged(&original.root);
    assert_eq!(violated, [""; 0], "before any fault");
    let mut planted = 0;
    for (name, plant, told, rule) in FAULTS {
        let directory = tempfile::tempdir().unwrap();
        copy(&original.root, directory.path());
        let moved = |path: &Path| {
            directory
                .path()
                .join(path.strip_prefix(&original.root).unwrap())
        };
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
        let (found, before) = match told {
            Violation => (violations, &violated),
            Warning => (warnings, &warned),
        };
        let is_told = |one: &String| one.contains(rule) && !before.contains(one);
        assert!(
            found.iter().any(is_told),
            "{name}: {told:?} of {rule} in {found:#?}"
        );
    }
    planted
}

#[test]
fn faults_in_one_folder() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission");
    let directory = tempfile::tempdir().unwrap();
    copy(&example, directory.path());
    let benchmark = directory
        .path()
        .join("closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99");
    // The example has it to show violated rules.
    fs::remove_dir_all(benchmark.join("Interactive")).unwrap();
    let place = Place {
        root: directory.path().to_owned(),
        results: benchmark.join("Offline"),
        other: benchmark.join("Server"),
        tests: benchmark.join("Offline"),
    };
    assert_eq!(
        plant_all(&place),
        FAULTS.len() - 3,
        "all but those of TEST01 and TEST04"
    );
}

#[test]
fn faults_in_a_published_result() {
    let Some(corpus) = unpacked("mlperf-inference-results-v4.1.tar.xz") else {
        return;
    };
    let from = corpus.path().join("v4.1/closed/Supermicro");
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("closed/Supermicro");
    for part in ["results", "compliance"] {
        copy(
            &from.join(part).join(PUBLISHED),
            &to.join(part).join(PUBLISHED),
        );
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
        FAULTS.len() - 3,
        "LoadGen 4.1 counts no errors, and SDXL no tokens"
    );
}
