//! A benchmark's own command fails: how, why, its last lines, and what to do.

use std::time::{Duration, Instant};

use crate::lab::{Lab, case, image, recipe, recipe_with};

#[test]
#[ignore = "needs the lab"]
fn a_command_that_fails() {
    let lab = Lab::new();
    let cases = case(
        "bad",
        "for i in $(seq 1 30); do echo \"line $i\"; done; echo 'CUDA error: out of cheese' >&2; exit 7",
        "",
    ) + &case("good", "true", "");
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[])
        .expect_exit(4)
        .prints("exit code 7")
        .prints("out of cheese")
        .prints("retrial shell")
        .does_not_print("line 3\n");
    assert_eq!(
        lab.end_of("good-performance")["end"],
        "done",
        "the other scenario is measured all the same"
    );
    assert_eq!(lab.containers(), [""; 0]);

    // On resume it is tried again; completed measurements are retained.
    lab.retrial(&["resume", "last"]).expect_exit(4);
    assert_eq!(lab.count("bad-performance", "step_started"), 2);
    assert_eq!(lab.count("good-performance", "step_started"), 1);
}

#[test]
#[ignore = "needs the lab"]
fn inside_a_pipe() {
    let lab = Lab::new();
    lab.measures("false | cat").run(&[]).expect_exit(4);
    let lab = Lab::new();
    let keys = format!("image: {}", image("busybox"));
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "(echo from ash; exit 3) | cat", "")));
    lab.run(&[]).expect_exit(4).prints("exit code 3");
}

#[test]
#[ignore = "needs the lab"]
fn a_command_that_is_not_there() {
    let lab = Lab::new();
    lab.measures("mlperf-harness --go")
        .run(&[])
        .expect_exit(4)
        .prints("exit code 127")
        .prints("not found")
        .prints("the image or a mount must have it")
        .prints("bash, -ilc");
}

#[test]
#[ignore = "needs the lab"]
fn a_script_that_is_not_executable() {
    let lab = Lab::new();
    lab.measures("echo true >/tmp/bench.sh; /tmp/bench.sh")
        .run(&[])
        .expect_exit(4)
        .prints("exit code 126")
        .prints("chmod +x");
}

#[test]
#[ignore = "needs the lab"]
fn a_missing_workdir_or_user() {
    let lab = Lab::new();
    let lab = lab.recipe(&recipe(&case("main", "true", "user: nobody-of-that-name")));
    lab.run(&[]).expect_exit(2).prints("nobody-of-that-name").prints("`user:`");
    let lab = Lab::new();
    let lab = lab.recipe(&recipe(&case("main", "pwd", "workdir: /nowhere/at/all")));
    lab.run(&[]).expect_exit(2).prints("/nowhere/at/all").prints("`workdir:`");
}

#[test]
#[ignore = "needs the lab"]
fn a_timeout_terminates_the_whole_process_group() {
    let lab = Lab::new();
    let lab =
        lab.recipe(&recipe(&case("main", "echo begun; sleep 100 | sleep 101", "timeout: 2s")));
    let since = Instant::now();
    let mut going = lab.start(&["--keep", "always"]);
    let done = going.end().expect_exit(4).prints("did not finish within");
    assert!(done.err.contains("timeout:"), "{}", done.err);
    assert!(since.elapsed() < Duration::from_secs(12), "{:?}", since.elapsed());
    let seconds = lab.end_of("main-performance")["seconds"].as_f64();
    assert!(seconds >= Some(2.0), "stopped before its limit: {seconds:?}");
    let processes = lab.docker(&["top", &lab.container(), "-o", "pid,args"]);
    assert!(!processes.contains("sleep 10"), "{processes}");
}

#[test]
#[ignore = "needs the lab"]
fn silent_for_too_long() {
    let lab = Lab::new();
    let lab = lab.recipe(&recipe(&case(
        "main",
        "for i in 1 2 3; do echo $i; sleep 0.5; done; sleep 50",
        "silence: 2s",
    )));
    lab.run(&[]).expect_exit(4).prints("it printed nothing for 2");
}

#[test]
#[ignore = "needs the lab"]
fn leftover_processes_are_terminated_and_reported() {
    let lab = Lab::new();
    let stragglers =
        "sleep 71 &\nsetsid sleep 72 &\nenv -i setsid sleep 73 >/dev/null 2>&1 &\nsleep 0.2";
    let check = "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done | grep 'sleep 7[123]' && exit 1 || true";
    let cases = case("first", stragglers, "") + &case("second", check, "");
    let lab = lab.recipe(&recipe(&cases));
    lab.run(&[]).expect_exit(0);
    let left =
        lab.journal().into_iter().find(|entry| entry["event"] == "leftover_processes").unwrap();
    assert_eq!(left["name"], "first-performance");
    let processes = left["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 3, "{left}");
    assert!(
        processes.iter().all(|process| process.as_str().unwrap().ends_with(" sleep")),
        "{left}"
    );
}

#[test]
#[ignore = "needs the lab"]
fn processes_that_end_shortly_after_are_not_reported() {
    let lab = Lab::new();
    let lab = lab.measures("sleep 0.3 &\nsetsid sleep 0.3 &");
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.count("main-performance", "leftover_processes"), 0);
}

#[test]
#[ignore = "needs the lab"]
fn killed_out_of_memory() {
    let lab = Lab::new();
    let eat = "until test -e /go-on; do sleep 0.05; done\n(tail /dev/zero) || echo survived";
    let lab = lab.recipe(&recipe(&case("main", &format!("echo waiting; {eat}"), "")));
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "waiting");
    let container = lab.container();
    lab.docker(&["update", "--memory", "50m", "--memory-swap", "50m", &container]);
    lab.docker(&["exec", &container, "touch", "/go-on"]);
    going.end().expect_exit(4).prints("out of memory");
}

#[test]
#[ignore = "needs the lab"]
fn leftover_processes_in_the_host_pid_namespace() {
    let lab = Lab::new();
    let commands = "sleep 74 &\nsetsid sleep 75 &\nsleep 0.2; trap 'exit 0' TERM; echo going; for i in $(seq 1 100); do test -e /go-on || sleep 0.1; done";
    let lab = lab.recipe(&recipe_with("container: { pid: host }", &case("main", commands, "")));
    let mut going = lab.start(&["--allow", "host-pid"]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&["exec", &lab.container(), "touch", "/go-on"]);
    going.end().expect_exit(0);
    let left =
        lab.journal().into_iter().find(|entry| entry["event"] == "leftover_processes").unwrap();
    assert_eq!(left["processes"].as_array().unwrap().len(), 2, "{left}");
    let running =
        std::process::Command::new("pgrep").args(["-fx", "sleep 7[45]"]).output().unwrap();
    assert!(running.stdout.is_empty(), "{}", String::from_utf8_lossy(&running.stdout));
}

#[test]
#[ignore = "needs the lab"]
fn leftover_processes_with_an_engine_init() {
    let lab = Lab::new();
    let lab = lab.recipe(&recipe_with(
        "container: { init: true }",
        &case("main", "env -i setsid sleep 76 >/dev/null 2>&1 & sleep 0.2", ""),
    ));
    lab.run(&[]).expect_exit(0);
    let left =
        lab.journal().into_iter().find(|entry| entry["event"] == "leftover_processes").unwrap();
    assert_eq!(left["processes"].as_array().unwrap().len(), 1, "{left}");
}

/// The image's root can write everything below /.retrial.
#[test]
#[ignore = "needs the lab"]
fn a_forged_exit_code_is_detected() {
    let directory = "cd /.retrial/steps/03-main-performance";
    let cases = [
        ("echo 0 >exit; sleep 1; exit 7", "it reported exit code 0 but ended with 7"),
        ("echo 0 >exit; sleep 30", "it reported exit code 0 but is still running"),
        (
            "sed -i 's/code=$?/code=0/' ../../step; exit 7",
            "/.retrial/step, which runs the steps, was changed",
        ),
        (
            "cp ../../processes p; echo 'exit 0' >>../../processes; cat p >../../processes",
            "/.retrial/processes, which runs the steps, was changed",
        ),
    ];
    for (commands, message) in cases {
        let lab = Lab::new();
        let lab = lab.measures(&format!("echo 'speed: 42.5 MB/s'; {directory}\n{commands}"));
        lab.run(&[]).expect_exit(4).prints(message);
        assert_eq!(lab.verdict()["outcome"], "failed", "{commands}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_modified_step_script_stops_further_steps() {
    let lab = Lab::new();
    let forge = "printf 'mkdir \"${0%%/*}/steps/$1/started\"; echo 0 >\"${0%%/*}/steps/$1/exit\"' >/.retrial/step";
    let cases = case("first", forge, "") + &case("second", "exit 7", "");
    let lab = lab.recipe(&recipe_with("", &cases));
    lab.run(&[]).expect_exit(4);
    for step in ["first-performance", "second-performance"] {
        let reason = lab.end_of(step)["reason"].to_string();
        assert!(reason.contains("/.retrial/step, which runs the steps, was changed"), "{reason}");
    }
}

/// What ends a step's processes reads files of the control directory.
#[test]
#[ignore = "needs the lab"]
fn a_pipe_in_the_control_directory_does_not_block() {
    let lab = Lab::new();
    let commands = "cd /.retrial; rm -r steps/*; rm processes; mkfifo processes; exit 7";
    let lab = lab.recipe(&recipe_with("", &case("main", commands, "timeout: 3s")));
    lab.run(&[]).expect_exit(4);
    assert_eq!(lab.verdict()["outcome"], "failed");
    assert_eq!(lab.containers(), [""; 0]);
}
