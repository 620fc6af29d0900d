//! `retrial compare` on a home with planted runs: along an axis, cells of batches, runs pooled.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::{Many, Scene};

fn compared(scene: &Scene, arguments: &[&str]) -> Value {
    let mut all = vec!["compare", "--output", "json"];
    all.extend(arguments);
    let output = scene.retrial(&all);
    assert_eq!(output.code, 0, "{}", output.err);
    serde_json::from_str(&output.out).unwrap()
}

fn names(comparison: &Value) -> Vec<&str> {
    let subjects = comparison["subjects"].as_array().unwrap().iter();
    subjects.map(|subject| subject["name"].as_str().unwrap()).collect()
}

/// Every run of a history is in one comparison at most, and none is mixed with another axis or host.
#[test]
fn comparisons_along_an_axis_differ_in_nothing_else() {
    let scene = Scene::new(0..120);
    let all = compared(&scene, &["--by", "rocm"]);
    let comparisons = all["comparisons"].as_array().unwrap();
    let titles: Vec<&str> =
        comparisons.iter().map(|comparison| comparison["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 4, "{titles:#?}");
    for backend in ["vllm", "migraphx"] {
        let of_backend =
            titles.iter().filter(|title| title.contains(&format!("backend={backend}")));
        assert_eq!(of_backend.count(), 2, "{titles:#?}");
    }
    let mut runs = 0;
    for comparison in comparisons {
        assert_eq!(names(comparison), ["rocm=6.4.1", "rocm=7.0.0", "rocm=7.1.1"]);
        let subjects = comparison["subjects"].as_array().unwrap().iter();
        runs += subjects.map(|subject| subject["runs"].as_u64().unwrap()).sum::<u64>();
        for figure in comparison["figures"].as_array().unwrap() {
            if figure["mode"] == "performance" {
                assert_eq!(figure["change"], "faster", "{figure:#}");
            }
        }
    }
    let without: u64 = 120 - runs;
    if without > 0 {
        let notes = all["notes"].to_string();
        assert!(notes.contains("omitted"), "{notes}");
    }
}

#[test]
fn a_filter_and_a_baseline_select_runs() {
    let scene = Scene::new(0..120);
    let all = compared(&scene, &["--by", "rocm", "--set", "backend=vllm", "--baseline", "7.1.1"]);
    let comparisons = all["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    for comparison in comparisons {
        assert_eq!(names(comparison)[0], "rocm=7.1.1");
    }
    let output = scene.retrial(&["compare", "--by", "rocm", "--baseline", "5.0"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("has no such rocm; it has 6.4.1, 7.0.0, 7.1.1"), "{}", output.err);
    let output = scene.retrial(&["compare", "--by", "nothing"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("backend, rocm, host, gpus"), "{}", output.err);
    let slower = scene.retrial(&[
        "compare",
        "--by",
        "rocm",
        "--baseline",
        "7.1.1",
        "--fail-if",
        "slower:2%",
    ]);
    assert_eq!(slower.code, 1);
}

#[test]
fn batch_cells_and_named_runs_are_compared() {
    let scene = Scene::new(0..30);
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let batch = rows[0]["batch"]["id"].as_str().unwrap();
    let cell = |rocm: &str| {
        let matches =
            |row: &&Value| row["variant"]["rocm"] == rocm && row["variant"]["backend"] == "vllm";
        let row = rows.iter().find(matches).unwrap();
        row["batch"]["cell"].as_str().unwrap().to_owned()
    };
    // In whichever order the axes are typed.
    let turned: Vec<String> = cell("7.1.1").split(',').rev().map(str::to_owned).collect();
    let (first, second) =
        (format!("{batch}:{}", cell("6.4.1")), format!("{batch}:{}", turned.join(",")));
    let comparison = compared(&scene, &[&first, &second]);
    assert_eq!(comparison["subjects"][0]["runs"], 5, "{comparison:#}");
    assert_eq!(comparison["figures"][0]["change"], "faster");

    let ids = |rocm: &str| -> Vec<String> {
        let matches = |row: &&Value| {
            row["variant"]["rocm"] == rocm
                && row["variant"]["backend"] == "vllm"
                && row["outcome"] != "failed"
                && row["outcome"] != Value::Null
        };
        let rows = rows.iter().filter(matches);
        rows.map(|row| row["run"].as_str().unwrap().to_owned()).collect()
    };
    let pooled = compared(&scene, &[&ids("6.4.1").join("+"), &ids("7.1.1").join("+")]);
    assert_eq!(pooled["figures"][0]["ratio"], comparison["figures"][0]["ratio"]);

    let output = scene.retrial(&["compare", batch, "last"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("is a batch: name one of its cells"), "{}", output.err);
    let output = scene.retrial(&["compare", &format!("{batch}:rocm=1"), "last"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("has no cell rocm=1\nhelp: choose one:\n  "), "{}", output.err);
    let output = scene.retrial(&["compare", "nobody:rocm=1", "last"]);
    assert!(output.err.contains("no run of a batch nobody"), "{}", output.err);
    let id = Many::id(0);
    let output = scene.retrial(&["compare", &id]);
    assert_eq!(output.code, 2);
    let expected = format!(
        "error: a comparison needs two results, and {id} is one\nhelp: name another after it: retrial compare {id} RUN\n"
    );
    assert!(output.err.starts_with(&expected), "{}", output.err);
    let output = scene.retrial(&["compare", "latest"]);
    assert!(
        output.err.contains("run or batch: `latest`\nhelp: did you mean `last`?"),
        "{}",
        output.err
    );
    let output = scene.retrial(&["compare", &Many::id(0), &Many::id(1), "--host", "x"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("need --by"), "{}", output.err);
}

/// Trials of a cell are judged together: each run keeps its own verdict and figure, and the batch's row counts the cell's.
#[test]
fn a_run_keeps_its_own_verdict_next_to_that_of_its_cell() {
    let scene = Scene::new(0..30);
    let listed = || -> Vec<Value> {
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap()
    };
    let is_of_cell = |row: &&Value| {
        row["variant"]["rocm"] == "7.1.1"
            && row["variant"]["backend"] == "vllm"
            && row["outcome"] == "reproduced"
    };
    let before: Vec<Value> = listed().iter().filter(is_of_cell).cloned().collect();
    assert!(before.len() > 1);
    let batch = before[0]["batch"]["id"].as_str().unwrap();
    let runs: Vec<Value> = before.iter().map(|row| json!({ "run": row["run"] })).collect();
    let cell = json!({
        "trials": runs.len(), "runs": runs, "outcome": "not reproduced", "sentence": "All are slow.", "verdict": null,
    });
    let directory = scene.home().join("batches").join(batch);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("verdict.json"), json!({ "cells": [cell] }).to_string()).unwrap();
    let after = listed();
    for before in &before {
        let row = after.iter().find(|row| row["run"] == before["run"]).unwrap();
        assert_eq!((&row["outcome"], &row["sentence"]), (&before["outcome"], &before["sentence"]));
        assert_eq!(row["cell"]["trials"], runs.len());
        assert_eq!(row["cell"]["outcome"], "not reproduced");
        assert_eq!(row["deciding"], before["deciding"]);
    }
    let flat = scene.retrial(&["runs", "--flat", "--batch", batch]).out;
    assert!(flat.contains("reproduced") && !flat.contains("trials together"), "{flat}");
    let grouped = scene.retrial(&["runs", "--batch", batch]).out;
    assert!(grouped.contains("1 not reproduced"), "{grouped}");
    let all = compared(&scene, &["--by", "rocm", "--set", "backend=vllm"]);
    let outcomes = all["comparisons"].as_array().unwrap().iter().flat_map(|comparison| {
        let subjects = comparison["subjects"].as_array().unwrap().iter();
        subjects.map(|subject| (subject["name"].to_string(), subject["outcome"].to_string()))
    });
    let outcomes: Vec<(String, String)> = outcomes.collect();
    let newest = outcomes.iter().filter(|(name, _)| name.contains("7.1.1"));
    assert!(newest.clone().count() > 0);
    assert!(newest.clone().all(|(_, outcome)| outcome.contains("not reproduced")), "{outcomes:?}");
}

/// A judged run of vllm under a release of ROCm.
fn judged_run(scene: &Scene, rocm: &str) -> String {
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let row = rows.iter().find(|row| {
        row["variant"]["rocm"] == rocm
            && row["variant"]["backend"] == "vllm"
            && row["outcome"] != "failed"
            && row["outcome"] != Value::Null
    });
    row.unwrap()["run"].as_str().unwrap().to_owned()
}

fn copy_run(run: &Path, copy: &Path) {
    let status = std::process::Command::new("cp").arg("-r").args([run, copy]).status();
    assert!(status.unwrap().success());
}

/// A run that is named twice, or lies in two directories, is one run.
#[test]
fn a_run_counts_once_in_a_comparison() {
    let scene = Scene::new(0..30);
    let (first, second) = (judged_run(&scene, "6.4.1"), judged_run(&scene, "7.1.1"));
    let copy = scene.home().join("copy-of-a-run");
    copy_run(&scene.home().join("runs").join(&first), &copy);
    for again in [&*first, copy.to_str().unwrap()] {
        let twice = compared(&scene, &[&format!("{first}+{again}"), &second]);
        assert_eq!(twice["subjects"][0]["runs"], 1, "{twice:#}");
        assert!(twice["notes"].to_string().contains(" once: "), "{twice:#}");
    }
    let both = compared(&scene, &[&format!("{first}+{second}"), &second]);
    assert!(both["notes"].to_string().contains("have a measurement in common"), "{both:#}");
}

/// Along an axis, too, a copied run adds nothing to its side, and a copy on another side is noted.
#[test]
fn a_copied_run_counts_once_along_an_axis() {
    let scene = Scene::new(0..30);
    let along =
        || compared(&scene, &["--by", "rocm", "--set", "backend=vllm"])["comparisons"][0].clone();
    let before = along();
    let (run, runs) = (judged_run(&scene, "6.4.1"), scene.home().join("runs"));
    let copy = runs.join(format!("{run}-2"));
    copy_run(&runs.join(&run), &copy);
    let after = along();
    assert_eq!(after["figures"], before["figures"]);
    assert_eq!(after["subjects"][0]["runs"], before["subjects"][0]["runs"], "{after:#}");
    let note = format!("rocm=6.4.1 pools {run}-2 once: ");
    assert!(after["notes"].to_string().contains(&note), "{after:#}");
    // The same measurement under another release of ROCm.
    let plan = copy.join("plan.json");
    let text = std::fs::read_to_string(&plan).unwrap();
    let recipe_of = |plan: &str| {
        let plan: Value = serde_json::from_str(plan).unwrap();
        plan["recipe_hash"].as_str().unwrap().to_owned()
    };
    let other = runs.join(judged_run(&scene, "7.0.0")).join("plan.json");
    let other = recipe_of(&std::fs::read_to_string(other).unwrap());
    let moved = text.replace("6.4.1", "7.0.0").replace(&recipe_of(&text), &other);
    std::fs::write(&plan, moved).unwrap();
    let noted = along()["notes"].to_string();
    assert!(noted.contains("have a measurement in common"), "{noted}");
}

/// The index and the run's own files give the same comparison.
#[test]
fn index_and_files_give_the_same_comparison() {
    let scene = Scene::new(0..30);
    let along = compared(&scene, &["--by", "rocm", "--set", "backend=vllm"]);
    let first = &along["comparisons"][0];
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let ids = |rocm: &str| -> String {
        let matches = |row: &&Value| {
            row["variant"]["rocm"] == rocm
                && row["variant"]["backend"] == "vllm"
                && row["outcome"] != Value::Null
        };
        let rows = rows.iter().filter(matches);
        let ids: Vec<&str> = rows.map(|row| row["run"].as_str().unwrap()).collect();
        ids.join("+")
    };
    let named = compared(&scene, &[&ids("6.4.1"), &ids("7.0.0"), &ids("7.1.1")]);
    assert_eq!(first["figures"], named["figures"]);
}

/// The keys that were edited, with their old and new values, in place of the digests of the recipes.
#[test]
fn an_edited_recipe_is_compared_key_by_key() {
    let scene = Scene::new(0..30);
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let of_cell = rows.iter().filter(|row| {
        row["variant"]["rocm"] == "7.1.1"
            && row["variant"]["backend"] == "vllm"
            && row["outcome"] == "reproduced"
    });
    let runs: Vec<&str> = of_cell.map(|row| row["run"].as_str().unwrap()).collect();
    let run = scene.home().join("runs").join(runs[1]);
    let edit = |file: &str, from: &str, to: &str| {
        let text = fs::read_to_string(run.join(file)).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        fs::write(run.join(file), text.replacen(from, to, 1)).unwrap();
    };
    edit("recipe.yaml", "Llama 2 70B", "Edited Llama 2 70B");
    edit("plan.json", "\"recipe_hash\": \"", "\"recipe_hash\": \"00");
    let comparison = compared(&scene, &[runs[0], runs[1]]);
    let mut groups = comparison["environment"].as_array().unwrap().iter();
    let group = groups.find(|group| group["group"] == "parameters").unwrap();
    let differs = group["differs"].as_array().unwrap();
    let names: Vec<&str> = differs.iter().map(|fact| fact["what"].as_str().unwrap()).collect();
    assert_eq!(names, ["recipe title"], "{group:#}");
    assert!(differs[0]["values"][1].as_str().unwrap().starts_with("\"Edited "), "{group:#}");
    let text = scene.retrial(&["compare", runs[0], runs[1]]).out;
    assert!(text.contains("recipe title") && !text.contains("recipe digest"), "{text}");
}
