//! Other people's doings: the container is killed or removed, another run is under way.

use crate::lab::Lab;

#[test]
#[ignore = "needs the lab"]
fn the_container_is_killed_during_a_step() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; sleep 30");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&["kill", &lab.container()]);
    going
        .end()
        .expect_exit(3)
        .prints("the container ended")
        .prints("going")
        .prints("retrial resume");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn the_container_is_removed_during_a_step() {
    let lab = Lab::new();
    let lab = lab.measures("echo going; test -e /proc/1/fd/77 || sleep 2");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&["rm", "-f", &lab.container()]);
    going.end().expect_exit(3).prints("removed by someone else");
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn two_concurrent_runs() {
    let (lab, other) = (Lab::new(), Lab::new());
    let lab = lab.measures("echo one; sleep 1");
    let other = other.measures("echo other; sleep 1");
    let (mut first, mut second) = (lab.start(&[]), other.start(&[]));
    first.end().expect_exit(0);
    second.end().expect_exit(0);
    assert!(lab.output("03-main-performance").starts_with("one\n"));
    assert!(other.output("03-main-performance").starts_with("other\n"));
}

#[test]
#[ignore = "needs the lab"]
fn the_container_is_stopped_during_a_step() {
    let lab = Lab::new();
    let lab = lab.measures("trap 'echo told to end; exit 0' TERM\necho going; for i in $(seq 1 200); do sleep 0.2; done");
    let mut going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    lab.docker(&["stop", &lab.container()]);
    going.end().expect_exit(3).prints("the container was stopped").prints("told to end");
    assert_eq!(lab.containers(), [""; 0]);
}
