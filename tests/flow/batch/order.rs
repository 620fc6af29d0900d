//! The order of runs, and the effect of one run's end on the others.

use serde_json::Value;

use super::{Batches, varied};
use crate::lab::Lab;

const FIRST: &str = "word=one,number=1";

fn cells() -> [&'static str; 4] {
    [FIRST, "word=one,number=2", "word=two,number=1", "word=two,number=2"]
}

/// A recipe's image of a registry that wants a password.
fn unreadable_image() -> String {
    let registry = std::env::var("RETRIAL_LAB_PRIVATE_REGISTRY").unwrap();
    format!("image: {registry}/retrial-lab/unreadable:1")
}

#[test]
#[ignore = "needs the lab"]
fn two_by_two_cells_are_interleaved_in_both_directions() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "cat /proc/sys/kernel/random/uuid"));
    let done = lab.batch(&["--vary", "number=1,2", "--trials", "2"]);
    done.expect_exit(0)
        .prints("[1/8] word=one,number=1 trial 1/2: main speed 42.5 MB/s")
        .prints("1 remaining, about");
    let there = cells().map(|cell| (cell.to_owned(), 1));
    let mut back = cells().map(|cell| (cell.to_owned(), 2));
    back.reverse();
    assert_eq!(lab.started_runs(), [there, back].concat());

    // Each is an ordinary run, in a container of its own, that knows where it belongs.
    let plans = lab.of_runs("plan.json");
    assert_eq!(plans.len(), 8);
    for started in lab.happened("trial_run_started") {
        // Runs of one second are in no order.
        let (_, plan) = plans.iter().find(|(id, _)| started["run"] == **id).unwrap();
        let plan: Value = serde_json::from_str(plan).unwrap();
        assert_eq!(plan["batch"]["id"], lab.batch_id());
        assert_eq!(plan["batch"]["cell"], started["cell"]);
        assert_eq!(plan["batch"]["trial"], started["trial"]);
    }
    let mut containers: Vec<String> = lab
        .of_runs("journal.jsonl")
        .iter()
        .flat_map(|(_, journal)| journal.lines())
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["event"] == "container_created")
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect();
    containers.sort();
    containers.dedup();
    assert_eq!(containers.len(), 8);
    assert_eq!(lab.containers(), [""; 0]);

    let verdict = lab.batch_verdict();
    let judged = verdict["cells"].as_array().unwrap();
    assert_eq!(judged.len(), 4);
    for (cell, name) in judged.iter().zip(cells()) {
        assert_eq!(cell["name"], name);
        assert_eq!(cell["outcome"], "reproduced");
        let trials = &cell["verdict"]["results"][0]["trials"];
        assert_eq!(trials.as_array().unwrap().len(), 2, "{cell}");
    }
    // Judged again from the directories, it is the same.
    for (format, word) in [("junit", "<testsuites"), ("markdown", "number=2")] {
        lab.retrial(&["--output", format, "judge", &lab.batch_id()]).expect_exit(0).prints(word);
    }
    let again = lab.retrial(&["--output", "json", "judge", &lab.batch_id()]);
    let again: Value = serde_json::from_str(&again.expect_exit(0).out).unwrap();
    assert_eq!(again, verdict);
    let resumed = lab.retrial(&["--output", "json", "resume", &lab.batch_id()]);
    let resumed: Value = serde_json::from_str(&resumed.expect_exit(0).out).unwrap();
    assert_eq!(resumed, verdict);
}

#[test]
#[ignore = "needs the lab"]
fn grouped_runs_one_cell_after_another() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", ""));
    lab.batch(&["--trials", "2", "--order", "grouped"]).expect_exit(0);
    let runs = lab.started_runs();
    let names: Vec<&str> = runs.iter().map(|(cell, _)| cell.as_str()).collect();
    assert_eq!(names, ["word=one", "word=one", "word=two", "word=two"]);
}

#[test]
#[ignore = "needs the lab"]
fn a_failed_cell_is_a_result_and_the_others_continue() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "test ${{ params.word }} != one || exit 7"));
    lab.batch(&["--trials", "2"]).expect_exit(3).prints("ended with exit code 7");
    // Not tried again: a benchmark's own failure is a result.
    assert_eq!(lab.started_runs().len(), 4);
    let ends = lab.happened("trial_run_ended");
    let codes: Vec<u64> = ends.iter().map(|end| end["exit_code"].as_u64().unwrap()).collect();
    assert_eq!(codes, [4, 0, 0, 4]);
}

#[test]
#[ignore = "needs the lab"]
fn a_repeated_host_error_is_reported_once() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied(&unreadable_image(), ""));
    let done = lab.batch(&["--trials", "2", "--retries", "0", "--pull-ahead", "never"]);
    let done = done.expect_exit(3);
    let reason = "does not let you pull";
    assert_eq!(done.out.matches("pull failed").count(), 1, "{}", done.out);
    assert!(done.out.contains("! no result"), "{}", done.out);
    assert!(!done.err.contains("evidence:"), "the verdict names it");
    // Once by its step, and once in the line of its run.
    assert_eq!(done.err.matches(reason).count(), 2, "{}", done.err);
    assert_eq!(done.err.matches("for the same reason").count(), 3, "{}", done.err);
}

#[test]
#[ignore = "needs the lab"]
fn recipe_problems_are_reported_once() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "").replace("pattern:", "patern:"));
    let done = lab.batch(&[]).expect_exit(2);
    assert_eq!(done.err.matches("unknown key `patern`").count(), 1, "{}", done.err);
}

#[test]
#[ignore = "needs the lab"]
fn new_claims_are_judged_on_existing_runs() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "test ${{ params.word }} != two || sleep 0.1"));
    let claiming = |claim: &str| lab.batch(&["--trials", "4", "--claim", claim]);
    claiming("two is at least as fast as one").expect_exit(0);
    let runs = lab.started_runs().len();
    claiming("two is faster than one")
        .prints("has new claims, which are judged on its existing runs")
        .prints("the claims were changed after a run had ended")
        .does_not_print("all claims supported");
    assert_eq!(lab.started_runs().len(), runs, "nothing is measured again");
    let verdict = lab.batch_verdict();
    assert_eq!(verdict["claims"][0]["claim"], "two is faster than one");
    // By another file it is the same batch.
    let lab = lab.file("other.yaml", "schema: 1\ntitle: Under another name\nrecipe: ./recipe.yaml\nvary: { word: [one, two] }\ntrials: 4\nclaims: [two is as fast as one to within 90%]\n");
    lab.retrial(&["batch", "./other.yaml"]).prints("which are judged on its existing runs");
    assert_eq!(lab.started_runs().len(), runs, "nothing is measured again");
    let verdict = lab.batch_verdict();
    assert_eq!(verdict["title"], "Under another name");
    let again = lab.retrial(&["--output", "json", "judge", &lab.batch_id()]);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again, verdict);
}

#[test]
#[ignore = "needs the lab"]
fn fail_fast_ends_the_batch() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", "test ${{ params.word }} != one || exit 7"));
    lab.batch(&["--trials", "2", "--on-failure", "fail-fast"])
        .expect_exit(3)
        .prints("word=one, trial 1 failed; 3 of 4 runs were not started");
    assert_eq!(lab.started_runs(), [("word=one".to_owned(), 1)]);
    // What was left can still be done.
    let id = lab.batch_id();
    lab.retrial(&["resume", &id]).expect_exit(3).prints("reused: 1 run of 4");
    assert_eq!(lab.started_runs().len(), 4);
}

#[test]
#[ignore = "needs the lab"]
fn host_failures_are_retried() {
    let lab = Lab::new();
    let waits = "echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done";
    let lab = lab.recipe(&varied("", waits));
    let mut going = lab.start_batch(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&["kill", &lab.container()]);
    let go_on = |lab: &Lab| {
        for run in lab.runs() {
            let _ = std::fs::write(run.join("control/go-on"), "");
        }
        lab.happened("batch_ended").len() == 1
    };
    lab.until("the batch ends", go_on);
    going.end().expect_exit(0).prints("attempt 2").prints("exit code 3");
    let started = lab.happened("trial_run_started");
    let attempts: Vec<(u64, u64)> = started
        .iter()
        .map(|started| {
            (started["trial_run"].as_u64().unwrap(), started["attempt"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(attempts, [(1, 1), (1, 2), (2, 1)]);
    assert_eq!(lab.batch_verdict()["cells"][0]["runs"][0]["run"], started[1]["run"]);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn retries_are_limited() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied(&unreadable_image(), ""));
    lab.batch(&["--retries", "2"]).expect_exit(3);
    let attempts = lab.started_runs();
    assert_eq!(attempts.len(), 6);
    assert_eq!(attempts[2], ("word=one".to_owned(), 1));
    assert_eq!(attempts[3], ("word=two".to_owned(), 1));
}

#[test]
#[ignore = "needs the lab"]
fn problems_are_reported_before_anything_starts() {
    let lab = Lab::new();
    let asks = "requires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }\ncontainer: { privileged: true }\n";
    let lab = lab.recipe(&varied(asks, ""));
    let done = lab.batch(&["--trials", "5"]);
    done.expect_exit(2)
        .prints("nothing was started")
        .prints("word=one and word=two: this host does not meet the requirements of")
        .prints("--allow privileged");
    assert_eq!(lab.runs(), Vec::<std::path::PathBuf>::new());
    assert!(!lab.home_path().join("batches").exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_that_repeats_its_cells_is_not_warned_of_single_trials() {
    let text = varied("", "").replace(", noise: 1%", "");
    let warning = "one trial cannot show";
    let lab = Lab::new().recipe(&text);
    lab.batch(&["--trials", "2"]).does_not_print(warning);
    // A limit counts the rows of the list, and leaves no run of a batch out.
    lab.retrial(&["runs", "--limit", "1"]).prints("4 runs, 2 verdicts: ");
    let lab = Lab::new().recipe(&text);
    lab.batch(&[]).prints(warning);
}
