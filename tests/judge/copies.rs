//! `retrial judge` on results that hold one run several times.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a recipe of one measurement, whose results are below `out`.
fn folder(measurement: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let recipe = format!(
        "schema: 1\ntitle: Copies\nsubmission: {{ suite: own, benchmark: copies }}\n\
         image: debian:bookworm-slim\nscenarios:\n  main:\n    performance:\n      run: ./bench\n{measurement}"
    );
    fs::write(folder.path().join("recipe.yaml"), recipe).unwrap();
    folder
}

fn write(folder: &TempDir, file: &str, text: &str) {
    let path = folder.path().join("out").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The exit code and the verdict on `out`.
fn judge(folder: &TempDir) -> (i32, Value) {
    judge_by(&folder.path().join("out"), &["--recipe", "./recipe.yaml"], folder.path())
}

fn judge_by(results: &Path, arguments: &[&str], at: &Path) -> (i32, Value) {
    let judged = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(results)
        .args(arguments)
        .args(["--output", "json"])
        .current_dir(at)
        .env("RETRIAL_HOME", at.join("home"))
        .output()
        .unwrap();
    let verdict = serde_json::from_slice(&judged.stdout);
    (
        judged.status.code().unwrap(),
        verdict.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&judged.stderr))),
    )
}

/// The log of a training run that starts at a time and takes some milliseconds.
fn training(started: u64, takes: u64) -> String {
    let event = |time: u64, key: &str, value: &str, metadata: &str| {
        format!(
            ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}\n"
        )
    };
    let stop = started + takes;
    event(started - 50, "submission_benchmark", "\"own\"", "")
        + &event(started - 50, "seed", &(started % 977).to_string(), "")
        + &event(started, "run_start", "null", "")
        + &event(stop - 9, "eval_accuracy", "0.95", "\"samples_count\": 640")
        + &event(stop, "run_stop", "null", "\"status\": \"success\"")
}

const TRAINING: &str = "      trials: 3
      figures: { ttt: { mllog: time_to_train, unit: s, better: lower, aggregate: olympic } }
      expect: { ttt: { value: 600, kind: official, source: here } }
";
const STARTED: u64 = 1_769_000_000_000;

fn reason(verdict: &Value) -> String {
    verdict["results"][0]["sentence"].to_string()
}

#[test]
fn three_training_runs_are_three_trials() {
    let folder = folder(TRAINING);
    for run in 0..3 {
        let log = training(STARTED + run * 700_000, 600_000 + run);
        write(&folder, &format!("result_{run}.txt"), &log);
    }
    let (code, verdict) = judge(&folder);
    assert_eq!(code, 0, "{verdict:#}");
}

#[test]
fn a_copied_training_log_is_no_further_trial() {
    let folder = folder(TRAINING);
    for (run, started) in [(0, STARTED), (1, STARTED + 700_000), (2, STARTED)] {
        // A logger's prefix changes the file, and not the run.
        let log = training(started, 600_000).replace(":::", &format!("rank {run}: :::"));
        write(&folder, &format!("result_{run}.txt"), &log);
    }
    let (code, verdict) = judge(&folder);
    assert_eq!((code, &verdict["outcome"]), (1, &"invalid".into()));
    let reason = reason(&verdict);
    assert!(reason.contains("result_2.txt is of the same run as result_0.txt"), "{reason}");
}

#[test]
fn a_training_log_that_is_printed_twice_is_one_trial() {
    let folder = folder(&TRAINING.replace("trials: 3", "trials: 1"));
    let log = training(STARTED, 600_000);
    write(&folder, "result_0.txt", &format!("{log}again:\n{log}"));
    let (_, verdict) = judge(&folder);
    let trials = verdict["results"][0]["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 1, "{verdict:#}");
}

const PATTERN: &str = "      figures: { speed: { pattern: 'speed: ([0-9.]+)', unit: items/s } }
      expect: { speed: { value: 100, kind: official, source: here } }
";
const JSON: &str = "      results: /out
      figures: { speed: { json: $.speed, file: r.json, unit: items/s } }
      expect: { speed: { value: 100, kind: official, source: here } }
";

/// The outcomes of three trials with these outputs.
fn outcome_of(measurement: &str, file: &str, outputs: [&str; 3]) -> (String, String) {
    let folder = folder(measurement);
    for (number, output) in (1..).zip(outputs) {
        write(&folder, &format!("main/performance/run_{number}/{file}"), output);
    }
    let (_, verdict) = judge(&folder);
    let outcome = verdict["outcome"].as_str().unwrap().to_owned();
    (outcome, reason(&verdict))
}

#[test]
fn copied_outputs_are_told_from_runs_with_the_same_figure() {
    let at = |second: u32| format!("2026-03-02 10:17:0{second} start\nspeed: 101 items/s\n");
    let [first, second, third] = [1, 2, 3].map(at);
    let (outcome, reason) = outcome_of(PATTERN, "output.log", [&first, &second, &first]);
    assert_eq!(outcome, "invalid", "{reason}");
    let expected = "run_3/output.log is of the same run as run_1/output.log";
    assert!(reason.contains(expected), "{reason}");
    let (outcome, reason) = outcome_of(PATTERN, "output.log", [&first, &second, &third]);
    assert_eq!(outcome, "reproduced", "{reason}");
    // Nothing in these tells whether they are of one run.
    let (outcome, reason) = outcome_of(PATTERN, "output.log", ["speed: 101\n"; 3]);
    assert_eq!(outcome, "reproduced", "{reason}");
}

#[test]
fn copied_files_are_found_by_their_times_or_digits() {
    let exact = r#"{"speed": 101.53472918273}"#;
    let (outcome, reason) = outcome_of(JSON, "r.json", [exact; 3]);
    assert_eq!(outcome, "invalid", "{reason}");
    let dated = r#"{"date": "20260302-101707", "speed": 101}"#;
    let (outcome, reason) = outcome_of(JSON, "r.json", [dated; 3]);
    assert_eq!(outcome, "invalid", "{reason}");
    let (outcome, reason) = outcome_of(JSON, "r.json", [r#"{"speed": 101}"#; 3]);
    assert_eq!(outcome, "reproduced", "{reason}");
}

/// Copies that were changed where it does not matter.
#[test]
fn copies_with_other_white_space_or_first_lines_are_no_trials() {
    let log = "2026-03-02 10:17:01 start\nspeed: 101.5 items/s\n";
    let ends = [log, &log.replace('\n', "\r\n"), &format!("{log}\n\n")];
    let first = ["trial 1\n", "trial 2\n", "trial 3\n"].map(|first| format!("{first}{log}"));
    for outputs in [ends, first.each_ref().map(String::as_str)] {
        let (outcome, reason) = outcome_of(PATTERN, "output.log", outputs);
        assert_eq!(outcome, "invalid", "{reason}");
        let expected = "run_2/output.log is of the same run as run_1/output.log";
        assert!(reason.contains(expected), "{reason}");
    }
    let json = [
        r#"{"date": "20260302-101707", "speed": 101.5}"#,
        "{\n \"date\": \"20260302-101707\",\n \"speed\": 101.5\n}\n",
        r#"{"speed": 101.5, "date": "20260302-101707"}"#,
    ];
    let (outcome, reason) = outcome_of(JSON, "r.json", json);
    assert_eq!(outcome, "invalid", "{reason}");
}

/// `tee -a` appends to the log of the trial before.
#[test]
fn a_figure_of_an_earlier_trial_in_a_log_is_not_its_own() {
    let part = |second: u32, speed: &str| format!("2026-03-02 10:17:0{second} start\n{speed}\n");
    let [one, two, three] =
        [part(1, "speed: 101.5"), part(2, "speed: 101.2"), part(3, "speed: 101.9")];
    let crashed = part(3, "Traceback");
    let longer = format!("{one}{two}");
    let judged = |measurement: &str, third: &str| {
        outcome_of(measurement, "output.log", [&one, &longer, &format!("{longer}{third}")])
    };
    let (outcome, reason) = judged(PATTERN, &three);
    assert_eq!(outcome, "reproduced", "{reason}");
    let (outcome, reason) = judged(PATTERN, &crashed);
    assert_eq!(outcome, "invalid", "{reason}");
    assert!(reason.contains("trial 3: no new result"), "{reason}");
    for take in ["first", "mean"] {
        let measurement = PATTERN.replace("unit:", &format!("take: {take}, unit:"));
        let (outcome, reason) = judged(&measurement, &three);
        assert_eq!(outcome, "invalid", "{take}: {reason}");
        assert!(reason.contains("trial 2: no new result"), "{reason}");
    }
}

#[test]
fn training_logs_that_only_start_at_another_time_are_copies() {
    let folder = folder(TRAINING);
    for run in 0..3 {
        let started = STARTED + run * 9_000_000;
        let half = format!(
            ":::MLLOG {{\"time_ms\": {}, \"key\": \"eval_accuracy\", \"value\": 0.5}}\n:::MLLOG {{\"time_ms\": {}, \"key\": \"eval_accuracy\"",
            started + 300_001,
            started + 599_991
        );
        let eval =
            format!(":::MLLOG {{\"time_ms\": {}, \"key\": \"eval_accuracy\"", started + 599_991);
        let log = training(started, 600_000);
        assert!(log.contains(&eval), "{log}");
        write(&folder, &format!("result_{run}.txt"), &log.replace(&eval, &half));
    }
    let (code, verdict) = judge(&folder);
    assert_eq!((code, &verdict["outcome"]), (1, &"invalid".into()));
    let reason = reason(&verdict);
    let expected = "result_1.txt is of the same run as result_0.txt";
    assert!(reason.contains(expected), "{reason}");
}

/// Copies a folder of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

#[test]
fn results_that_a_submitter_copied_from_another_are_named() {
    let at = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission/closed/Example");
    for submitter in ["Example", "Other"] {
        copy(&example, &at.path().join("tree/closed").join(submitter));
    }
    let (_, verdict) = judge_by(&at.path().join("tree"), &[], at.path());
    let faults = verdict["faults"].as_array().unwrap();
    let copied: Vec<_> = faults
        .iter()
        .filter(|fault| fault["required"] == "runs that no other result has")
        .collect();
    assert_eq!(copied.len(), 1, "{faults:#?}");
    assert!(copied[0]["path"].as_str().unwrap().starts_with("closed/Other/"));
    let actual = copied[0]["actual"].as_str().unwrap();
    assert!(actual.starts_with("the same run as closed/Example/"), "{actual}");
}
