//! Results that are not what they should be: stale, missing, twofold, hostile.

use std::time::{Duration, Instant};

use crate::lab::{Lab, case, recipe_with};

fn collecting(commands: &str, results: &str) -> Lab {
    let cases = case("main", commands, &format!("results: {results}"));
    Lab::new().recipe(&recipe_with("", &cases))
}

/// What LoadGen's summary looks like, and its detail log's beginning.
const SUMMARY: &str =
    include_str!("../../crates/mlperf/tests/fixtures/summaries/v6.0-guide-llama2-offline.txt");

#[test]
#[ignore = "needs the lab"]
fn from_the_image_or_an_earlier_trial() {
    let lab = Lab::new();
    let setup = "setup:\n  old:\n    run: mkdir -p /out/run_1 && echo old >/out/run_1/summary";
    // Writes nothing: the old one must not be taken for its result.
    let lab =
        lab.recipe(&recipe_with(setup, &case("main", "ls -A /out/run_1", "results: /out/run_1")));
    let empty = "no new result: the step wrote no file to /out/run_1, which is empty";
    lab.run(&[]).expect_exit(1).prints(empty);
    assert_eq!(lab.verdict()["outcome"], "invalid");
    assert_eq!(
        lab.output("04-main-performance"),
        "speed: 42.5 MB/s\n",
        "the directory is there and empty"
    );

    // The same directory again in each trial.
    let lab = Lab::new();
    let lab = lab.recipe(&recipe_with(
        setup,
        &case("main", "echo ${{ trial }} >/out/run_1/trial", "results: /out/run_1\ntrials: 2"),
    ));
    lab.run(&[]).expect_exit(0);
    for trial in ["1", "2"] {
        let directory = format!("results/main/performance/run_{trial}");
        assert_eq!(lab.text(&format!("{directory}/trial")).trim(), trial);
        assert!(!lab.the_run().join(directory).join("summary").exists());
    }
}

/// It is evidence, and no result: it lies with the step, and the verdict does not read it.
#[test]
#[ignore = "needs the lab"]
fn of_a_failed_command() {
    let lab = collecting("mkdir -p /out; echo half >/out/log; exit 1", "/out");
    lab.run(&[]).expect_exit(4);
    assert_eq!(lab.text("steps/03-main-performance/results-1/log").trim(), "half");
    assert!(!lab.the_run().join("results/main/performance/run_1").exists());
    assert_eq!(lab.verdict()["outcome"], "failed");
}

#[test]
#[ignore = "needs the lab"]
fn in_a_directory_that_cannot_be_moved() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("out")).unwrap();
    std::fs::write(lab.path("out/old"), "old").unwrap();
    let keys = "container: { mounts: ['./out:/out'] }";
    let cases = case("quiet", "true", "results: /out")
        + &case("new", "echo new >/out/new", "results: /out");
    let lab = lab.recipe(&recipe_with(keys, &cases));
    lab.run(&[]).expect_exit(1);
    assert_eq!(lab.end_of("quiet-performance-collect")["end"], "failed");
    assert_eq!(lab.end_of("new-performance-collect")["end"], "done");
}

#[test]
#[ignore = "needs the lab"]
fn a_step_without_results_fails_its_collection() {
    let lab = collecting("true", "/results");
    lab.run(&[]).expect_exit(1).prints("no new result");
}

#[test]
#[ignore = "needs the lab"]
fn two_directories_match() {
    let lab = collecting("mkdir -p /out/a /out/b; touch /out/a/x /out/b/x", "/out/*");
    lab.run(&[]).expect_exit(1).prints("matches 2 directories: /out/a, /out/b");
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_and_a_symlink_to_it() {
    let lab = collecting(
        "mkdir -p '/out/run 2026'; date >'/out/run 2026/when'; ln -s 'run 2026' /out/latest",
        "/out/*",
    );
    lab.run(&[]).expect_exit(0);
    assert!(lab.the_run().join("results/main/performance/run_1/when").exists());
    let lab = collecting(
        "mkdir -p /out/real; date >/out/real/when; ln -s real /out/latest",
        "/out/latest",
    );
    lab.run(&[]).expect_exit(0);
    assert!(lab.the_run().join("results/main/performance/run_1/when").exists());
}

#[test]
#[ignore = "needs the lab"]
fn with_symlinks_and_special_files() {
    let hostile = "mkdir /results; cd /results; echo good >good; ln -s /etc/shadow shadow; ln -s / root; mkfifo pipe; mkdir deep; ln -s ../../../.. deep/up; touch \"$(printf 'n%0254d' 1)\"; touch \"$(printf 'two\\nlines\\033[31m')\"; mknod null c 1 3 || true";
    let lab = collecting(hostile, "/results");
    lab.run(&[]).expect_exit(0).does_not_print("\u{1b}[31m");
    let directory = lab.the_run().join("results/main/performance/run_1");
    assert_eq!(std::fs::read_to_string(directory.join("good")).unwrap(), "good\n");
    for name in ["shadow", "root", "pipe", "deep/up", "null"] {
        assert!(directory.join(name).symlink_metadata().is_err(), "{name}");
    }
    let collected = lab.journal().into_iter().find(|entry| entry["event"] == "collected").unwrap();
    assert!(collected["omitted"].as_array().unwrap().len() >= 4, "{collected}");
}

#[test]
#[ignore = "needs the lab"]
fn from_an_earlier_date() {
    let lab = Lab::new();
    // A summary that is fresh as a file, and whose own log says that it began in another year.
    let commands = "mkdir -p /results; cp /given/* /results/";
    let keys = "container: { mounts: ['./given:/given:ro'] }";
    let recipe = recipe_with(
        keys,
        &format!("  offline:\n    performance:\n      run: {commands}\n      results: /results\n"),
    );
    std::fs::create_dir(lab.path("given")).unwrap();
    let lab = lab.recipe(&recipe).file("given/mlperf_log_summary.txt", SUMMARY);
    let detail = r#":::MLLOG {"key": "test_datetime", "value": "2021-03-04T05:06:07Z", "time_ms": 0.1, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {"is_error": false, "is_warning": false, "file": "test_settings_internal.cc", "line_no": 1, "pid": 1, "tid": 1}}
"#;
    let lab = lab.file("given/mlperf_log_detail.txt", detail);
    lab.run(&[]).expect_exit(1).prints("outside of the step");
    assert_eq!(lab.verdict()["outcome"], "invalid");
}

#[test]
#[ignore = "needs the lab"]
fn a_file_in_place_of_a_directory() {
    let lab = collecting("echo '{}' >/tmp/r.json", "/tmp/r.json");
    lab.run(&[]).expect_exit(1).prints("/tmp/r.json is a file, not a directory");
}

/// A mount's directory cannot be moved aside.
#[test]
#[ignore = "needs the lab"]
fn results_from_before_the_step_are_named_as_such() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("given")).unwrap();
    let keys = "container: { mounts: ['./given:/given'] }";
    let cases = case("main", "ls /given", "results: /given");
    let lab = lab.recipe(&recipe_with(keys, &cases)).file("given/summary", "old");
    let message = "the step wrote no file to /given; those in it are older";
    lab.run(&["--allow", "mounts"]).expect_exit(1).prints(message);
}

/// A container's root replaces files and directories of ours by links.
#[test]
#[ignore = "needs the lab"]
fn a_hostile_container_cannot_redirect_writes() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("precious")).unwrap();
    std::fs::write(lab.path("precious/kept"), "kept").unwrap();
    let precious = lab.path("precious").display().to_string();
    let evil = format!(
        "cd /.retrial\nln -sf {precious}/kept deadline.part\nln -sf {precious}/kept steps/03-first-performance/exit.tmp.link\nrm steps/03-first-performance/output.log; ln -s {precious}/kept steps/03-first-performance/output.log\nmv steps steps.old; ln -s {precious} steps"
    );
    let cases = case("first", &evil, "") + &case("second", "true", "");
    let lab = lab.recipe(&recipe_with("", &cases));
    let done = lab.run(&[]);
    assert_ne!(done.code, Some(0), "{done:?}");
    assert_eq!(std::fs::read_to_string(lab.path("precious/kept")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(lab.path("precious")).unwrap().count(), 1);
    assert!(
        lab.containers().iter().all(|container| container.ends_with("exited")),
        "{:?}",
        lab.containers()
    );
}

/// A file's length counts, however little of the disk it takes.
#[test]
#[ignore = "needs the lab"]
fn larger_than_allowed() {
    let commands = "mkdir /out; truncate -s 10G /out/one /out/another";
    let lab = collecting(commands, "/out");
    let since = Instant::now();
    lab.run(&[])
        .expect_exit(1)
        .prints("/out holds more than 16 GiB: its files total 20 GiB")
        .prints("`max_results:`");
    assert!(since.elapsed() < Duration::from_secs(20), "it is not copied");
    let commands = "mkdir /out; truncate -s 2M /out/log";
    for (allowed, code) in [("1 MiB", 1), ("2 MiB", 0)] {
        let results = format!("/out\nmax_results: {allowed}");
        let lab = collecting(commands, &results);
        lab.run(&[]).expect_exit(code);
    }
}

#[test]
#[ignore = "needs the lab"]
fn more_output_than_allowed() {
    let sparse = "truncate -s 10G /proc/self/fd/1; sleep 30";
    for (commands, key, message) in [
        (sparse, "", "its output has 10 GiB; at most 4 GiB is allowed"),
        ("seq 100000; sleep 30", "max_log: 100 KiB", "at most 100 KiB is allowed"),
    ] {
        let lab = Lab::new();
        let lab = lab.recipe(&recipe_with("", &case("main", commands, key)));
        let since = Instant::now();
        lab.run(&[])
            .expect_exit(4)
            .prints(message)
            .prints("`max_log:`")
            .does_not_print(&"\u{2400}".repeat(600));
        assert!(since.elapsed() < Duration::from_secs(20), "it is ended");
        let limit = if key.is_empty() { 4 << 30 } else { 100 << 10 };
        let output = lab.the_run().join("steps/03-main-performance/output.log");
        assert_eq!(output.metadata().unwrap().len(), limit);
    }
}

/// What it said may have been a reason against the figure.
#[test]
#[ignore = "needs the lab"]
fn a_verdict_says_that_output_was_removed() {
    let lab = Lab::new()
        .measures("echo the first of a few words; sleep 1; echo again >/dev/stdout; sleep 1");
    lab.run(&[]).expect_exit(0).prints("of its output were removed while it ran");
}
