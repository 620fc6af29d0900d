//! `retrial runs`: which runs are listed, their order and their columns.

use std::fs;

use serde_json::{Value, json};

use super::evidence::REPRODUCED;
use super::many_runs::{Many, Went};
use super::{Scene, ids};

#[test]
fn filters_select_runs_and_the_newest_is_last() {
    let scene = Scene::new(0..30);
    assert_eq!(scene.listed(&[]), ids(0..30));
    assert_eq!(scene.listed(&["--limit", "2"]), ids(28..30));
    let chosen = scene.listed(&["--set", "rocm=7.1.1", "--set", "backend=vllm"]);
    assert_eq!(chosen, ids((0..30).filter(|number| number % 6 == 4)));
    let chosen =
        scene.listed(&["--since", "2026-04-01T10:00:00Z", "--until", "2026-04-01T11:00:00Z"]);
    assert_eq!(chosen, ids(12..15));
    assert_eq!(scene.listed(&["--recipe", "no such"]).len(), 0);
    assert_eq!(
        scene.listed(&["--benchmark", "llama2-70b", "--gpu", "mi355x", "--host", "mi355x-a"]).len(),
        30
    );
    assert_eq!(scene.listed(&["--suite", "mlperf-inference", "--submitter", "amd"]).len(), 30);
    assert_eq!(scene.listed(&["--suite", "mlperf-training"]).len(), 0);
    let batch = scene.listed(&["--batch", "b000", "-n", "1"]);
    assert_eq!(batch, ids(29..30));
}

#[test]
fn a_state_is_a_filter_and_an_order() {
    let scene = Scene::new(0..120);
    let went =
        |states: &[Went]| ids((0..120).filter(|number| states.contains(&Many::went(*number))));
    assert_eq!(scene.listed(&["--outcome", "interrupted"]), went(&[Went::Interrupted]));
    assert_eq!(
        scene.listed(&["--outcome", "invalid,failed"]),
        went(&[Went::Invalid, Went::Failed])
    );
    // A recipe has the outcome of its newest run.
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    for number in 0..120 {
        let plan = scene.run(number).join("plan.json");
        let text = fs::read_to_string(&plan).unwrap();
        assert!(text.contains("./llama2.yaml"));
        fs::write(&plan, text.replace("./llama2.yaml", recipe)).unwrap();
    }
    let newest = scene.retrial(&["runs", "-n", "1", "--flat", "--output", "json"]);
    let newest: Value = serde_json::from_str(&newest.out).unwrap();
    let outcome = newest[0]["state"].as_str().unwrap().replace(' ', "-");
    let listed = |outcome: &str| {
        let output = scene.retrial(&["list", "--outcome", outcome, "--output", "json"]);
        let recipes: Value = serde_json::from_str(&output.out).unwrap();
        let names = recipes.as_array().unwrap().iter().map(|one| one["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(listed(&outcome), [recipe]);
    let other = if outcome == "failed" { "invalid" } else { "failed" };
    assert!(listed(other).is_empty());
    let best = scene.listed(&["--sort", "ratio", "--outcome", "reproduced", "-n", "1"]);
    let fastest = (0..120).filter(|number| number % 6 == 4);
    assert!(ids(fastest).contains(&best[0]), "the newest release is the fastest");
}

#[test]
fn rows_match_the_files_of_the_run() {
    let scene = Scene::new(0..1);
    let output = scene.retrial(&["runs", "--output", "json"]);
    let rows: Value = serde_json::from_str(&output.out).unwrap();
    let row = &rows[0];
    let file = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(scene.run(0).join(name)).unwrap()).unwrap()
    };
    let (plan, host, verdict) = (file("plan.json"), file("host.json"), file("verdict.json"));
    for key in ["recipe", "recipe_hash", "title", "submission", "batch", "variant", "image"] {
        assert_eq!(row[key], plan[key], "{key}");
    }
    for (key, pointer) in
        [("host", "/host/hostname"), ("kernel", "/host/kernel"), ("tool", "/tool")]
    {
        assert_eq!(Some(&row[key]), host.pointer(pointer), "{key}");
    }
    let release = host.pointer("/host/rocm/release").unwrap();
    assert_eq!((release, &row["rocm_host"]), (&json!("7.1.1-38"), &json!("7.1.1")));
    assert_eq!(row["state"], verdict["outcome"]);
    assert_eq!(
        row["sentence"],
        format!(
            "{} {}",
            verdict["headline"].as_str().unwrap(),
            verdict["detail"].as_str().unwrap()
        )
        .trim_end()
    );
    assert_eq!(row["gpus"], "8 x MI355X");
    let result = &verdict["results"][0];
    assert_eq!(row["deciding"]["figure"], result["deciding"]);
    assert_eq!(row["deciding"]["ratio"], result["ratio"]);
    assert_eq!(row["deciding"]["value"], result["figures"]["tokens_per_second"]["value"]);
    assert_eq!(row["started"], "2026-04-01T06:00:00Z");
}

#[test]
fn tables_carry_the_notice_and_their_own_words() {
    let scene = Scene::new(0..2);
    let output = scene.retrial(&["runs", "--flat"]);
    assert!(
        output.out.contains("Unverified MLPerf")
            && output.out.contains("Results not verified by MLCommons"),
        "{}",
        output.out
    );
    assert!(output.out.lines().all(|line| line.chars().count() <= 100), "{}", output.out);
    let output = scene.retrial(&["runs", "--output", "markdown"]);
    assert!(output.out.starts_with("| run | outcome |"), "{}", output.out);
    assert!(output.out.contains("> Unverified MLPerf"));
    assert_eq!(scene.retrial(&["runs", "--output", "junit"]).code, 2);
    let junit = scene.retrial(&["report", "--all", "--output", "junit"]);
    assert_eq!(junit.code, 0, "{}", junit.err);
    assert!(junit.out.starts_with("<?xml"), "{}", junit.out);
    assert!(junit.out.contains("llama2-70b"), "{}", junit.out);
    // A page that is requested by its format goes to standard output.
    let page = scene.retrial(&["report", "--all", "--output", "html"]);
    assert!(page.out.starts_with("<!DOCTYPE html>"), "{}", page.err);
    let output = scene.retrial(&["runs", "--outcome", "splendid"]);
    assert!(output.code == 2 && output.err.contains("not-reproduced"), "{}", output.err);
}

#[test]
fn a_run_with_a_missing_or_damaged_plan_is_listed() {
    let scene = Scene::new(0..3);
    fs::remove_file(scene.run(0).join("plan.json")).unwrap();
    fs::write(scene.run(1).join("plan.json"), "{ not json").unwrap();
    fs::write(scene.run(1).join("host.json"), "[]").unwrap();
    fs::write(scene.run(2).join("verdict.json"), "\u{0}").unwrap();
    fs::write(scene.run(2).join("journal.jsonl"), "{}\n\u{0}\nnot json").unwrap();
    let mut listed = scene.listed(&[]);
    listed.sort();
    assert_eq!(listed, ids(0..3));
}

/// What a line said that cannot be read is unknown: nothing is decided.
#[test]
fn a_damaged_journal_decides_nothing() {
    let scene = Scene::new(0..REPRODUCED + 1);
    let run = ids([REPRODUCED])[0].clone();
    let path = scene.run(REPRODUCED).join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let damaged = text.replacen("\"event\":\"step_ended\"", "\"event\":\"incidnet\"", 1);
    assert_ne!(text, damaged);
    std::fs::write(&path, damaged).unwrap();
    let output = scene.retrial(&["judge", &run]);
    assert_eq!(output.code, 5, "{}{}", output.out, output.err);
    assert!(
        output.out.contains("an entry that this version of Retrial does not know"),
        "{}",
        output.out
    );
    // Nor in a comparison.
    let other = ids([0])[0].clone();
    let output = scene.retrial(&["compare", &run, &other]);
    assert_eq!(output.code, 3, "{}{}", output.out, output.err);
    assert!(output.err.contains("is damaged: line "), "{}", output.err);
}

/// A run of some of the measurements says so itself: in its verdict, in JSON and in lists.
#[test]
fn a_run_of_a_part_is_a_verdict_in_part() {
    let scene = Scene::new(0..30);
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let row = rows.iter().find(|row| row["outcome"] == "reproduced").unwrap();
    let id = row["run"].as_str().unwrap();
    let run = scene.home().join("runs").join(id);
    let plan = fs::read_to_string(run.join("plan.json")).unwrap();
    let part = plan.replacen('{', "{\"excluded\": [\"server performance\"],", 1);
    fs::write(run.join("plan.json"), part).unwrap();
    let judged = scene.retrial(&["judge", id]).out;
    assert!(judged.contains("in part: without server performance"), "{judged}");
    let verdict = scene.retrial(&["judge", id, "--output", "json"]).out;
    fs::write(run.join("verdict.json"), &verdict).unwrap();
    let listed = scene.retrial(&["runs", "--flat"]).out;
    let line = listed.lines().find(|line| line.starts_with(id)).unwrap();
    assert!(line.contains("in part"), "{listed}");
}
