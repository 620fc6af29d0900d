//! A home that several machines share, a clock that is set, files that are removed: a run that goes on is not
//! ended by mistake, and nobody else's process is signalled.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::batch::{Batches as _, varied};
use crate::lab::{Lab, case, recipe_with};
use crate::support::wait::wait_until;

const WAITS: &str =
    "echo going; for i in $(seq 1 300); do test -e /.retrial/go-on || sleep 0.2; done";

/// A process that a wrong signal would end.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs the lab"]
fn stop_signals_only_the_process_that_follows_the_run() {
    let lab = Lab::new();
    let lab = lab.measures(WAITS);
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    let path = lab.the_run().join("lock");
    let honest = fs::read_to_string(&path).unwrap();
    let mut bystander = Bystander::new();
    let pid = bystander.0.id();
    let changes = [
        (
            json!({ "boot": "0f0f0f0f-0000-4000-8000-000000000001", "host": "n2" }),
            format!("process {pid} on n2 follows it"),
            format!("run `retrial stop {}` on n2", lab.id()),
        ),
        (
            json!({ "pid_namespace": "pid:[4026530000]" }),
            "another container (pid namespace)".to_owned(),
            "in the container that executes the run".to_owned(),
        ),
        (json!({ "started": 1 }), "that process has ended".to_owned(), "fuser".to_owned()),
    ];
    for (change, reason, help) in changes {
        let mut lock: Value = serde_json::from_str(&honest).unwrap();
        let process = lock["process"].as_object_mut().unwrap();
        process.insert("pid".to_owned(), json!(pid));
        process.extend(change.as_object().unwrap().clone());
        fs::write(&path, lock.to_string()).unwrap();
        lab.retrial(&["stop", "last"]).expect_exit(3).prints(&reason).prints(&help);
        assert!(bystander.is_alive(), "{change}");
    }
    fs::write(&path, &honest).unwrap();
    lab.retrial(&["stop", "last"]).expect_exit(0);
    going.end().expect_exit(130);
    assert!(bystander.is_alive());
}

#[test]
#[ignore = "needs the lab"]
fn a_run_without_a_process_is_stopped_and_resumed_where_its_container_is() {
    let lab = Lab::new();
    let lab = lab.measures(WAITS);
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    let honest = move_to_n2(&lab);
    lab.retrial(&["stop", "last"])
        .expect_exit(3)
        .prints("its container is on n2")
        .prints(&format!("run `retrial stop {}` on n2", lab.id()));
    lab.retrial(&["resume", "last"])
        .expect_exit(3)
        .prints("started on n2, and its measurements are of that machine")
        .prints(&format!("`retrial resume {}` on n2", lab.id()));
    assert_eq!(lab.containers().len(), 1);
    fs::write(lab.the_run().join("journal.jsonl"), honest).unwrap();
    lab.retrial(&["stop", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_is_not_resumed_on_another_machine() {
    let lab = Lab::new().recipe(&varied("", WAITS));
    let going = lab.start_retrial(&["batch", "./recipe.yaml", "--vary", "word=one,two"]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    let honest = move_to_n2(&lab);
    let id = lab.batch_id();
    lab.retrial(&["resume", "last"])
        .expect_exit(3)
        .prints(&format!("{id} started on n2"))
        .prints(&format!("`retrial resume {id}` on n2"));
    assert_eq!(lab.runs().len(), 1, "nothing is measured here");
    fs::write(lab.the_run().join("journal.jsonl"), honest).unwrap();
    lab.retrial(&["stop", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

/// Writes the journal as it would be, had the run started on a machine `n2`; returns what it was.
fn move_to_n2(lab: &Lab) -> String {
    let path = lab.the_run().join("journal.jsonl");
    let honest = fs::read_to_string(&path).unwrap();
    let moved = honest.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "run_started" {
            event["process"]["boot"] = json!("0f0f0f0f-0000-4000-8000-000000000001");
            event["process"]["host"] = json!("n2");
        }
        format!("{event}\n")
    });
    fs::write(&path, moved.collect::<String>()).unwrap();
    honest
}

/// The journal as it would be, had the clock been set by these hours after it was written.
fn set_clock(lab: &Lab, hours: i64) {
    let path = lab.the_run().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let shifted = text.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let time: Timestamp = event["time"].as_str().unwrap().parse().unwrap();
        let time = time - SignedDuration::from_hours(hours);
        event["time"] = json!(time);
        format!("{event}\n")
    });
    fs::write(&path, shifted.collect::<String>()).unwrap();
}

#[test]
#[ignore = "needs the lab"]
fn a_step_of_the_wall_clock_does_not_end_a_benchmark() {
    for hours in [3, -3] {
        let lab = Lab::new();
        let commands = format!("{WAITS}\nmkdir /results; echo done >/results/out");
        let cases = case("main", &commands, "results: /results\ntimeout: 1h");
        let lab = lab.recipe(&recipe_with("", &cases));
        let going = lab.start(&[]);
        lab.until_printed("03-main-performance", "going");
        going.kill();
        set_clock(&lab, hours);
        let mut resumed = lab.start_retrial(&["resume", "last"]);
        lab.until("it is reattached", |lab| lab.count("main-performance", "step_reattached") == 1);
        // So long it measures at least.
        std::thread::sleep(Duration::from_millis(300));
        fs::write(lab.the_run().join("control/go-on"), "").unwrap();
        resumed.end().expect_exit(0).prints("reproduced");
        let seconds = lab.end_of("main-performance")["seconds"].as_f64().unwrap();
        assert!((0.3..600.0).contains(&seconds), "{hours}: {seconds}");
        let verdict = lab.verdict();
        let telemetry = &verdict["results"][0]["trials"][0]["telemetry"];
        let observed = telemetry["seconds"].as_f64().unwrap_or_default();
        assert!((0.0..600.0).contains(&observed), "{hours}: {telemetry}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn clean_refuses_a_benchmark_that_runs_without_its_process() {
    let lab = Lab::new();
    let lab = lab.measures(WAITS);
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    lab.retrial(&["clean", "last"])
        .expect_exit(2)
        .prints("its benchmark is still running, though no process follows it")
        .prints(&format!("help: continue it: retrial resume {}", lab.id()))
        .prints("nothing to remove");
    lab.retrial(&["runs", "remove", &lab.id()]).prints("its container exists and may be running");
    assert_eq!(lab.containers().len(), 1);
    assert!(lab.the_run().join("journal.jsonl").exists());
    lab.retrial(&["clean", "last", "--all"]).expect_exit(0).prints("removed");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_removed_directory_ends_the_run_within_seconds() {
    for relative in [".", "steps", "steps/03-main-performance", "control", "../.."] {
        let lab = Lab::new();
        let lab = lab.measures(WAITS);
        let mut going = lab.start(&[]);
        lab.until_printed("03-main-performance", "going");
        // The second check sees it missing.
        std::thread::sleep(Duration::from_millis(1500));
        let id = lab.id();
        let label = format!("label=io.retrial.run={id}");
        let list = |filter: &str| lab.docker(&["ps", "-q", filter, "--filter", &label]);
        let path = lab.the_run().join(relative).canonicalize().unwrap();
        let removed = Command::new("rm").arg("-rf").arg(&path).status().unwrap();
        assert!(removed.success());
        let since = Instant::now();
        let done = going.end();
        assert!(since.elapsed() < Duration::from_secs(25), "{relative}");
        done.expect_exit(3).prints("was removed while the run was executed");
        assert_eq!(list("--no-trunc"), "", "{relative}: nothing runs");
        if ![".", "../.."].contains(&relative) {
            // What was not collected is left to a resumed run.
            lab.retrial(&["clean", &id, "--all"]).expect_exit(0);
        }
        assert_eq!(list("-a"), "", "{relative}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_hanging_credential_helper_does_not_keep_the_process_alive() {
    for signal in ["INT", "TERM"] {
        let lab = Lab::new();
        let lab = lab.measures("true");
        let lab = lab.file(
            "bin/docker-credential-hangs",
            "#!/bin/sh\necho $$ >\"$0.pid\"\nsleep 600 & wait\n",
        );
        let lab = lab.file("docker/config.json", r#"{ "credsStore": "hangs" }"#);
        let helper = lab.path("bin/docker-credential-hangs");
        assert!(Command::new("chmod").arg("+x").arg(&helper).status().unwrap().success());
        let path = format!("{}:{}", lab.path("bin").display(), std::env::var("PATH").unwrap());
        let configuration = lab.path("docker").display().to_string();
        let lab = lab.env("PATH", &path).env("DOCKER_CONFIG", &configuration);
        let mut going = lab.start(&["--pull", "always"]);
        lab.until("the helper is asked", |lab| {
            lab.path("bin/docker-credential-hangs.pid").exists()
        });
        let since = Instant::now();
        going.signal(signal);
        going.end().expect_exit(130);
        assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
        let pid = fs::read_to_string(lab.path("bin/docker-credential-hangs.pid")).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        let is_alive = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        wait_until("the helper has ended", || !is_alive());
    }
}
