//! `retrial compare` on a home with planted runs: along an axis, cells of batches, runs pooled.

use serde_json::Value;

use crate::{Many, Scene};

fn compared(scene: &Scene, arguments: &[&str]) -> Value {
    let mut all = vec!["compare", "--output", "json"];
    all.extend(arguments);
    let told = scene.retrial(&all);
    assert_eq!(told.code, 0, "{}", told.err);
    serde_json::from_str(&told.out).unwrap()
}

fn names(comparison: &Value) -> Vec<&str> {
    let subjects = comparison["subjects"].as_array().unwrap().iter();
    subjects
        .map(|subject| subject["name"].as_str().unwrap())
        .collect()
}

/// Every run of a history is in one comparison at most, and none is mixed with another axis or host.
#[test]
fn comparisons_along_an_axis_differ_in_nothing_else() {
    let scene = Scene::new(0..120);
    let all = compared(&scene, &["--by", "rocm"]);
    let comparisons = all["comparisons"].as_array().unwrap();
    let titles: Vec<&str> = comparisons
        .iter()
        .map(|comparison| comparison["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles.len(), 4, "{titles:#?}");
    for backend in ["vllm", "migraphx"] {
        let of = titles
            .iter()
            .filter(|title| title.contains(&format!("backend={backend}")));
        assert_eq!(of.count(), 2, "{titles:#?}");
    }
    let mut runs = 0;
    for comparison in comparisons {
        assert_eq!(
            names(comparison),
            ["rocm=6.4.1", "rocm=7.0.0", "rocm=7.1.1"]
        );
        let subjects = comparison["subjects"].as_array().unwrap().iter();
        runs += subjects
            .map(|subject| subject["runs"].as_u64().unwrap())
            .sum::<u64>();
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
    let all = compared(
        &scene,
        &[
            "--by",
            "rocm",
            "--set",
            "backend=vllm",
            "--baseline",
            "7.1.1",
        ],
    );
    let comparisons = all["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    for comparison in comparisons {
        assert_eq!(names(comparison)[0], "rocm=7.1.1");
    }
    let told = scene.retrial(&["compare", "--by", "rocm", "--baseline", "5.0"]);
    assert_eq!(told.code, 2);
    assert!(
        told.err
            .contains("has no such rocm; it has 6.4.1, 7.0.0, 7.1.1"),
        "{}",
        told.err
    );
    let told = scene.retrial(&["compare", "--by", "nothing"]);
    assert_eq!(told.code, 2);
    assert!(
        told.err.contains("backend, rocm, host, gpus"),
        "{}",
        told.err
    );
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
        let of =
            |row: &&Value| row["variant"]["rocm"] == rocm && row["variant"]["backend"] == "vllm";
        let row = rows.iter().find(of).unwrap();
        row["batch"]["cell"].as_str().unwrap().to_owned()
    };
    // In whichever order the axes are typed.
    let turned: Vec<String> = cell("7.1.1").split(',').rev().map(str::to_owned).collect();
    let (one, other) = (
        format!("{batch}:{}", cell("6.4.1")),
        format!("{batch}:{}", turned.join(",")),
    );
    let comparison = compared(&scene, &[&one, &other]);
    assert_eq!(comparison["subjects"][0]["runs"], 5, "{comparison:#}");
    assert_eq!(comparison["figures"][0]["change"], "faster");

    let ids = |rocm: &str| -> Vec<String> {
        let of = |row: &&Value| {
            row["variant"]["rocm"] == rocm
                && row["variant"]["backend"] == "vllm"
                && row["outcome"] != "failed"
                && row["outcome"] != Value::Null
        };
        let rows = rows.iter().filter(of);
        rows.map(|row| row["run"].as_str().unwrap().to_owned())
            .collect()
    };
    let pooled = compared(&scene, &[&ids("6.4.1").join("+"), &ids("7.1.1").join("+")]);
    assert_eq!(
        pooled["figures"][0]["ratio"],
        comparison["figures"][0]["ratio"]
    );

    let told = scene.retrial(&["compare", batch, "last"]);
    assert_eq!(told.code, 2);
    assert!(
        told.err.contains("is a batch: name one of its cells"),
        "{}",
        told.err
    );
    let told = scene.retrial(&["compare", &format!("{batch}:rocm=1"), "last"]);
    assert_eq!(told.code, 2);
    assert!(
        told.err.contains("has no cell rocm=1; it has:"),
        "{}",
        told.err
    );
    let told = scene.retrial(&["compare", "nobody:rocm=1", "last"]);
    assert!(
        told.err.contains("no run of a batch nobody"),
        "{}",
        told.err
    );
    let told = scene.retrial(&["compare", &Many::id(0), &Many::id(1), "--host", "x"]);
    assert_eq!(told.code, 2);
    assert!(told.err.contains("need --by"), "{}", told.err);
}

/// What the index has kept of a verdict gives what the run's own files give.
#[test]
fn index_and_files_give_the_same_comparison() {
    let scene = Scene::new(0..30);
    let along = compared(&scene, &["--by", "rocm", "--set", "backend=vllm"]);
    let first = &along["comparisons"][0];
    let rows: Vec<Value> =
        serde_json::from_str(&scene.retrial(&["runs", "--output", "json"]).out).unwrap();
    let ids = |rocm: &str| -> String {
        let of = |row: &&Value| {
            row["variant"]["rocm"] == rocm
                && row["variant"]["backend"] == "vllm"
                && row["outcome"] != Value::Null
        };
        let rows = rows.iter().filter(of);
        let ids: Vec<&str> = rows.map(|row| row["run"].as_str().unwrap()).collect();
        ids.join("+")
    };
    let named = compared(&scene, &[&ids("6.4.1"), &ids("7.0.0"), &ids("7.1.1")]);
    assert_eq!(first["figures"], named["figures"]);
}
