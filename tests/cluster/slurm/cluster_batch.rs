//! Batches as arrays on the lab's cluster.

use std::process::Child;

use serde_json::Value;

use super::cluster::{Login, end, signal};
use super::program::{entries, sizes};
use crate::support::wait::wait_until;

/// The events of all tasks, in the order of the tasks.
fn of_tasks(login: &Login) -> Vec<Value> {
    let path = |task: usize| format!("tasks/{task}/journal.jsonl");
    (1..=3).flat_map(|task| login.user.of_batch(&path(task))).collect()
}

fn count(login: &Login, event: &str) -> usize {
    let events = of_tasks(login);
    events.iter().filter(|entry| entry["event"] == event).count()
}

fn wait_for(login: &Login, event: &str) {
    wait_until(&format!("there is an event {event}"), || {
        let batches = std::fs::read_dir(login.user.directory.join("home/batches"));
        let is_there = batches.is_ok_and(|mut batches| batches.next().is_some());
        is_there && count(login, event) > 0
    });
}

fn batch(login: &Login) -> Child {
    let words = ["batch", "./mine.yaml", "--site", "lab", "--trials", "3"];
    login.start(&[&words[..], &["--vary", "size=small,large"]].concat())
}

#[test]
#[ignore = "needs root and the lab"]
fn rounds_are_tasks_and_the_verdict_equals_the_local_one() {
    let login = Login::new("batch", &sizes(1));
    let claim = ["--claim", "large is faster than small", "--output", "json"];
    let done = login.user.batch(&claim).exits(0);
    let verdict = login.user.the_batch().join("verdict.json");
    let verdict: Value = serde_json::from_str(&std::fs::read_to_string(verdict).unwrap()).unwrap();
    assert_eq!(verdict["claims"][0]["outcome"], "supported", "{done:?}");

    // A round is on one node, and each trial run is there once.
    let mut started: Vec<u64> = Vec::new();
    for task in 1..=3 {
        let events = login.user.of_batch(&format!("tasks/{task}/journal.jsonl"));
        let runs = events.iter().filter(|event| event["event"] == "trial_run_started");
        let mut hosts: Vec<Value> = Vec::new();
        for run in runs {
            started.push(run["trial_run"].as_u64().unwrap());
            let run = login.user.directory.join("home/runs").join(run["run"].as_str().unwrap());
            let host = std::fs::read_to_string(run.join("host.json")).unwrap();
            let host: Value = serde_json::from_str(&host).unwrap();
            hosts.push(host["host"]["hostname"].clone());
        }
        assert_eq!((hosts.len(), &hosts[0]), (2, &hosts[1]), "task {task}");
    }
    started.sort_unstable();
    assert_eq!(started, [1, 2, 3, 4, 5, 6]);

    // The same evidence as a batch of one host has it: one journal.
    let directory = login.user.the_batch();
    let mut journal = of_tasks(&login);
    journal.retain(|event| event["event"].as_str().unwrap().starts_with("trial_run"));
    journal.insert(0, entries(&directory.join("journal.jsonl"))[0].clone());
    let lines: Vec<String> = journal.iter().map(Value::to_string).collect();
    std::fs::write(directory.join("journal.jsonl"), lines.join("\n") + "\n").unwrap();
    std::fs::remove_dir_all(directory.join("tasks")).unwrap();
    std::fs::remove_dir_all(directory.join("arrays")).unwrap();
    let id = login.user.batch_id();
    let judged = login.user.command(&["judge", &id, "--output", "json"]).output();
    let mut judged: Value = serde_json::from_slice(&judged.unwrap().stdout).unwrap();
    // Only one journal has an order.
    for cell in judged["cells"].as_array_mut().unwrap() {
        for run in cell["runs"].as_array_mut().unwrap() {
            assert!(run.as_object_mut().unwrap().remove("start").is_some(), "{run}");
        }
    }
    assert_eq!(judged, verdict);
}

#[test]
#[ignore = "needs root and the lab"]
fn ctrl_c_ends_all_tasks_and_resume_submits_the_remaining() {
    let login = Login::new("batch-stop", &sizes(4));
    let run = batch(&login);
    wait_for(&login, "trial_run_ended");
    signal(&run, "-INT");
    end(run).exits(130).prints("stopping job ").prints("runs remaining");
    let id = login.user.batch_id();
    for run in std::fs::read_dir(login.user.directory.join("home/runs")).unwrap() {
        let run = run.unwrap().file_name().into_string().unwrap();
        let label = format!("label=io.retrial.run={run}");
        for node in ["n1", "n2", "n3"] {
            let ps = ["node", node, "docker", "ps", "-aq", "--filter", &label];
            assert_eq!(login.cluster.lab(&ps), "", "{run} on {node}");
        }
    }
    let resumed = login.user.retrial(&["resume", &id]).exits(0);
    resumed.prints("submitted job ").prints("2 cells: 2 measured");
    assert_eq!(
        login.user.retrial(&["resume", &id]).exits(0).output.matches("submitted").count(),
        0
    );
}
