//! Watches a run or a batch in a terminal, detaches from it, and reattaches.

use std::path::PathBuf;

use crate::batch::Batches as _;
use crate::batch::varied;
use crate::lab::{Going, Lab};

const STEP: &str = "03-main-performance";
const CTRL_C: &str = "\x03";

/// A measurement that runs until a file appears in its container.
const UNTIL_GO_ON: &str =
    "echo going\nfor i in $(seq 1 600); do test -e /go-on && break; sleep 0.2; done";

/// A run in progress, shown in a terminal.
fn watched(lab: &Lab) -> Going<'_> {
    let shown = lab.start_in_terminal(&["run", "./recipe.yaml"]);
    lab.until_printed(STEP, "going");
    shown
}

fn go_on(lab: &Lab) {
    lab.docker(&["exec", &lab.container(), "touch", "/go-on"]);
}

/// Whether a warning of the run's journal begins so.
fn is_warned(lab: &Lab, start: &str) -> bool {
    let journal = lab.journal();
    let mut texts = journal.iter().filter_map(|event| event["text"].as_str());
    texts.any(|text| text.starts_with(start))
}

#[test]
#[ignore = "needs the lab"]
fn a_key_leaves_a_run_to_the_background_and_attach_shows_it_again() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    let mut shown = watched(&lab);
    shown.press("d");
    let id = lab.id();
    shown
        .end()
        .expect_exit(0)
        .prints(&format!("detached: {id} continues in the background"))
        .prints(&format!("attach {id}"));
    lab.until("the background process reattached", |lab| {
        lab.count("main-performance", "step_reattached") == 1
    });
    let mut attached = lab.start_retrial(&["attach"]);
    go_on(&lab);
    attached.end().expect_exit(0).prints("attached; Ctrl-C leaves it running").prints("reproduced");
    assert_eq!(lab.count("main-performance", "step_started"), 1);
}

#[test]
#[ignore = "needs the lab"]
fn whoever_attached_leaves_without_stopping_the_run() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    lab.start(&["--detach"]).end().expect_exit(0);
    lab.until_printed(STEP, "going");
    let mut attached = lab.start_in_terminal(&["attach", "last"]);
    lab.until("it is shown", |_| attached.printed("Ctrl-C leaves it running"));
    attached.press(CTRL_C);
    attached.end();
    assert!(!is_warned(&lab, "stop"), "{:#?}", lab.journal());
    go_on(&lab);
    lab.until("the verdict", |lab| lab.the_run().join("verdict.json").exists());
}

#[test]
#[ignore = "needs the lab"]
fn ctrl_c_asks_and_a_second_one_stops() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    let mut shown = watched(&lab);
    shown.press(CTRL_C);
    lab.until("it asks", |_| shown.printed("stop or detach?"));
    shown.press(CTRL_C);
    shown.end().expect_exit(130).prints("retrial resume");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn ctrl_c_asks_and_a_key_detaches() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    let mut shown = watched(&lab);
    shown.press(CTRL_C);
    lab.until("it asks", |_| shown.printed("stop or detach?"));
    shown.press("d");
    shown.end().expect_exit(0).prints("detached: ");
    let mut attached = lab.start_in_terminal(&["attach", "last"]);
    lab.until("it is shown", |_| attached.printed("detached from its terminal"));
    assert!(!attached.printed("stop or detach?"), "it is not asked again");
    attached.press(CTRL_C);
    attached.end();
    lab.retrial(&["stop", "last"]).expect_exit(0).prints("stopped");
    assert_eq!(lab.containers(), [""; 0]);
    assert_eq!(lab.count("main-performance", "step_started"), 1);
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_is_stopped_as_soon_as_it_is_left_to_the_background() {
    let lab = Lab::new().recipe(&varied("", UNTIL_GO_ON));
    let mut shown = lab.start_in_terminal(&["batch", "./recipe.yaml", "--vary", "word=one,two"]);
    lab.until_printed(STEP, "going");
    shown.press("d");
    shown.end().expect_exit(0).prints("detached: ");
    lab.retrial(&["stop", "last"]).expect_exit(0).prints("stopped");
    lab.until("no container is left", |lab| lab.containers().is_empty());
    assert_eq!(lab.runs().len(), 1, "no further run started");
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_is_left_to_the_background_and_shown_again() {
    let lab = Lab::new().recipe(&varied("", UNTIL_GO_ON));
    let mut shown = lab.start_in_terminal(&["batch", "./recipe.yaml", "--vary", "word=one,two"]);
    lab.until_printed(STEP, "going");
    shown.press("d");
    let id = lab.batch_id();
    shown.end().expect_exit(0).prints(&format!("detached: {id} continues in the background"));
    let mut attached = lab.start_retrial(&["attach", "last"]);
    // Two runs of one second are listed in any order.
    let mut seen = Vec::new();
    for _ in 0..2 {
        let measures = |run: &PathBuf| {
            let output = std::fs::read_to_string(run.join("steps").join(STEP).join("output.log"));
            !seen.contains(run) && output.is_ok_and(|text| text.contains("going"))
        };
        lab.until("the run measures", |lab| lab.runs().iter().any(measures));
        let run = lab.runs().into_iter().find(measures).unwrap();
        seen.push(run.clone());
        let id = run.file_name().unwrap().display().to_string();
        let label = format!("label=io.retrial.run={id}");
        let container = lab.docker(&["ps", "-q", "--filter", &label]);
        lab.docker(&["exec", &container, "touch", "/go-on"]);
    }
    attached.end().expect_exit(0).prints("2 cells: 2 reproduced");
}
