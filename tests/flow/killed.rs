//! The tool is killed (as a crash, a closed laptop or the out-of-memory killer would): the
//! benchmark goes on, and `resume` takes the run up where it stands.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lab::{Lab, case, recipe_with};

const LINES: &str = "echo \"uuid $(cat /proc/sys/kernel/random/uuid) $$\"\nfor i in $(seq 1 60); do echo \"line $i\"; sleep 0.05; done\nmkdir -p /results; echo done >/results/out.txt";

fn lines(lab: Lab) -> Lab {
    let first = case(
        "first",
        "mkdir -p /first; cat /proc/sys/kernel/random/uuid >/first/uuid",
        "results: /first",
    );
    let cases = first + &case("lines", LINES, "results: /results");
    lab.recipe(&recipe_with("setup:\n  tool:\n    run: echo set-up; touch /ready", &cases))
}

/// The verdict but for what differs from run to run.
fn plain(verdict: &Value) -> Value {
    let mut verdict = verdict.clone();
    if let Some(results) = verdict["results"].as_array_mut() {
        for result in results {
            result["path"] = Value::Null;
            // What was seen of the container is of this run.
            result["telemetry"] = Value::Null;
            for trial in result["trials"].as_array_mut().into_iter().flatten() {
                trial["telemetry"] = Value::Null;
            }
        }
    }
    verdict
}

#[test]
#[ignore = "needs the lab"]
fn during_a_measurement() {
    let lab = lines(Lab::new());
    let going = lab.start(&[]);
    lab.until_printed("06-lines-performance", "line 20");
    going.kill();
    let container = lab.container();
    assert_eq!(lab.containers().len(), 1, "the benchmark goes on");

    let done = lab.retrial(&["resume", "last", "--verbose"]).expect_exit(0);
    let done = done.prints("still running, reattached");
    for step in ["setup-tool", "first-performance"] {
        let line = format!("{step}: already complete, skipped");
        assert!(done.err.contains(&line), "{}", done.err);
    }
    let expected: Vec<String> = (1..=60).map(|number| format!("line {number}")).collect();
    let output = lab.output("06-lines-performance");
    let printed: Vec<&str> = output.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(printed, expected);
    assert_eq!(output.matches("uuid ").count(), 1, "the same process");
    assert_eq!(lab.container(), container, "the same container");
    for step in
        ["setup-tool", "first-performance", "first-performance-collect", "lines-performance"]
    {
        assert_eq!(lab.count(step, "step_started"), 1, "{step}");
    }
    assert_eq!(lab.containers(), [""; 0]);

    let undisturbed = lines(Lab::new());
    undisturbed.run(&[]).expect_exit(0);
    assert_eq!(plain(&lab.verdict()), plain(&undisturbed.verdict()));
}

/// Killed at every kind of event of the journal, and resumed each time.
#[test]
#[ignore = "needs the lab"]
fn at_any_moment() {
    let lab = Lab::new();
    let cases =
        case("main", "sleep 0.3; mkdir /results; date >/results/out.txt", "results: /results");
    let lab = lab
        .recipe(&recipe_with("setup:\n  tool:\n    run: test ! -e /ready; touch /ready", &cases));
    let kind = |entry: &Value| {
        format!(
            "{} {}",
            entry["name"].as_str().unwrap_or_default(),
            entry["event"].as_str().unwrap_or_default()
        )
    };
    let ended = |entry: &Value| entry["event"] == "run_ended";
    let mut kinds = BTreeSet::new();
    let mut going = lab.start(&[]);
    loop {
        lab.until("something new happened", |lab| {
            lab.journal().last().is_some_and(|entry| ended(entry) || !kinds.contains(&kind(entry)))
        });
        let last = lab.journal().pop().unwrap();
        if ended(&last) {
            going.end().expect_exit(0).prints("reproduced");
            break;
        }
        kinds.insert(kind(&last));
        going.kill();
        // It may have come to its end between the look and the kill.
        if lab.journal().last().is_some_and(ended) {
            break;
        }
        going = lab.start_retrial(&["resume", "last"]);
    }
    assert!(kinds.len() >= 10, "killed only at {kinds:?}");
    assert_eq!(lab.containers(), [""; 0]);
    assert_eq!(lab.verdict()["outcome"], "reproduced");
    assert!(lab.the_run().join("results/main/performance/run_1/out.txt").is_file());
}

/// A tool that was killed just when it started a step may start it a second time.
#[test]
#[ignore = "needs the lab"]
fn a_step_is_never_started_twice() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 1");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&[
        "exec",
        &lab.container(),
        "/bin/sh",
        "/.retrial/step",
        "03-main-performance",
        "sh",
    ]);
    going.end().expect_exit(0);
    assert_eq!(lab.output("03-main-performance"), "going\nspeed: 42.5 MB/s\n");
}

#[test]
#[ignore = "needs the lab"]
fn the_container_exited_meanwhile_with_its_results() {
    let lab = Lab::new();
    let cases = case(
        "main",
        "cat /proc/sys/kernel/random/uuid; sleep 1; mkdir /results; date >/results/out.txt",
        "results: /results",
    );
    let lab = lab.recipe(&recipe_with("", &cases));
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "-");
    going.kill();
    lab.until("the step has ended", |lab| {
        lab.the_run().join("control/steps/03-main-performance/exit").exists()
    });
    let container = lab.container();
    lab.docker(&["kill", &container]);
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert_eq!(lab.count("main-performance", "step_started"), 1, "not measured again");
    assert_eq!(lab.container(), container, "no other container was made for it");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn the_container_was_removed_meanwhile() {
    let lab = lines(Lab::new());
    let going = lab.start(&[]);
    lab.until_printed("06-lines-performance", "line 5");
    going.kill();
    let container = lab.container();
    lab.docker(&["rm", "-f", &container]);
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert_ne!(lab.container(), container);
    assert_eq!(
        lab.count("setup-tool", "step_started"),
        2,
        "what lived in the container is made anew"
    );
    assert_eq!(lab.count("first-performance", "step_started"), 1, "what was fetched stands");
    assert_eq!(lab.count("lines-performance", "step_started"), 2);
    let output = lab.output("06-lines-performance");
    assert_eq!(output.matches("line 60\n").count(), 1);
    assert!(
        lab.the_run().join("steps/06-lines-performance.1/output.log").exists(),
        "the first try is kept"
    );
}

#[test]
#[ignore = "needs the lab"]
fn the_step_was_killed_meanwhile() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 30");
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    let leader = lab.text("control/steps/03-main-performance/pid");
    let kill = format!("kill -9 {0} -{0}", leader.trim());
    lab.docker(&["exec", "-u", "0", &lab.container(), "sh", "-c", &kill]);
    lab.retrial(&["resume", "last"])
        .expect_exit(3)
        .prints("killed before it could write its exit code")
        .prints("going");
}

#[test]
#[ignore = "needs the lab"]
fn not_resumed_before_the_deadline() {
    let lab = Lab::new();
    let commands = "trap 'echo told to end; exit 0' TERM\necho going; for i in $(seq 1 100); do test -e /.retrial/go-on || sleep 0.2; done";
    let lab = lab.measures(commands);
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    let deadline = lab.text("control/deadline");
    let deadline: i64 = deadline.split(' ').next().unwrap().parse().unwrap();
    assert!(deadline > 24 * 3600, "the step's own time, and some grace");
    going.kill();
    std::fs::write(lab.the_run().join("control/deadline"), "1\n").unwrap();
    lab.until("the container has ended", |lab| {
        lab.containers().iter().all(|container| container.ends_with("exited"))
    });
    assert!(lab.output("03-main-performance").contains("told to end"));
    assert_eq!(lab.text("control/ended").lines().next(), Some("deadline"));
    std::fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn during_a_build() {
    let lab = Lab::new();
    let nonce = std::process::id();
    let keys = "image: { build: { context: image, dockerfile: Dockerfile } }";
    let dockerfile = format!(
        "FROM debian:bookworm-slim\nRUN echo {nonce} building && sleep 2 && echo {nonce} >/built\n"
    );
    let lab = lab
        .recipe(&recipe_with(keys, &case("main", "cat /built", "")))
        .file("image/Dockerfile", &dockerfile);
    let going = lab.start(&[]);
    lab.until_printed("01-build", "building");
    going.kill();
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(lab.output("03-main-performance").starts_with(&nonce.to_string()));
}

/// What a line said that cannot be read is unknown: a command might be executed twice.
#[test]
#[ignore = "needs the lab"]
fn a_run_with_a_damaged_journal_is_not_continued() {
    let lab = lines(Lab::new());
    let going = lab.start(&[]);
    lab.until_printed("06-lines-performance", "line 2");
    going.kill();
    let path = lab.the_run().join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("step_ended", "step_enbed", 1)).unwrap();
    let resumed = lab.retrial(&["resume", "last"]).expect_exit(3);
    resumed.prints("is damaged: line ").prints("or start a new run");
    lab.retrial(&["clean", "--all"]).expect_exit(0);
}
