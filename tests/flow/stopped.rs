//! A person stops a run, lets it go on alone, looks into it, cleans up.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use crate::lab::{Lab, case, image, recipe_with};

#[test]
#[ignore = "needs the lab"]
fn an_interrupt_stops_everything_and_preserves_the_evidence() {
    for signal in ["INT", "TERM"] {
        let lab = Lab::new();
        let cases = case("first", "mkdir /first; date >/first/when", "results: /first")
            + &case(
                "second",
                "trap 'echo tidied up; exit 0' TERM\necho going\nfor i in $(seq 1 100); do test -e /go-on || sleep 0.2; done",
                "",
            );
        let lab = lab.recipe(&recipe_with("", &cases));
        let mut going = lab.start(&[]);
        lab.until_printed("05-second-performance", "going");
        going.signal(signal);
        going.end().expect_exit(130).prints("retrial resume");
        assert_eq!(lab.containers(), [""; 0]);
        assert!(
            lab.output("05-second-performance").contains("tidied up"),
            "it could end by itself"
        );
        assert!(!lab.the_run().join("verdict.json").exists(), "what was stopped is not judged");
        let first = lab.text("results/first/performance/run_1/when");

        let resumed = lab.start_retrial(&["resume", "last"]);
        lab.until("the second container", |lab| {
            lab.count("second-performance", "step_started") == 2
        });
        lab.until_printed("05-second-performance", "going");
        lab.docker(&["exec", &lab.container(), "touch", "/go-on"]);
        let mut resumed = resumed;
        resumed.end().expect_exit(0).prints("reproduced");
        assert_eq!(lab.count("first-performance", "step_started"), 1);
        assert_eq!(lab.text("results/first/performance/run_1/when"), first);
    }
}

/// The process ends before the step does, which has been told to end: that is no failure of its own.
#[test]
#[ignore = "needs the lab"]
fn a_step_that_was_told_to_end_is_executed_again() {
    for commands in ["echo going; sleep 2", "trap 'sleep 2; exit 7' TERM; echo going; sleep 1"] {
        let lab = Lab::new().measures(commands);
        let mut going = lab.start(&[]);
        lab.until_printed("03-main-performance", "going");
        going.signal("INT");
        lab.until("the step is told to end", |lab| {
            lab.count("main-performance", "step_stopping") == 1
        });
        going.signal("INT");
        going.end().expect_exit(130).prints("exiting at once");
        lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
        assert_eq!(lab.count("main-performance", "step_started"), 2);
        assert_eq!(lab.containers(), [""; 0]);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_verdict_on_a_run_in_progress_states_that_it_is() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 60");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.retrial(&["judge", "last"])
        .prints("- main: its measurement has not ended.")
        .prints("- in progress: 0 of 1 result measured.")
        .prints("follow it: retrial")
        .does_not_print("failed");
    lab.retrial(&["judge", "last", "--output", "junit"])
        .expect_exit(5)
        .prints("errors=\"0\"")
        .prints("<skipped");
    lab.retrial(&["report", "last", "--output", "text"]).prints("the run is in progress (process ");
    going.signal("INT");
    going.end().expect_exit(130);
}

#[test]
#[ignore = "needs the lab"]
fn a_step_that_ignores_term_is_killed() {
    let lab = Lab::new();
    let lab = lab.measures("trap '' TERM INT\necho going\nsleep 60 & wait; sleep 60");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    let since = Instant::now();
    going.signal("INT");
    going.end().expect_exit(130);
    assert!(since.elapsed() < Duration::from_secs(25), "{:?}", since.elapsed());
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_second_interrupt_exits_immediately() {
    let lab = Lab::new();
    let lab = lab.measures("trap '' TERM INT\necho going\nsleep 60 & wait; sleep 60");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.signal("INT");
    lab.until("the first is heard", |_| going.printed("a second signal exits"));
    let is_stored = |text: &str| lab.text("journal.jsonl").contains(text);
    assert!(!is_stored("a second signal"), "attach would repeat it");
    let since = Instant::now();
    going.signal("INT");
    going.end().expect_exit(130).prints("retrial clean");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    assert_eq!(lab.containers().len(), 1, "it ends at its deadline");
    let deadline = lab.text("control/deadline");
    let (deadline, _) = deadline.split_once(' ').unwrap();
    assert!(deadline.parse::<u32>().unwrap() > 0);

    let id = lab.id();
    lab.retrial(&["clean", &id, "--all", "--dry-run"]).expect_exit(0).prints("would remove");
    assert_eq!(lab.containers().len(), 1);
    lab.retrial(&["clean", &id, "--all"]).expect_exit(0).prints("removed");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn an_interrupt_during_endless_output_is_handled() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; timeout 20 yes 'a line of a chatty benchmark'");
    let mut going = lab.start(&[]);
    lab.until_begun("main-performance");
    let output = lab.the_run().join("steps/03-main-performance/output.log");
    lab.until("it has printed a lot", |_| {
        std::fs::metadata(&output).is_ok_and(|output| output.len() > 10 << 20)
    });
    let since = Instant::now();
    going.signal("INT");
    going.end().expect_exit(130);
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn an_interrupt_during_judging_is_handled() {
    let lab = Lab::new();
    let commands = "truncate -s 500G /proc/self/fd/1";
    let lab = lab.recipe(&recipe_with(
        "",
        &case("main", commands, "max_log: 1 TiB").replace("echo 'speed: 42.5 MB/s'", "true"),
    ));
    let mut going = lab.start(&[]);
    lab.until_begun("judge");
    let since = Instant::now();
    going.signal("TERM");
    going.end().expect_exit(130).prints("retrial resume");
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_hangup_detaches_the_run() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 1.5");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.signal("HUP");
    going.end().expect_exit(0).prints("reproduced");
    let detached = lab.journal().into_iter().find(|entry| entry["event"] == "detached").unwrap();
    assert!(detached["resume"].as_str().unwrap().contains(&lab.id()), "{detached}");
}

#[test]
#[ignore = "needs the lab"]
fn in_the_background_and_followed() {
    let lab = Lab::new();
    let lab = lab.measures("for i in $(seq 1 20); do echo \"line $i\"; sleep 0.1; done");
    let id = lab.run(&["--detach"]).expect_exit(0).out.trim().to_owned();
    assert_eq!(id, lab.id());
    let followed = lab.retrial(&["logs", "-f", &id]).expect_exit(0);
    let lines: Vec<&str> = followed.out.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 20, "{}", followed.out);
    lab.retrial(&["judge", &id]).expect_exit(0).prints("reproduced");
    lab.retrial(&["runs"]).expect_exit(0).prints("reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn stopped_through_its_follower() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 60");
    lab.run(&["--detach"]).expect_exit(0);
    lab.until_printed("03-main-performance", "going");
    lab.retrial(&["stop", "last"]).expect_exit(0).prints("stopped");
    assert_eq!(lab.containers(), [""; 0]);
    lab.retrial(&["stop", "last"]).expect_exit(0).prints("already ended");
}

#[test]
#[ignore = "needs the lab"]
fn stopped_on_behalf_of_its_follower() {
    let lab = Lab::new();
    let lab = lab.measures("trap 'echo told to end; exit 0' TERM\necho going; for i in $(seq 1 300); do sleep 0.2; done");
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    lab.retrial(&["stop", "last"]).expect_exit(0).prints("stopped");
    assert_eq!(lab.containers(), [""; 0]);
    assert!(lab.output("03-main-performance").contains("told to end"));
    assert_eq!(lab.journal().last().unwrap()["exit_code"], 130);
}

#[test]
#[ignore = "needs the lab"]
fn a_shell_in_the_container_outlives_the_step() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 1");
    let mut going = lab.start(&["--keep", "always"]);
    lab.until_printed("03-main-performance", "going");
    let mut shell = lab.start_retrial(&[
        "shell",
        "last",
        "--",
        "sh",
        "-c",
        "echo looking; sleep 3; echo looked",
    ]);
    let container = lab.container();
    let mut own = std::process::Command::new("docker")
        .args(["exec", &container, "sh", "-c", "sleep 3; echo mine"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    going.end().expect_exit(0);
    shell.end().expect_exit(0).prints("looked");
    let status = own.wait().unwrap();
    assert!(status.success(), "somebody's own `docker exec` was ended: {status}");
    assert_eq!(lab.count("main-performance", "leftover_processes"), 0);

    // Kept, without a deadline, until it is cleaned.
    assert_eq!(lab.containers().len(), 1);
    assert_eq!(lab.text("control/deadline").trim(), "never");
    lab.retrial(&["shell", "last", "--", "true"]).expect_exit(0);
    lab.retrial(&["clean", "last"]).expect_exit(0).prints("removed retrial-");
    lab.retrial(&["shell", "last", "--", "true"]).expect_exit(3);
}

#[test]
#[ignore = "needs the lab"]
fn the_container_remains_only_after_a_failure() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--keep", "on-failure"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
    let lab = Lab::new();
    let lab = lab.measures("exit 9");
    lab.run(&["--keep", "on-failure"]).expect_exit(4).prints("retrial shell");
    assert_eq!(lab.containers().len(), 1);
    lab.retrial(&["clean", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn clean_leaves_other_containers() {
    let lab = Lab::new();
    let lab = lab.measures("exit 9");
    let name = format!("flow-foreign-{}", std::process::id());
    lab.docker(&[
        "run",
        "-d",
        "--name",
        &name,
        "--label",
        "io.retrial.other=1",
        &image("busybox"),
        "sleep",
        "60",
    ]);
    lab.run(&["--keep", "always"]).expect_exit(4);
    lab.retrial(&["clean", "last"]).expect_exit(0);
    let running = lab.docker(&["inspect", "-f", "{{.State.Running}}", &name]);
    lab.docker(&["rm", "-f", &name]);
    assert_eq!(running, "true");
    assert_eq!(lab.containers(), [""; 0]);
}

/// Each machine of a run has a directory of its own, with its plan.
#[test]
#[ignore = "needs the lab"]
fn clean_searches_what_a_container_of_another_machine_could_write() {
    let lab = Lab::new().file("own/x", "").env("SUDO_USER", "").env("USER", "flow");
    let keys = "container: { mounts: ['./own:/own'] }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    lab.run(&[]).expect_exit(0);
    let (run, id) = (lab.the_run(), lab.id());
    let part = run.join("nodes/n2");
    std::fs::create_dir_all(part.join("writable/own")).unwrap();
    for file in ["plan.json", "journal.jsonl"] {
        std::fs::copy(run.join(file), part.join(file)).unwrap();
    }
    let left = part.join("writable/own/sh");
    std::fs::write(&left, "").unwrap();
    std::fs::set_permissions(&left, Permissions::from_mode(0o4755)).unwrap();
    let name = format!("retrial-flow-n2-{}", std::process::id());
    let path = format!("io.retrial.path={}", part.display());
    let run_label = format!("io.retrial.run={id}");
    let image = image("busybox");
    let labels = ["--label", &run_label, "--label", &path, "--label", "io.retrial.user=flow"];
    lab.docker(&[&["create", "--name", &name][..], &labels, &[&image, "true"]].concat());
    let cleaned = lab.retrial(&["clean", &id]).expect_exit(0).prints(&format!("removed {name}"));
    cleaned.prints(&format!("{}: its privileges were removed", left.display()));
    assert_eq!(left.metadata().unwrap().permissions().mode() & 0o6000, 0);
}

#[test]
#[ignore = "needs the lab"]
fn clean_leaves_containers_of_other_users() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&[]).expect_exit(0);
    let id = lab.id();
    let name = format!("retrial-flow-ann-{}", std::process::id());
    let labels = [
        format!("io.retrial.run={id}"),
        "io.retrial.path=/home/ann/.local/share/retrial/runs/hers".to_owned(),
        "io.retrial.user=ann".to_owned(),
    ];
    let mut words = vec!["run", "-d", "--name", &name];
    words.extend(labels.iter().flat_map(|label| ["--label", label]));
    let image = image("busybox");
    words.extend([image.as_str(), "sleep", "60"]);
    lab.docker(&words);
    lab.retrial(&["clean", "--all", "--dry-run"])
        .expect_exit(0)
        .prints(&format!("{name}: skipped: it belongs to ann"))
        .does_not_print(&format!("would remove {name}"));
    lab.retrial(&["clean", &id, "--all"])
        .expect_exit(0)
        .prints("root can remove it: --all-users")
        .prints("nothing to remove");
    assert_eq!(lab.containers(), [format!("{name} running")]);
    let removed = lab.retrial(&["clean", &id, "--all", "--all-users"]);
    if rustix::process::getuid().is_root() {
        removed.expect_exit(0).prints(&format!("removed {name}"));
        assert_eq!(lab.containers(), [""; 0]);
    } else {
        removed.expect_exit(2).prints("--all-users needs root");
    }
}

/// A laptop that was closed, a host that was busy: what ended in time has ended in time.
#[test]
#[ignore = "needs the lab"]
fn a_tool_that_was_stopped_judges_a_step_by_its_own_end() {
    let lab = Lab::new();
    let lab = lab
        .recipe(&recipe_with("", &case("main", "echo going; sleep 1; echo done", "timeout: 4s")));
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.signal("STOP");
    lab.until_printed("03-main-performance", "done");
    std::thread::sleep(Duration::from_secs(5));
    going.signal("CONT");
    going.end().expect_exit(0).prints("reproduced");
}

/// Nobody could see when it became ready.
#[test]
#[ignore = "needs the lab"]
fn a_tool_that_was_stopped_waits_for_a_service_as_long_as_ever() {
    let lab = Lab::new();
    let service = "services:\n  server:\n    run: echo going; sleep 1; echo serving; exec sleep 60\n    ready: { log: serving, timeout: 4s }";
    let lab = lab.recipe(&recipe_with(service, &case("main", "true", "needs: [server]")));
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance-start-server", "going");
    going.signal("STOP");
    lab.until_printed("03-main-performance-start-server", "serving");
    std::thread::sleep(Duration::from_secs(5));
    going.signal("CONT");
    going.end().expect_exit(0).prints("reproduced");
}
