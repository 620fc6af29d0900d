//! A finished run, judged by a recipe that was corrected since: its files are read again, and nothing is measured.

use std::fs;

use crate::lab::{Lab, case, recipe_with};

const MEASURED: &str = "mkdir -p /out; echo '{\"p99\": 12.5}' >/out/result.json";

/// A recipe with a figure of the output and one of a file of the results.
fn recipe(pattern: &str, member: &str, command: &str) -> String {
    let keys = "results: /out";
    let text = case("main", &format!("{MEASURED}\n{command}"), keys);
    let text = text.replace("'speed: ([0-9.]+)'", &format!("'{pattern}'"));
    let text = text.replace(
        "better: higher, noise: 1% }\n",
        &format!(
            "better: higher, noise: 1% }}\n        p99: {{ json: {member}, file: result.json, unit: ms, better: lower, noise: 1% }}\n"
        ),
    );
    recipe_with("params: { size: { type: int, default: 1 } }", &text)
}

#[test]
#[ignore = "needs the lab"]
fn a_corrected_recipe_judges_the_runs_own_files() {
    let right = recipe("speed: ([0-9.]+)", "$.p99", "true");
    let lab = Lab::new().recipe(&recipe("velocity: ([0-9.]+)", "$.tail", "true"));
    lab.run(&["--set", "size=2"]).expect_exit(1);
    assert_eq!(lab.verdict()["outcome"], "invalid");
    fs::write(lab.path("fixed.yaml"), &right).unwrap();
    lab.retrial(&["judge", "last", "--recipe", "fixed.yaml"])
        .expect_exit(0)
        .prints("reproduced")
        .prints("changed recipe: judged by fixed.yaml");
    assert_eq!(lab.verdict()["outcome"], "invalid", "the run keeps its own");
    // Of the output alone.
    let half = recipe("speed: ([0-9.]+)", "$.tail", "true");
    fs::write(lab.path("fixed.yaml"), half).unwrap();
    lab.retrial(&["judge", "last", "--recipe", "fixed.yaml"]).prints("42.5 MB/s");
    let other = recipe_with("params: { rate: { type: int } }", &case("other", "true", ""));
    fs::write(lab.path("other.yaml"), other).unwrap();
    let refused = lab.retrial(&["judge", "last", "--recipe", "other.yaml"]).expect_exit(2);
    let id = lab.id();
    let first = refused.err.lines().next().unwrap();
    assert!(first.starts_with(&format!("error: run {id} is of the recipe ")), "{first}");
    for (changed, names) in [
        (right.replace("\n        true\n", "\n        sync\n"), "steps."),
        (right.replace("bookworm-slim", "bookworm"), "image"),
        (right.replace("results: /out", "results: /other"), "steps."),
        (right.replace("network: host", "network: bridge"), "container."),
    ] {
        assert_ne!(changed, right);
        fs::write(lab.path("fixed.yaml"), changed).unwrap();
        lab.retrial(&["judge", "last", "--recipe", "fixed.yaml"])
            .expect_exit(2)
            .prints("would not execute what the run did")
            .prints(names);
    }
}
