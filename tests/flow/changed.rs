//! A run that is not the recipe's own: whatever changed what was measured stands next to the outcome, wherever that
//! is printed.

use crate::lab::{Lab, recipe_with};

/// A setup step without which the benchmark is faster than published.
const SETUP: &str = "setup:
  lock-clocks: { run: echo 21 >/tmp/speed }
  unpack: { run: 'true' }";
const MEASURE: &str = "echo \"speed: $(cat /tmp/speed 2>/dev/null || echo 42) MB/s\"";

/// A case that runs one command; more keys of its mode.
fn case(command: &str, keys: &str) -> String {
    format!(
        "  main:
    performance:
      run: |
        {command}
      {keys}
      figures: {{ speed: {{ pattern: 'speed: ([0-9]+) MB/s', unit: MB/s, noise: 1% }} }}
      expect: {{ speed: {{ value: 42, kind: official, source: here }} }}
"
    )
}

fn lab() -> Lab {
    Lab::new().recipe(&recipe_with(SETUP, &case(MEASURE, "")))
}

/// The reasons of a verdict's qualifiers of a kind.
fn reasons(lab: &Lab, kind: &str) -> Vec<String> {
    let verdict = lab.verdict();
    let qualifiers = verdict["qualifiers"].as_array().unwrap().iter();
    let of_kind = qualifiers.filter(|one| one["kind"] == kind);
    of_kind.map(|one| one["reason"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs the lab"]
fn a_run_of_the_recipe_alone_is_not_modified() {
    let lab = lab();
    lab.run(&[]).expect_exit(1);
    assert_eq!(reasons(&lab, "modified"), Vec::<String>::new());
}

#[test]
#[ignore = "needs the lab"]
fn a_skipped_step_is_named_wherever_the_outcome_is_printed() {
    let lab = lab();
    lab.run(&["--skip", "setup-lock-clocks"])
        .expect_exit(0)
        .prints("reproduced (modified): The published figure holds.")
        .prints("modified: --skip setup-lock-clocks")
        .prints("judge: reproduced (modified, unpinned image)");
    assert_eq!(reasons(&lab, "modified"), ["--skip setup-lock-clocks"]);
    lab.retrial(&["judge", "last"]).expect_exit(0).prints("modified: --skip setup-lock-clocks");
    lab.retrial(&["runs"]).expect_exit(0).prints("reproduced (modified, unpinned");
    let report = |format: &str| lab.retrial(&["report", "last", "--output", format]);
    for format in ["markdown", "html", "junit", "csv", "json"] {
        report(format).expect_exit(0).prints("--skip setup-lock-clocks");
    }
    report("csv").prints(",qualifiers,");
    report("junit").prints("value=\"reproduced (modified, unpinned image)\"");
}

#[test]
#[ignore = "needs the lab"]
fn a_run_that_starts_later_names_the_steps_that_it_left_out() {
    let lab = lab();
    let expected = "--from main-performance (without setup-lock-clocks, setup-unpack)";
    lab.run(&["--from", "main-performance"])
        .expect_exit(0)
        .prints(&format!("modified: {expected}"));
    assert_eq!(reasons(&lab, "modified"), [expected]);
}

#[test]
#[ignore = "needs the lab"]
fn a_check_that_ran_again_is_a_qualifier() {
    let lab = Lab::new();
    let check =
        "test -e /tmp/again && echo 'speed: 42 MB/s' || echo 'speed: 10 MB/s'; touch /tmp/again";
    let keys = format!("results: /tmp/out\n      check: |\n        {check}");
    let measure = "mkdir -p /tmp/out; echo 1 >/tmp/out/log";
    let lab = lab.recipe(&recipe_with("", &case(measure, &keys)));
    lab.run(&["--keep", "always"]).expect_exit(1);
    lab.retrial(&["resume", "last", "--from", "main-performance-check"])
        .expect_exit(0)
        .prints("resumed: main-performance-check was executed again: it had finished");
    assert_eq!(lab.verdict()["outcome"], "reproduced");
    lab.retrial(&["clean", "last"]).expect_exit(0);
}
