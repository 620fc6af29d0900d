//! The batch is killed, as by a crash, or stopped: it resumes where it ended.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Batches, varied};
use crate::lab::{Lab, image};

/// The verdict but for what differs from batch to batch.
fn plain(lab: &Lab) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["telemetry", "batch", "path", "run", "start"] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(all) => all.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut verdict = lab.batch_verdict();
    strip(&mut verdict);
    let text = serde_json::to_string_pretty(&verdict).unwrap();
    text.replace(lab.path("").to_str().unwrap(), "/")
}

/// Each run measures until it may end: the test touches `go-on`.
fn waiting(lab: Lab) -> Lab {
    let waits = "cat /proc/sys/kernel/random/uuid; echo going; for i in $(seq 1 1200); do test ! -e /beside/go-on || break; sleep 0.05; done";
    let keys = format!("container: {{ mounts: [{}:/beside:ro] }}\n", lab.path("").display());
    lab.recipe(&varied(&keys, waits))
}

const ASKS: [&str; 4] = ["--trials", "2", "--allow", "mounts"];

fn going_now(lab: &Lab) -> Option<String> {
    let started = lab.happened("trial_run_started");
    let run = started.last()?["run"].as_str()?.to_owned();
    let output = lab.home_path().join("runs").join(&run);
    let output = output.join("steps/03-main-performance/output.log");
    let text = fs::read_to_string(output).unwrap_or_default();
    text.contains("going").then_some(run)
}

#[test]
#[ignore = "needs the lab"]
fn three_times_at_different_points() {
    let lab = waiting(Lab::new());
    // First: while the first run measures.
    let batch = lab.start_batch(&ASKS);
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    batch.kill();
    let id = lab.batch_id();
    assert_eq!(lab.containers().len(), 1, "the benchmark goes on");
    fs::write(lab.path("go-on"), "").unwrap();
    // Second: just when the second run was written down.
    let batch = lab.start_batch(&ASKS);
    lab.until("the second run", |lab| lab.started_runs().len() == 2);
    batch.kill();
    // Third: just when another run has ended.
    let batch = lab.start_retrial(&["resume", &id]);
    lab.until("a run more ended", |lab| lab.happened("trial_run_ended").len() >= 3);
    batch.kill();
    let reused = lab.happened("trial_run_ended").len();
    let done = lab.batch(&ASKS).expect_exit(0);
    let runs = if reused == 1 { "run" } else { "runs" };
    done.prints("continues (start a new one: --new)")
        .prints(&format!("reused: {reused} {runs} of 4"));

    // Nothing was measured twice, and nothing is left.
    assert_eq!(lab.started_runs().len(), 4);
    for (run, journal) in lab.of_runs("journal.jsonl") {
        let started = journal.lines().filter(|line| {
            line.contains("\"main-performance\"") && line.contains("\"step_started\"")
        });
        assert_eq!(started.count(), 1, "{run}: {journal}");
    }
    for (run, output) in lab.of_runs("steps/03-main-performance/output.log") {
        assert_eq!(output.matches("going").count(), 1, "{run}: {output}");
    }
    assert_eq!(lab.containers(), [""; 0]);

    let undisturbed = waiting(Lab::new());
    fs::write(undisturbed.path("go-on"), "").unwrap();
    undisturbed.batch(&ASKS).expect_exit(0);
    similar_asserts(&plain(&lab), &plain(&undisturbed));
}

fn similar_asserts(killed: &str, undisturbed: &str) {
    assert!(killed == undisturbed, "killed: {killed}\nundisturbed: {undisturbed}");
}

#[test]
#[ignore = "needs the lab"]
fn one_that_others_can_write_or_that_is_damaged_is_not_continued() {
    let lab = waiting(Lab::new());
    let batch = lab.start_batch(&ASKS);
    fs::write(lab.path("go-on"), "").unwrap();
    lab.until("the first run ended", |lab| !lab.happened("trial_run_ended").is_empty());
    batch.kill();
    let started = lab.started_runs().len();
    let (directory, id) = (lab.the_batch(), lab.batch_id());
    let refused = |message: &str| {
        let batch = lab.batch(&ASKS).expect_exit(2);
        batch.prints(message).prints("would run as you").prints("start a new one: --new");
        lab.retrial(&["resume", &id]).expect_exit(2).prints(message);
    };
    chown(&directory, Some(12345), None).unwrap();
    refused("belongs to another user (uid 12345)");
    chown(&directory, Some(0), None).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    refused("is writable by other users (mode 0777)");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();

    let journal = directory.join("journal.jsonl");
    let events = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("damaged\n{events}")).unwrap();
    let damaged = lab.batch(&ASKS).expect_exit(3);
    damaged.prints("journal.jsonl").prints("start a new one: --new");
    fs::write(&journal, events).unwrap();

    assert_eq!(lab.started_runs().len(), started);
    lab.batch(&ASKS).expect_exit(0).prints("continues (start a new one: --new)");
    assert_eq!(lab.started_runs().len(), 4);

    lab.retrial(&["report", "last", "--charts", "charts"]).expect_exit(0);
    let charts = Lab::files_with(&lab.path("charts"), "each trial in its order");
    let [chart] = &charts[..] else { panic!("{charts:?}") };
    let chart = fs::read_to_string(chart).unwrap();
    assert!(chart.contains("the batch was resumed"), "{chart}");
}

/// As after a restart of the machine: the image is built, and the container made, once more.
#[test]
#[ignore = "needs the lab"]
fn and_its_container_is_gone() {
    let lab = Lab::new();
    let dockerfile =
        format!("FROM debian:bookworm-slim\nRUN echo {} >/built\n", std::process::id());
    let waits = "cat /built; echo going; for i in $(seq 1 1200); do test ! -e /beside/go-on || break; sleep 0.05; done";
    let keys = format!(
        "image: {{ build: {{ context: image, dockerfile: Dockerfile }} }}\ncontainer: {{ mounts: [{}:/beside:ro] }}\n",
        lab.path("").display()
    );
    let lab = lab.recipe(&varied(&keys, waits)).file("image/Dockerfile", &dockerfile);
    let batch = lab.start_batch(&ASKS);
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    batch.kill();
    let container = lab.containers()[0].split(' ').next().unwrap().to_owned();
    lab.docker(&["rm", "--force", &container]);
    fs::write(lab.path("go-on"), "").unwrap();
    let id = lab.batch_id();
    let mut resumed = lab.start_retrial(&["resume", &id]);
    lab.until("the batch ended", |lab| lab.happened("batch_ended").len() == 1);
    resumed.end().expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn at_any_event_of_its_journal() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "sleep 0.1"));
    let kind = |entry: &Value| format!("{} {}", entry["event"], entry["trial_run"]);
    let ended = |lab: &Lab| lab.happened("batch_ended").len() == 1;
    let mut kinds = BTreeSet::new();
    let mut killed = 0;
    while !ended(&lab) {
        let mut batch = lab.start_batch(&["--trials", "2"]);
        lab.until("something new happened", |lab| {
            let journal = lab.batch_journal();
            ended(lab) || journal.last().is_some_and(|last| !kinds.contains(&kind(last)))
        });
        if ended(&lab) {
            batch.end().expect_exit(0);
            break;
        }
        kinds.extend(lab.batch_journal().iter().map(kind));
        batch.kill();
        killed += 1;
    }
    assert!(killed >= 6, "killed only {killed} times");
    assert_eq!(lab.started_runs().len(), 4, "{:#?}", lab.batch_journal());
    assert_eq!(lab.runs().len(), 4);
    assert_eq!(lab.batch_verdict()["outcome"], "reproduced");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn an_interrupt_stops_everything_and_the_batch_can_resume() {
    let lab = waiting(Lab::new());
    let mut batch = lab.start_batch(&ASKS);
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    batch.signal("INT");
    let id = lab.batch_id();
    batch.end().expect_exit(130).prints(&format!("resume it: retrial resume {id}"));
    assert_eq!(lab.containers(), [""; 0]);
    assert!(!lab.the_batch().join("verdict.json").exists());
    fs::write(lab.path("go-on"), "").unwrap();
    lab.retrial(&["resume", &id]).expect_exit(0);
    assert_eq!(lab.started_runs().len(), 4);
}

/// As after a kill while it was judged; one of the logs takes minutes to read.
#[test]
#[ignore = "needs the lab"]
fn an_interrupt_during_judging_is_handled() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "true"));
    lab.batch(&[]).expect_exit(0);
    let path = lab.the_batch().join("journal.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    let (executed, _) = journal.rsplit_once("{\"time\"").unwrap();
    fs::write(&path, executed).unwrap();
    let log = lab.runs()[0].join("steps/03-main-performance/output.log");
    let log = fs::File::options().write(true).open(log).unwrap();
    log.set_len(500 << 30).unwrap();
    let id = lab.batch_id();
    let mut resumed = lab.start_retrial(&["resume", &id]);
    lab.until("it is resumed", |lab| lab.happened("reused").len() == 1);
    resumed.signal("TERM");
    let since = Instant::now();
    resumed.end().expect_exit(130).prints("resume it");
    assert!(since.elapsed() < Duration::from_secs(8));
}

#[test]
#[ignore = "needs the lab"]
fn in_the_background_and_stopped() {
    let lab = waiting(Lab::new());
    let mut asks = ASKS.to_vec();
    asks.push("--detach");
    let id = lab.batch(&asks).expect_exit(0).out.trim().to_owned();
    assert_eq!(id, lab.batch_id());
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    lab.batch(&ASKS).expect_exit(3).prints("is being executed by process");
    lab.retrial(&["stop", &id]).expect_exit(0).prints("stopped");
    assert_eq!(lab.containers(), [""; 0]);
    fs::write(lab.path("go-on"), "").unwrap();
    let resumed = lab.retrial(&["resume", &id, "--detach"]).expect_exit(0).out.trim().to_owned();
    assert_eq!(resumed, id);
    lab.until("the batch has ended", |lab| lab.the_batch().join("verdict.json").exists());
    lab.retrial(&["resume", &id]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_with_a_changed_recipe_is_not_resumed() {
    let lab = waiting(Lab::new());
    let batch = lab.start_batch(&ASKS);
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    batch.kill();
    let text = fs::read_to_string(lab.path("recipe.yaml")).unwrap();
    fs::write(lab.path("recipe.yaml"), text.replace("echo going", "echo gone")).unwrap();
    lab.retrial(&["resume", &lab.batch_id()])
        .expect_exit(2)
        .prints("has changed since the batch started");
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_with_changed_files_is_not_resumed() {
    let lab = waiting(Lab::new().file("tool.sh", "true\n"));
    let text = fs::read_to_string(lab.path("recipe.yaml")).unwrap();
    let with_file = text.replace("\nscenarios:", "\nfiles: { tool.sh: /tool.sh }\nscenarios:");
    let lab = lab.recipe(&with_file);
    let batch = lab.start_batch(&ASKS);
    lab.until("the first run measures", |lab| going_now(lab).is_some());
    batch.kill();
    fs::write(lab.path("tool.sh"), "false\n").unwrap();
    let changed = "recipe.yaml, or where one of its paths leads, has changed since";
    lab.retrial(&["resume", &lab.batch_id()]).expect_exit(2).prints(changed);
    lab.batch(&ASKS).expect_exit(2).prints(changed);
    fs::write(lab.path("tool.sh"), "true\n").unwrap();
    fs::write(lab.path("go-on"), "").unwrap();
    lab.retrial(&["resume", &lab.batch_id()]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_deleted_run_is_repeated() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "test ! -e /never || exit 1"));
    let batch = lab.start_batch(&["--trials", "2"]);
    lab.until("two ended", |lab| lab.happened("trial_run_ended").len() >= 2);
    batch.kill();
    let first = lab.happened("trial_run_started")[0]["run"].clone();
    fs::remove_dir_all(lab.home_path().join("runs").join(first.as_str().unwrap())).unwrap();
    lab.retrial(&["resume", &lab.batch_id()])
        .expect_exit(0)
        .prints("is missing on this host; it starts again");
    let runs = lab.batch_verdict()["cells"][0]["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2);
    assert_eq!(runs[0]["lost"], Value::Null, "{runs}");
    assert_eq!(lab.runs().len(), 4);
}

/// The image of the second cell is pulled while the first run is set up, never while it measures.
#[test]
#[ignore = "needs the lab"]
fn images_are_pulled_between_measurements() {
    let lab = Lab::new();
    let tag = format!("{}-{}", image("busybox").trim_end_matches(":1"), std::process::id());
    let pushed = [format!("{tag}:one"), format!("{tag}:two")];
    for name in &pushed {
        lab.publish("busybox", name);
    }
    let keys = format!(
        "image: {}\nvariants:\n  word:\n    one: {{ image: {} }}\n    two: {{ image: {} }}\ndefault: {{ word: one }}\n",
        pushed[0], pushed[0], pushed[1]
    );
    let text = crate::lab::recipe_with(&keys, &crate::lab::case("main", "echo going; sleep 1", ""));
    let lab = lab.recipe(&text);
    lab.batch(&[]).expect_exit(0).prints("pulled ahead");
    for name in &pushed {
        lab.docker(&["rmi", name]);
    }
    let pulled = lab.happened("image_pulled");
    assert_eq!(pulled.len(), 1, "{pulled:?}");
    assert_eq!(pulled[0]["image"], *pushed[1]);
    let time = |value: &Value| value["time"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let ended = time(&pulled[0]);
    let (_, journal) = &lab.of_runs("journal.jsonl")[0];
    let measured = |event: &str| {
        let mut lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let line = lines.find(|line| line["name"] == "main-performance" && line["event"] == event);
        time(&line.unwrap())
    };
    let (started, over) = (measured("step_started"), measured("step_ended"));
    assert!(
        ended <= started || ended >= over,
        "pulled until {ended}, measured from {started} to {over}"
    );
}
