//! Signs of a failure while a command is still running: `fail_on`, `progress`, `dead_child`, `missing_child`.
//! The commands would go on for ever: a test that ends shows that the sign ended it.

use crate::lab::{Lab, case, recipe, recipe_with};

const DEAD_GPU: &str =
    "echo loading; printf 'GPU 3: out of '; sleep 0.5; echo memory; echo 'and why' >&2; sleep 1000";

#[test]
#[ignore = "needs the lab"]
fn a_matching_line_ends_the_step() {
    let lab = Lab::new();
    let keys = r"fail_on: ['nothing of that kind', 'GPU (?<gpu>\d+): out of memory']";
    let cases = case("bad", DEAD_GPU, keys) + &case("good", "true", "");
    let lab = lab.recipe(&recipe(&cases));
    let reason = r"GPU 3: line 2 of its output matches 'GPU (?<gpu>\d+): out of memory': GPU 3: out of memory";
    lab.run(&[])
        .expect_exit(4)
        .prints(reason)
        .prints("| and why")
        .prints("read its output from line 2 on")
        .does_not_print("timeout");
    let end = lab.end_of("bad-performance");
    assert_eq!(end["reason"], reason);
    assert_eq!(end["fault"], "command");
    assert!(lab.output("03-bad-performance").contains("out of memory"));
    assert_eq!(lab.end_of("good-performance")["end"], "done");
    assert_eq!(lab.containers(), [""; 0]);

    lab.retrial(&["resume", "last"]).expect_exit(4).prints(reason);
    assert_eq!(lab.count("bad-performance", "step_started"), 2);
    assert_eq!(lab.count("good-performance", "step_started"), 1);
}

#[test]
#[ignore = "needs the lab"]
fn the_last_line_is_searched_with_any_exit_code() {
    let cases = [
        ("echo fine; printf 'rank 0 died'", "line 2 of its output"),
        ("echo 'rank 0 died'; exit 7", "line 1 of its output"),
        // More than one look reads.
        ("seq 1 1000000; echo 'rank 0 died'", "line 1000001 of its output"),
    ];
    for (commands, message) in cases {
        let lab = Lab::new();
        let cases = format!(
            "  main: {{ performance: {{ run: \"{commands}\", fail_on: ['rank \\d+ died$'], figures: {{ a: {{ pattern: '(1)' }} }} }} }}\n"
        );
        let lab = lab.recipe(&recipe(&cases));
        lab.run(&[]).expect_exit(4).prints(message);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_line_before_the_minimum_age_is_not_a_failure() {
    let lab = Lab::new();
    let polling = "until [ -e /never ]; do echo Polling; sleep 0.2; done";
    let keys = "fail_on: [{ pattern: Polling, after: 3s }]";
    let cases = case("slow", polling, keys) + &case("quick", "echo Polling", keys);
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[]).expect_exit(4).prints("matches 'Polling', 3s after its start: Polling");
    assert_eq!(lab.end_of("quick-performance")["end"], "done");
}

#[test]
#[ignore = "needs the lab"]
fn recipe_patterns_apply_unless_a_step_has_its_own() {
    let lab = Lab::new();
    let cases = case("all", "echo 'it died'; sleep 1000", "")
        + &case("none", "echo 'it died'", "fail_on: []")
        + &case("own", "echo 'it died'", "fail_on: [something else]");
    let lab = lab.recipe(&recipe_with("fail_on: [died]", &cases));
    lab.run(&[]).expect_exit(4).prints("matches 'died'");
    for name in ["none-performance", "own-performance"] {
        assert_eq!(lab.end_of(name)["end"], "done", "{name}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_step_without_progress_is_terminated() {
    let lab = Lab::new();
    let commands =
        "for i in 1 2 3; do echo step $i; sleep 0.5; done; while sleep 0.2; do echo waiting; done";
    let keys = "progress: { pattern: 'step [0-9]', within: 3s }";
    let once = "progress: { pattern: 'step [0-9]', within: 1s, once: true }";
    let cases = case("main", commands, keys) + &case("got-so-far", "echo step 1; sleep 3", once);
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("it made no progress: no line of its output matched 'step [0-9]' for 3s")
        .prints("which process does it wait for?")
        .does_not_print("timeout");
    assert_eq!(lab.end_of("got-so-far-performance")["end"], "done");
}

/// A parent that waits for something else, as harnesses of several processes do.
const PARENT: &str = r#"perl -e '
  my $child = fork();
  $ENV{RAY_EXPERIMENTAL_NOSET_ROCR_VISIBLE_DEVICES} = 1;
  if (!$child) { $ENV{HIP_VISIBLE_DEVICES} = 5; exec "sh", "-c", "echo started; sleep 4; $ARGV[0]" }
  sleep 1000' "#;

#[test]
#[ignore = "needs the lab"]
fn a_dead_child_is_reported_with_its_gpu() {
    let ends = [
        ("'kill -9 $$'", "was terminated by signal 9 (KILL), and its parent"),
        ("'exit 3'", "ended with exit code 3, and its parent"),
    ];
    for (end, message) in ends {
        let lab = Lab::new();
        let command = format!("{PARENT}{end}");
        let lab = lab.recipe(&recipe(&case("main", &command, "dead_child: 2s")));
        lab.run(&[]).expect_exit(4).prints("(sh, HIP_VISIBLE_DEVICES=5) ").prints(message);
        assert_eq!(lab.containers(), [""; 0]);
    }
}

/// A parent that waits for its children, one after the other: it collects the one that ends, and waits on.
const WAITING: &str = r#"perl -e '
  for my $gpu (4, 5) {
    if (!fork()) { $ENV{HIP_VISIBLE_DEVICES} = $gpu; exec "sh", "-c", $gpu == 5 ? "sleep 8" : "sleep 1000" }
  }
  wait(); wait()'"#;

#[test]
#[ignore = "needs the lab"]
fn a_child_reaped_by_its_parent_is_reported_with_its_gpu() {
    let lab = Lab::new();
    let lab = lab.recipe(&recipe(&case("main", WAITING, "missing_child: 2s")));
    lab.run(&[])
        .expect_exit(4)
        .prints("HIP_VISIBLE_DEVICES=5) has ended, and its parent")
        .prints("and processes of other GPUs are still running");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn successful_or_reaped_children_are_not_a_failure() {
    let lab = Lab::new();
    let commands =
        "perl -e 'exit if !fork(); sleep 7'; for i in $(seq 1 70); do (exit 3) || sleep 0.1; done";
    let keys = "dead_child: 2s\nmissing_child: 2s";
    let lab = lab.recipe(&recipe(&case("main", commands, keys)));
    lab.run(&[]).expect_exit(0);
}

const SERVICE: &str = "
fail_on: ['engine core died']
services:
  server:
    run: 'echo ready; until [ -e /go ]; do sleep 0.1; done; echo \"GPU: engine core died\"; exec sleep 1000'
    ready: { log: ready }
";

#[test]
#[ignore = "needs the lab"]
fn a_service_that_shows_a_failure_ends_the_measurement() {
    let lab = Lab::new();
    let cases = case("first", "touch /go; sleep 1000", "needs: [server]");
    let lab = lab.recipe(&recipe_with(SERVICE, &cases));
    lab.run(&[]).expect_exit(4).prints(
        "its service server failed: line 2 of its output matches 'engine core died': GPU: engine core died",
    );
    let reason = lab.verdict()["results"][0]["sentence"].to_string();
    assert!(reason.contains("service server failed"), "{reason}");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_service_failure_is_found_after_a_quick_measurement() {
    let lab = Lab::new();
    let run =
        "touch /go; until grep -q died /.retrial/steps/*server/output.log; do sleep 0.05; done";
    let cases = case("first", run, "needs: [server]");
    let lab = lab.recipe(&recipe_with(SERVICE, &cases));
    lab.run(&[]).expect_exit(4).prints("its service server failed: line 2 of its output");
}

#[test]
#[ignore = "needs the lab"]
fn a_service_that_fails_before_ready_ends_the_wait() {
    let lab = Lab::new();
    let service = SERVICE.replace("log: ready", "log: never, timeout: 1h");
    let cases = case("first", "true", "needs: [server]");
    let lab = lab.recipe(&recipe_with(&service.replace("until [ -e /go ]", "until true"), &cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("the service server failed: line 2 of its output matches 'engine core died'");
    assert_eq!(lab.count("first-performance", "step_started"), 0);
}

/// The sign comes while nobody looks.
#[test]
#[ignore = "needs the lab"]
fn a_reattached_step_is_searched_from_its_first_line() {
    let lab = Lab::new();
    let commands = "until [ -e /go ]; do sleep 0.1; done; echo 'it died'; echo end; sleep 1000";
    let lab = lab.recipe(&recipe(&case("main", commands, "fail_on: [died]")));
    let going = lab.start(&[]);
    lab.until_begun("main-performance");
    lab.until("the step runs", |lab| {
        lab.the_run().join("control/steps/03-main-performance/pid").exists()
    });
    going.kill();
    lab.docker(&["exec", &lab.container(), "touch", "/go"]);
    lab.until_printed("03-main-performance", "end");
    lab.retrial(&["resume", "last"])
        .expect_exit(4)
        .prints("line 1 of its output matches 'died': it died");
    assert_eq!(lab.count("main-performance", "step_started"), 1);
}
