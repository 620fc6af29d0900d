//! Services of a run whose tool is interrupted or killed, whose engine goes away, or to which nobody comes
//! back.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{ASK, HTTP, SERVER, needing, served, service, services};
use crate::lab::{Lab, PrivateEngine, case};

#[test]
#[ignore = "needs the lab"]
fn an_interrupt_stops_the_service() {
    for (phase, step) in
        [("start", "03-main-performance-start-server"), ("measurement", "04-main-performance")]
    {
        for own in ["", "\ncontainer: { ipc: private }"] {
            let lab = Lab::new();
            let run = format!(
                "trap 'echo tidied up; exit 0' TERM; echo going; until [ -e /{phase} ]; do sleep 0.1; done; echo ready; sleep 500 & wait"
            );
            let run = if phase == "start" {
                run
            } else {
                run.replace("until [ -e /measurement ]; do sleep 0.1; done; ", "")
            };
            let lab = served(
                lab,
                &run,
                &format!("ready: {{ log: ready }}{own}"),
                "echo going; sleep 500",
            );
            let mut going = lab.start(&[]);
            lab.until_printed(step, "going");
            going.signal("INT");
            going.end().expect_exit(130).prints("retrial resume");
            assert!(
                lab.output("03-main-performance-start-server").contains("tidied up"),
                "{phase}{own}: it could end by itself"
            );
            assert_eq!(lab.containers(), [""; 0], "{phase}{own}");
        }
    }
}

/// Killed at every kind of event of the journal, and resumed each time.
#[test]
#[ignore = "needs the lab"]
fn killed_at_any_moment() {
    for own in ["", "\ncontainer: { ipc: private }"] {
        let lab = Lab::new();
        let server = service("server", SERVER, &format!("{HTTP}{own}"));
        let once = if own.is_empty() { "; test $(wc -l </starts) = 1" } else { "" };
        let cases = needing("main", &format!("{ASK}; sleep 0.5{once}"), "");
        let lab = lab.recipe(&services(&server, &cases));
        let kind = |entry: &Value| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("name"), text("event"))
        };
        let ended = |entry: &Value| entry["event"] == "run_ended";
        let mut kinds = BTreeSet::new();
        let mut going = lab.start(&[]);
        loop {
            lab.until("something new happened", |lab| {
                lab.journal()
                    .last()
                    .is_some_and(|entry| ended(entry) || !kinds.contains(&kind(entry)))
            });
            let last = lab.journal().pop().unwrap();
            if ended(&last) {
                going.end().expect_exit(0).prints("reproduced");
                break;
            }
            kinds.insert(kind(&last));
            going.kill();
            if lab.journal().last().is_some_and(ended) {
                break;
            }
            going = lab.start_retrial(&["resume", "last"]);
        }
        assert!(kinds.len() >= 10, "killed only at {kinds:?}");
        assert_eq!(lab.containers(), [""; 0]);
        assert_eq!(lab.verdict()["outcome"], "reproduced");
        let output = lab.output("03-main-performance-start-server");
        assert_eq!(output.matches("uuid ").count(), 1, "{output}");
    }
}

/// What runs is found again, and used: the same process, once.
#[test]
#[ignore = "needs the lab"]
fn killed_in_each_phase() {
    let start = "03-main-performance-start-server";
    for phase in ["start", "measurement"] {
        let lab = Lab::new();
        let run = format!("echo going\n{}", SERVER.replace("sleep 1;", "sleep 3;"));
        let lab = served(lab, &run, HTTP, &format!("{ASK}; sleep 3; wc -l </starts"));
        let going = lab.start(&[]);
        match phase {
            "start" => lab.until_printed(start, "uuid"),
            _ => lab.until_printed("04-main-performance", "served by"),
        }
        going.kill();
        lab.retrial(&["resume", "last"]).expect_exit(0).prints("still running, reattached");
        assert_eq!(lab.count("main-performance-start-server", "step_started"), 1);
        assert_eq!(lab.output(start).matches("uuid").count(), 1);
        assert!(lab.output("04-main-performance").contains("\n1\n"));
        assert_eq!(lab.containers(), [""; 0], "{phase}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn killed_and_the_service_died_meanwhile() {
    let lab = Lab::new();
    let lab = served(lab, SERVER, HTTP, &format!("{ASK}; sleep 60"));
    let going = lab.start(&[]);
    lab.until_printed("04-main-performance", "served by");
    going.kill();
    lab.docker(&[
        "exec",
        &lab.container(),
        "sh",
        "-c",
        "kill -9 $(grep -ls perl /proc/[0-9]*/comm | cut -d/ -f3)",
    ]);
    lab.retrial(&["resume", "last"])
        .expect_exit(4)
        .prints("its service server failed: it was terminated by signal 9 (KILL)");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn stopped_by_another_process() {
    for phase in ["start", "measurement"] {
        let lab = Lab::new();
        let lab = served(lab, SERVER, HTTP, &format!("{ASK}; sleep 60"));
        let going = lab.start(&[]);
        match phase {
            "start" => lab.until_printed("03-main-performance-start-server", "uuid"),
            _ => lab.until_printed("04-main-performance", "served by"),
        }
        going.kill();
        lab.retrial(&["stop", "last"]).expect_exit(0);
        assert_eq!(lab.containers(), [""; 0], "{phase}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn killed_and_not_resumed_before_the_deadline() {
    let lab = Lab::new();
    let lab = served(
        lab,
        SERVER,
        &format!("{HTTP}\ncontainer: {{ ipc: private }}"),
        &format!("{ASK}; for i in $(seq 1 100); do test -e /.retrial/go-on || sleep 0.2; done"),
    );
    let going = lab.start(&[]);
    lab.until_printed("04-main-performance", "served by");
    going.kill();
    for control in ["control", "services/server"] {
        let deadline = lab.text(&format!("{control}/deadline"));
        let deadline: i64 = deadline.split(' ').next().unwrap().parse().unwrap();
        assert!(deadline > 24 * 3600, "{control}: the measurement's time, and some grace");
        std::fs::write(lab.the_run().join(control).join("deadline"), "1\n").unwrap();
    }
    lab.until("the containers have ended", |lab| {
        let containers = lab.containers();
        containers.len() == 2 && containers.iter().all(|it| it.ends_with("exited"))
    });
    std::fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert_eq!(lab.count("main-performance-start-server", "service_ready"), 2);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs root and the lab"]
fn the_engine_is_unavailable_when_the_service_is_stopped() {
    let engine = PrivateEngine::start("flow-services");
    let lab = Lab::with_engine(Some(engine.url.clone()));
    let run = format!("cp /bin/sleep /tmp/holder; setsid -f /tmp/holder 500; {SERVER}");
    let server = service("server", &run, HTTP);
    let wait = format!("{ASK}; until test -e /.retrial/go-on; do sleep 0.1; done");
    let cases = needing("main", &wait, "")
        + &case("after", "! grep -ls -e holder -e perl /proc/[0-9]*/comm", "");
    let lab = lab.recipe(&services(&server, &cases));
    let mut going = lab.start(&[]);
    lab.until_printed("04-main-performance", "served by");
    engine.kill();
    std::fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    lab.until_begun("main-performance-stop-server");
    lab.until("it waits for the engine", |lab| {
        lab.count("main-performance-stop-server", "warning") > 0
    });
    engine.start_again();
    going.end().expect_exit(0).prints("reproduced");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn its_own_container_is_killed_during_a_measurement() {
    let lab = Lab::new();
    let keys = format!("{HTTP}\ncontainer: {{ ipc: private }}");
    let server = service("server", SERVER, &keys);
    let cases = needing("main", &format!("{ASK}; sleep 60"), "") + &needing("other", ASK, "");
    let lab = lab.recipe(&services(&server, &cases));
    let mut going = lab.start(&[]);
    lab.until_printed("04-main-performance", "served by");
    lab.docker(&["kill", &format!("retrial-{}-server", lab.id())]);
    going
        .end()
        .expect_exit(4)
        .prints("its service server failed: the container ended with exit code 137");
    assert_eq!(lab.end_of("main-performance")["fault"], "command");
    assert_eq!(lab.end_of("other-performance")["end"], "done");
    assert_eq!(lab.containers(), [""; 0]);
}

/// The next measurement must not run next to it.
#[test]
#[ignore = "needs the lab"]
fn a_restarted_service_is_stopped_again() {
    let lab = Lab::new();
    let server = service("server", "echo ready; exec sleep 43210", "ready: { log: ready }");
    let run = "echo going; until [ -e /go ]; do sleep 0.1; done";
    let alone = "! grep -qs '4321[0]' /proc/[0-9]*/cmdline";
    let cases = needing("first", run, "") + &case("second", alone, "");
    let lab = lab.recipe(&services(&server, &cases));
    let mut going = lab.start(&[]);
    lab.until_printed("04-first-performance", "going");
    lab.docker(&["kill", &lab.container()]);
    going.end().expect_exit(3);
    let mut going = lab.start_retrial(&["resume", "last"]);
    lab.until("it is measured again", |lab| lab.count("first-performance", "step_started") == 2);
    lab.docker(&["exec", &lab.container(), "touch", "/go"]);
    going.end().expect_exit(0);
    assert_eq!(lab.count("first-performance-stop-server", "step_started"), 2);
}
