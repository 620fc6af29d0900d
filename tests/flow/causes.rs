//! The cause that a failed command's output states, and which trials are not started for it.

use serde_json::Value;

use crate::lab::{Lab, case, recipe, recipe_with};

const OUT_OF_MEMORY: &str = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 287.98 GiB";

/// Commands that print lines and fail.
fn failing(lines: &[&str]) -> String {
    let printed = lines.iter().map(|line| format!("echo '{line}'\n"));
    printed.collect::<String>() + "exit 1"
}

/// The reason why a step was skipped.
fn skip_reason(lab: &Lab, step: &str) -> Value {
    lab.end_of(step)["reason"].clone()
}

#[test]
#[ignore = "needs the lab"]
fn the_verdict_names_the_error_and_no_trial_repeats_it() {
    let lab = Lab::new();
    let commands = failing(&["loading", OUT_OF_MEMORY, "the end"]);
    let cases = case("7b", &commands, "trials: 3") + &case("small", "true", "");
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("it ended with exit code 1: out of GPU memory on GPU 3: 'torch.OutOfMemoryError")
        .prints("help: use a GPU with more memory or a smaller batch")
        .prints("trial 1 failed (out of GPU memory), which another trial would repeat");
    let cause = &lab.end_of("7b-performance-1")["cause"];
    assert_eq!(cause["kind"], "out of GPU memory");
    assert_eq!(cause["gpu"], "3");
    assert_eq!(cause["line"], OUT_OF_MEMORY);
    for step in ["7b-performance-2", "7b-performance-3"] {
        assert_eq!(skip_reason(&lab, step)["kind"], "cause_repeats");
    }
    assert_eq!(lab.end_of("small-performance")["end"], "done");
    let verdict = lab.verdict().to_string();
    for text in [
        "GPU 3 has a total capacity",
        "the step did not run: trial 1 failed (out of GPU memory), which another trial would repeat",
    ] {
        assert!(verdict.contains(text), "{text}: {verdict}");
    }
    // Resumed, it is tried again: the user may have freed the memory.
    lab.retrial(&["resume", "last"]).expect_exit(4);
    assert_eq!(lab.count("7b-performance-1", "step_started"), 2);
}

#[test]
#[ignore = "needs the lab"]
fn a_cause_that_may_pass_is_tried_once_more() {
    let killed =
        "E1223 api.py:882] failed (exitcode: -9) local_rank: 3 (pid: 71) of binary: python3";
    let lab = Lab::new();
    let cases = case("ddp", &failing(&[killed]), "trials: 3");
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("worker killed by signal 9 (KILL), rank 3")
        .prints("trials 1 and 2 failed by the same cause (worker killed)");
    assert_eq!(lab.count("ddp-performance-2", "step_started"), 1);
    assert_eq!(skip_reason(&lab, "ddp-performance-3")["kind"], "cause_repeats");
}

#[test]
#[ignore = "needs the lab"]
fn a_line_of_a_successful_command_is_no_failure() {
    let lab = Lab::new();
    let commands = format!("echo '{OUT_OF_MEMORY}'");
    let lab = lab.recipe(&recipe(&case("main", &commands, "trials: 2")));
    lab.run(&[]).expect_exit(0).does_not_print("out of GPU memory");
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_would_fail_again_is_not_started_again() {
    let lab = Lab::new();
    let server = "  server:\n    run: |\n      echo 'RuntimeError: No HIP GPUs are available'\n      exit 1\n    ready: { log: never, timeout: 30s }\n";
    let cases = case("main", "true", "needs: [server]\ntrials: 2");
    let lab = lab.recipe(&recipe_with(&format!("services:\n{server}"), &cases));
    lab.run(&[]).expect_exit(4).prints("no usable GPU: 'RuntimeError: No HIP GPUs are available'");
    for step in ["main-performance-start-server-2", "main-performance-2"] {
        assert_eq!(skip_reason(&lab, step)["kind"], "cause_repeats", "{step}");
    }
}
