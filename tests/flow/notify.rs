//! `--notify`: a command of the user at the end of a run or a batch.

use serde_json::Value;

use crate::batch::{Batches as _, varied};
use crate::lab::Lab;

const UNTIL_GO_ON: &str =
    "echo going\nfor i in $(seq 1 600); do test -e /go-on && break; sleep 0.2; done";

/// What the command read, which it has written next to the recipe.
fn notified(lab: &Lab) -> Value {
    serde_json::from_str(&std::fs::read_to_string(lab.path("end.json")).unwrap()).unwrap()
}

#[test]
#[ignore = "needs the lab"]
fn a_run_gives_its_verdict_to_the_command() {
    let lab = Lab::new().measures("true");
    let done = lab.run(&["--notify", "cat > end.json; echo told"]);
    done.expect_exit(0).prints("told");
    let read = notified(&lab);
    assert_eq!(read["verdict"], lab.verdict());
    assert_eq!(read["run"], lab.id().as_str());
    assert_eq!(read["path"], lab.the_run().to_str().unwrap());
    assert_eq!(read["exit_code"], 0);
}

/// It reads nothing of its input.
#[test]
#[ignore = "needs the lab"]
fn a_command_that_fails_changes_no_exit_code() {
    let lab = Lab::new().measures("true");
    let done = lab.run(&["--notify", "exit 3"]).expect_exit(0);
    done.prints("warning: --notify 'exit 3': ended with exit status: 3").prints("reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn the_background_process_notifies_of_a_run_that_is_stopped() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    lab.start(&["--detach", "--notify", "cat > end.json"]).end().expect_exit(0);
    lab.until_printed("03-main-performance", "going");
    assert!(!lab.path("end.json").exists());
    lab.retrial(&["stop", "last"]).expect_exit(0);
    lab.until("the command has read", |lab| {
        std::fs::read(lab.path("end.json")).is_ok_and(|text| text.ends_with(b"\n"))
    });
    let read = notified(&lab);
    assert_eq!((&read["exit_code"], &read["run"]), (&Value::from(130), &lab.id().into()));
}

#[test]
#[ignore = "needs the lab"]
fn the_verdict_of_a_batch_is_given_once() {
    let lab = Lab::new().recipe(&varied("", "true"));
    lab.batch(&["--trials", "1", "--notify", "cat >> end.json"]).expect_exit(0);
    let read = notified(&lab);
    assert_eq!(read["batch"], lab.batch_id().as_str());
    assert_eq!(read["verdict"]["sentence"], lab.batch_verdict()["sentence"]);
}
