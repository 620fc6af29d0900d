//! A check that failed, or that is wanted again: it looks at the results that were collected, in a container that
//! may be another one, and nothing is measured again.

use std::fs;

use crate::lab::{Lab, case, image, recipe_with};

const MEASURED: &str =
    "echo once >>/env/measured; mkdir -p /tmp/out/deep; echo 7 >/tmp/out/deep/log";
const CHECK: &str =
    "check: 'cat /env/score && cat /tmp/out/deep/log && cp /env/score /tmp/out/score'";

/// The check needs a file of the host.
fn checking(keys: &str) -> Lab {
    let lab = Lab::new();
    fs::create_dir(lab.path("env")).unwrap();
    // By its absolute path: what is next to the recipe is copied.
    let env = lab.path("env").display().to_string();
    let keys = format!("container: {{ mounts: ['{env}:/env'] }}\n{keys}");
    let cases = case("main", MEASURED, &format!("results: /tmp/out\n{CHECK}"));
    // Any user of the image writes there.
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(lab.path("env"), all).unwrap();
    lab.recipe(&recipe_with(&keys, &cases))
}

fn score(lab: &Lab, speed: &str) {
    fs::write(lab.path("env/score"), format!("speed: {speed} MB/s\n")).unwrap();
}

fn measured(lab: &Lab) -> usize {
    let text = fs::read_to_string(lab.path("env/measured")).unwrap();
    text.lines().count()
}

#[test]
#[ignore = "needs the lab"]
fn after_a_requirement_is_met() {
    let setup = "setup:\n  tool:\n    run: echo set-up";
    let lab = checking(setup);
    let allow = ["--allow", "mounts"];
    lab.run(&allow)
        .expect_exit(4)
        .prints("/env/score: No such file")
        .prints("runs it again on the collected results, without measuring again");
    assert!(lab.containers().is_empty());

    score(&lab, "42.5");
    lab.retrial(&["resume", "last", "--verbose"])
        .expect_exit(0)
        .prints("main-performance: already complete, skipped")
        .prints("the results of step 04 were restored");
    assert_eq!(measured(&lab), 1);
    assert_eq!(lab.output("05-main-performance-check"), "speed: 42.5 MB/s\n7\n");
    let results = "results/main/performance/run_1";
    assert_eq!(lab.text(&format!("{results}/score")), "speed: 42.5 MB/s\n");
    assert_eq!(lab.text(&format!("{results}/deep/log")), "7\n");
    assert_eq!(lab.verdict()["outcome"], "reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn of_a_judged_run() {
    let user = format!("image: {}", image("nonroot"));
    let lab = checking(&user);
    score(&lab, "12");
    lab.run(&["--allow", "mounts"]).expect_exit(1);
    lab.retrial(&["resume", "last"]).expect_exit(1);
    score(&lab, "43");
    let again = ["resume", "last", "--from", "main-performance-check"];
    lab.retrial(&again)
        .expect_exit(0)
        .prints("resumed: main-performance-check was executed again: it had finished");
    assert_eq!(measured(&lab), 1);
    assert_eq!(lab.verdict()["outcome"], "reproduced");
    assert_eq!(lab.text("results/main/performance/run_1/score"), "speed: 43 MB/s\n");

    let refused = lab.retrial(&["resume", "last", "--from", "main-performance"]);
    refused
        .expect_exit(2)
        .prints("only a check can be run again")
        .prints("checks of the run: main-performance-check");
    assert_eq!(lab.verdict()["outcome"], "reproduced");
}

/// The container is still there: its own results are looked at, and collected again.
#[test]
#[ignore = "needs the lab"]
fn in_the_container_that_measured() {
    let lab = checking("");
    let keep = ["--allow", "mounts", "--keep", "on-failure"];
    lab.run(&keep).expect_exit(4);
    score(&lab, "42.5");
    let done = lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(!done.err.contains("were restored"), "{}", done.err);
    assert_eq!(measured(&lab), 1);
    let collected = lab.text("results/main/performance/run_1/score");
    assert_eq!(collected, "speed: 42.5 MB/s\n");
}
