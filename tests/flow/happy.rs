//! A run that nothing happens to.

use crate::lab::{Lab, case, recipe, recipe_with};

#[test]
#[ignore = "needs the lab"]
fn a_run_ends_with_a_verdict_and_its_run_directory() {
    let lab = Lab::new();
    let cases = case("main", "mkdir -p /results; echo done >/results/out.txt", "results: /results");
    let lab = lab.recipe(&recipe_with("setup:\n  tool:\n    run: echo ready", &cases));
    lab.run(&[]).expect_exit(0).prints("reproduced");
    assert_eq!(lab.containers(), [""; 0]);

    let run = lab.the_run();
    for file in ["recipe.yaml", "plan.json", "host.json", "journal.jsonl", "verdict.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    assert_eq!(lab.output("03-setup-tool"), "ready\n");
    assert_eq!(lab.output("04-main-performance"), "speed: 42.5 MB/s\n");
    assert_eq!(lab.text("results/main/performance/run_1/out.txt"), "done\n");
    let journal = lab.journal();
    assert_eq!(journal.first().unwrap()["event"], "run_started");
    assert_eq!(journal.last().unwrap()["event"], "run_ended");
    assert_eq!(journal.last().unwrap()["exit_code"], 0);
    assert!(
        journal
            .iter()
            .filter(|entry| entry["event"] == "step_ended")
            .all(|entry| entry["end"] == "done")
    );

    // The files alone give the same verdict, byte for byte.
    let stored: serde_json::Value = lab.verdict();
    let judged = lab.retrial(&["judge", run.to_str().unwrap(), "--output", "json"]).expect_exit(0);
    assert_eq!(judged.out.trim(), serde_json::to_string(&stored).unwrap());
    // Nothing is left to do, and no engine is needed for that.
    let engine = ["--engine", "unix:///nowhere/docker.sock"];
    let resumed = lab
        .retrial(&[&["resume", "last", "--output", "json"], &engine[..]].concat())
        .expect_exit(0);
    assert_eq!(resumed.out, judged.out);
}

#[test]
#[ignore = "needs the lab"]
fn require_accuracy_also_applies_to_later_judging() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--require-accuracy"]).expect_exit(5);
    let run = lab.the_run();
    lab.retrial(&["judge", run.to_str().unwrap()]).expect_exit(5);
}

#[test]
#[ignore = "needs the lab"]
fn trials_are_added_until_the_evidence_decides() {
    let lab = Lab::new();
    let commands = "case ${{ trial }} in 1) echo 'rate: 41.9';; 2) echo 'rate: 42.1';; *) echo 'rate: 42.0';; esac";
    let noisy = "  noisy:\n    performance:\n      run: |\n        COMMANDS\n      trials: { min: 3, max: 8 }\n      figures:\n        rate: { pattern: 'rate: ([0-9.]+)', unit: req/s, better: higher }\n      expect:\n        rate: { value: 42, kind: official, source: here }\n";
    let lab = lab.recipe(&recipe(&noisy.replace("COMMANDS", commands)));
    lab.run(&[]).expect_exit(0).prints("reproduced");
    let decisions: Vec<_> = lab
        .journal()
        .into_iter()
        .filter(|entry| entry["event"] == "decided" && entry["name"] != "pull")
        .collect();
    assert_eq!(decisions.len(), 5, "{decisions:#?}");
    assert!(
        decisions[0]["decision"].as_str().unwrap().starts_with("decided after 3 trials"),
        "{decisions:#?}"
    );
    assert_eq!(lab.end_of("noisy-performance-3")["end"], "done");
    assert_eq!(lab.end_of("noisy-performance-4")["end"], "skipped");
}

#[test]
#[ignore = "needs the lab"]
fn the_number_of_trials_can_be_chosen() {
    let lab = Lab::new();
    let lab = lab.measures("echo trial ${{ trial }}");
    lab.run(&["--trials", "3"]).expect_exit(0);
    for trial in 1..=3 {
        let step = format!("{:02}-main-performance-{trial}", trial + 2);
        assert!(lab.output(&step).starts_with(&format!("trial {trial}\n")), "{step}");
    }
}

/// Whoever executes it, this program or a script of its own.
#[test]
#[ignore = "needs the lab"]
fn a_smoke_test_shows_figures_and_compares_none() {
    let keys = "params: { options: { type: string, default: '' } }\nsmoke_test: { params: { options: { default: seconds=0 } } }";
    // Fifty times as slow as published.
    let commands = "set -- seconds=600 ${{ params.options }}; for option; do export \"$option\"; done\nsleep \"$seconds\"; echo 'rate: 1 req/s'";
    let more = "trials: 3\nwarmup: 1";
    let accuracy = "    accuracy:\n      run: exit 1\n      figures: { score: { pattern: 'score: ([0-9.]+)' } }\n";
    let cases = case("main", commands, more).replace("speed: 42.5", "speed: 0.8") + accuracy;
    let lab = Lab::new().recipe(&recipe_with(keys, &cases));
    let expected = "smoke test: not comparable with the published figure";
    lab.run(&["--smoke-test"]).expect_exit(0).prints(expected);
    let verdict = lab.verdict();
    assert_eq!(verdict["outcome"], "measured");
    assert_eq!(verdict["results"].as_array().unwrap().len(), 1);
    assert_eq!(verdict["results"][0]["figures"]["speed"]["value"], 0.8);
    assert_eq!(verdict["results"][0]["ratio"], serde_json::Value::Null);
    let run = lab.the_run();
    lab.retrial(&["judge", run.to_str().unwrap()])
        .expect_exit(0)
        .prints(expected)
        .does_not_print("warning");
    lab.retrial(&["runs"]).prints("measured (smoke test");

    let recipe = lab.path("recipe.yaml");
    let plan = ["plan", recipe.to_str().unwrap(), "--smoke-test", "--format", "shell"];
    let script = lab.retrial(&plan).expect_exit(0).out;
    let by_hand = lab.script(&script);
    let printed = String::from_utf8_lossy(&by_hand.stdout).into_owned();
    assert!(printed.contains(expected), "{by_hand:?}");
}
