//! The faults: what each is called, how it is planted, and which rule finds it.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";
const RUN: &str = "performance/run_1";

/// One scenario of a tree.
#[derive(Clone)]
pub struct Place {
    pub root: PathBuf,
    pub results: PathBuf,
    /// The same result in another scenario.
    pub other: PathBuf,
    pub tests: PathBuf,
}

/// How the tool reports a fault.
#[derive(Clone, Copy, Debug)]
pub enum Severity {
    Violation,
    Warning,
}
use Severity::{Violation, Warning};

/// A fault's name in the docs, how it is planted (false where a result has no such thing), and a part
/// of the rule that finds it.
pub type Fault = (&'static str, fn(&Place) -> bool, Severity, &'static str);

pub const FAULTS: [Fault; 53] = [
    (
        "results of another process",
        |at| at.replace(RUN, DETAIL, r#"("key": "result_[^\n]*"pid": )\d+"#, "${1}4711"),
        Violation,
        "pid of the detail log",
    ),
    (
        "end of the run 100 s later by the log's own clock",
        |at| at.replace(RUN, DETAIL, r#"("key": "power_end"[^\n]*"time_ms": )(\d+)"#, "${1}9${2}"),
        Violation,
        "duration by power_begin",
    ),
    (
        "another second of the log's begin",
        |at| at.replace(RUN, DETAIL, r#"("test_datetime", "value": "[^"]*:)\d(\dZ)"#, "${1}3${2}"),
        Violation,
        "start of the run",
    ),
    (
        "LoadGen with changes",
        |at| {
            at.append(r#":::MLLOG {"key": "loadgen_git_status_message", "value": " M loadgen.cc", "time_ms": 1.0, "metadata": {"is_error": false}}"#)
        },
        Violation,
        "changes of LoadGen's source",
    ),
    (
        "other SUT name in the detail log",
        |at| at.replace(RUN, DETAIL, r#"("sut_name", "value": ")[^"]*"#, "${1}other"),
        Violation,
        "SUT name",
    ),
    (
        "newer LoadGen than the round's",
        |at| at.replace(RUN, DETAIL, r#"("loadgen_version", "value": ")[^"]*"#, "${1}9.0.1 @ 0"),
        Violation,
        "LoadGen's version",
    ),
    (
        "fewer queries than min_query_count",
        |at| at.setting(RUN, "min_query_count", "1000000000", "1000000000"),
        Violation,
        "queries of the result, by its settings",
    ),
    (
        "an accuracy log with a foreign hash",
        |at| {
            let log = "[\n{ \"qsl_idx\" : 1, \"data\" : \"00\" }\n]\n";
            fs::write(at.results.join("accuracy/mlperf_log_accuracy.json"), log).is_ok()
        },
        Violation,
        "hash of the whole accuracy log",
    ),
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
    ("figure 0", |at| at.scale(&RATES, 0.0), Violation, "per_second"),
    ("figure below 0", |at| at.scale(&RATES, -1.0), Violation, "per_second"),
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
            at.replace(RUN, DETAIL, r#"("power_end", "value": "[^"]*)\d\d\.\d{3}""#, "${1}59.999\"")
        },
        Violation,
        "duration of the run",
    ),
    ("count of errors cut off", |at| at.drop_lines("\"num_errors\""), Violation, DETAIL),
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
    ("num_errors 7", |at| at.detail(&["num_errors"], |_| 7.0), Violation, "LoadGen's errors"),
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
            at.replace(RUN, DETAIL, r#"("result_validity", "value": )"VALID""#, "${1}\"INVALID\"")
                && at.replace(RUN, SUMMARY, "Result is : VALID", "Result is : INVALID")
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
        |at| at.replace("accuracy", DETAIL, r#"("sut_name", "value": ")[^"]*"#, "${1}other"),
        Warning,
        "SUT name",
    ),
    (
        "other LoadGen in the accuracy log",
        |at| {
            at.replace("accuracy", DETAIL, r#"("loadgen_version", "value": ")[^"]*"#, "${1}3.1 @ 0")
        },
        Warning,
        "LoadGen's version",
    ),
    (
        "accuracy log a year older",
        |at| at.replace("accuracy", DETAIL, r#"("test_datetime", "value": ")\d{4}"#, "${1}2019"),
        Warning,
        "dates",
    ),
    (
        "accuracy log of another data set",
        |at| {
            at.replace("accuracy", DETAIL, r#"("qsl_reported_total_count", "value": )\d+"#, "${1}7")
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
        "logs",
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
    (
        "performance run that loaded 3 samples",
        |at| at.entry(RUN, "loaded_qsl_set", "[0,1,2]"),
        Violation,
        "samples of loaded_qsl_set",
    ),
    (
        "accuracy run that loaded 3 samples",
        |at| at.entry("accuracy", "loaded_qsl_set", "[0,1,2]"),
        Warning,
        "samples of loaded_qsl_set",
    ),
    (
        "accuracy run that issued half of its samples",
        |at| {
            at.in_other().replace(
                "accuracy",
                DETAIL,
                r#"("generated_query_count", "value": )\d+"#,
                "${1}7",
            )
        },
        Warning,
        "generated_query_count",
    ),
    (
        "schedule of a microsecond",
        |at| at.entry(RUN, "generated_query_duration", "1000"),
        Violation,
        "generated_query_duration",
    ),
    (
        "several samples in one of Server's queries",
        |at| {
            let other = at.in_other();
            other.replace(RUN, DETAIL, r#"("generated_samples_per_query", "value": )1\b"#, "${1}2")
        },
        Violation,
        "samples per query",
    ),
    (
        "entry earlier than the one above it",
        |at| {
            let time = r#"("generated_query_count"[^\n]*"time_ms": )[\d.]+"#;
            at.replace(RUN, DETAIL, time, "${1}0.000001")
        },
        Warning,
        "time stamps of the detail log",
    ),
    (
        "test_datetime without a date",
        |at| at.replace(RUN, DETAIL, r#"("test_datetime", "value": ")[^"]*"#, "${1}unknown"),
        Warning,
        "(test_datetime)",
    ),
    (
        "seed that is no 64-bit number",
        |at| at.replace(RUN, DETAIL, r#"("effective_schedule_rng_seed", "value": \d+)"#, "${1}00"),
        Warning,
        "(effective_schedule_rng_seed)",
    ),
    (
        "other settings than were asked for",
        |at| at.entry(RUN, "requested_min_duration_ms", "60000"),
        Warning,
        "effective settings",
    ),
    (
        "accuracy run with another seed",
        |at| at.replace("accuracy", DETAIL, r#"("effective_qsl_rng_seed", "value": )\d+"#, "${1}7"),
        Warning,
        "seeds",
    ),
    (
        "early stopping's failure next to a success",
        |at| {
            let text = r#"("early_stopping_(?:ttft_)?result", "value": ")[^"]*"#;
            at.in_other().replace(RUN, DETAIL, text, "${1} * Run unsuccessful.")
        },
        Violation,
        "early stopping's text",
    ),
    (
        "summary without its result",
        |at| at.replace(RUN, SUMMARY, r"(?m)^Result is : VALID\n", ""),
        Violation,
        "LoadGen's result",
    ),
    (
        "INVALID second run",
        |at| {
            let second = at.results.join("performance/run_2");
            fs::create_dir(&second).unwrap();
            Place::copy_into(&at.results.join(RUN), &second, &[SUMMARY, DETAIL])
                && replace(&second.join(SUMMARY), "Result is : VALID", "Result is : INVALID")
        },
        Warning,
        "performance/run_2",
    ),
    (
        "accuracy.txt of fewer samples",
        |at| at.replace("accuracy", "accuracy.txt", r"('gen_num': )\d+", "${1}2457"),
        Warning,
        "samples of accuracy.txt",
    ),
    (
        "impossible accuracy",
        |at| at.replace("accuracy", "accuracy.txt", r"('rouge1': )([\d.]+)", "${1}1${2}"),
        Violation,
        "possible ROUGE1",
    ),
    (
        "number of accelerators in words",
        |at| {
            let systems = fs::read_dir(at.root.join("closed")).unwrap().flatten();
            let files = systems.flat_map(|submitter| {
                fs::read_dir(submitter.path().join("systems")).unwrap().flatten()
            });
            let changed = files.map(|file| {
                let count = r#"("accelerators_per_node": )"?\d+"?"#;
                replace(&file.path(), count, "${1}\"eight\"")
            });
            changed.fold(false, |any, one| any | one)
        },
        Warning,
        "accelerators_per_node",
    ),
    (
        "TEST01 that quotes a pass",
        |at| {
            at.test("TEST01", |test| {
                let file = test.join("verify_performance.txt");
                fs::write(file, "usage: the script prints TEST PASS if all is well\n").is_ok()
            })
        },
        Violation,
        "TEST01 performance",
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
            let shown =
                if key.ends_with("_ns") { format!("{value:.0}") } else { value.to_string() };
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

    /// The same result in another scenario.
    fn in_other(&self) -> Self {
        Self { results: self.other.clone(), ..self.clone() }
    }

    /// Sets the value of a key in the detail log of a part, or adds an entry of it.
    fn entry(&self, part: &str, key: &str, value: &str) -> bool {
        let path = self.results.join(part).join(DETAIL);
        let pattern = format!(r#"("key": "{key}", "value": )(\[[^\]]*\]|[^,]+)"#);
        if replace(&path, &pattern, &format!("${{1}}{value}")) {
            return true;
        }
        append(&path, &format!(r#":::MLLOG {{"key": "{key}", "value": {value}}}"#))
    }

    /// Sets a setting in both logs of a part.
    fn setting(&self, part: &str, name: &str, logged: &str, printed: &str) -> bool {
        Self::setting_in(&self.results.join(part), name, logged, printed)
    }

    fn setting_in(run: &Path, name: &str, logged: &str, printed: &str) -> bool {
        let pattern = format!(r#"("effective_{name}", "value": )[^,]+"#);
        replace(&run.join(SUMMARY), &format!("(?m)^({name} : ).*"), &format!("${{1}}{printed}"));
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
        let retained: Vec<&str> = log.lines().filter(|line| !line.contains(text)).collect();
        fs::write(path, retained.join("\n") + "\n").unwrap();
        retained.len() < log.lines().count()
    }

    fn append(&self, line: &str) -> bool {
        append(&self.results.join(RUN).join(DETAIL), line)
    }

    fn copy_from(&self, from: &Path, part: &str, files: &[&str]) -> bool {
        Self::copy_into(from, &self.results.join(part), files)
    }

    fn copy_into(from: &Path, to: &Path, files: &[&str]) -> bool {
        let copied = files.iter().map(|file| fs::copy(from.join(file), to.join(file)));
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
