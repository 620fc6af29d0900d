//! The example of a serving curve: its recipe, the recipe that it publishes of a run, and, in the lab, two points of it with the
//! real server and the real client.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const EXAMPLE: &str = "./examples/serving-curve";

/// Returns what it prints, and whether it succeeded.
fn retrial(arguments: &[&str], home: &Path) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RETRIAL_HOME", home)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    (printed + &String::from_utf8(output.stderr).unwrap(), output.status.success())
}

/// Returns the recipe that `publish.py` writes of this verdict, or its error.
fn publish(verdict: &Value) -> Result<String, String> {
    let mut script = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(EXAMPLE).join("publish.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    script.stdin.take().unwrap().write_all(verdict.to_string().as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

fn result_at(point: u32, throughput: &[f64]) -> Value {
    let trials: Vec<Value> = throughput
        .iter()
        .map(|value| {
            let figures =
                json!({"output_throughput": {"value": value}, "tpot_p50": {"value": 1000.0 / value}});
            json!({"valid": true, "figures": figures})
        })
        .collect();
    json!({"scenario": format!("serving-{point}"), "valid": true, "point": {"value": point}, "trials": trials})
}

#[test]
fn a_run_of_three_trials_is_published() {
    let points = [result_at(1, &[198.0, 200.0, 202.0]), result_at(4, &[297.0, 300.0, 303.0])];
    let recipe = publish(&json!({"results": points})).unwrap();
    let shares = "noise: 1.00%, sigma: 0.58%";
    let published = format!(
        "output_throughput: {{ at: {{ 1: 200, 4: 300 }}, kind: official, source: own run, {shares} }}"
    );
    assert!(recipe.contains(&published), "{recipe}");
    // Its image is next to it.
    let directory = tempfile::tempdir().unwrap();
    let copy = Command::new("cp").args(["-r", EXAMPLE]).arg(directory.path()).status().unwrap();
    assert!(copy.success());
    let path = directory.path().join("serving-curve/published.yaml");
    std::fs::write(&path, recipe).unwrap();
    for file in [EXAMPLE, path.to_str().unwrap()] {
        let (printed, passed) = retrial(&["check", file], directory.path());
        assert!(passed, "{printed}");
    }
}

#[test]
fn a_run_of_one_trial_is_not_published() {
    let error = publish(&json!({"results": [result_at(1, &[198.0])]})).unwrap_err();
    assert!(error.contains("serving-1: 1 valid trials") && error.contains("--trials 3"), "{error}");
}

/// Rules that a machine can break which others keep busy.
const OF_TIME: [&str; 3] = ["requests in flight", "first tokens", "tokens per chunk"];

/// How fast depends on the machine; that each request is answered in full, and is counted, does not.
#[test]
#[ignore = "needs the lab"]
fn two_points_are_measured_by_the_real_client() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = Command::new(root.join("tests/lab/example")).arg("serving-curve").output().unwrap();
    let example = String::from_utf8(copy.stdout).unwrap();
    let home = tempfile::tempdir().unwrap();
    let points = ["run", example.trim(), "--point", "1,4", "--quiet", "--output", "json"];
    let (printed, _) = retrial(&points, home.path());
    let verdict: Value = serde_json::from_str(&printed).unwrap();
    let results = verdict["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{verdict:#}");
    for (result, point) in results.iter().zip([1.0, 4.0]) {
        assert_eq!(result["point"]["value"], point, "{result:#}");
        let figure = &result["figures"]["output_throughput"]["value"];
        assert!(figure.as_f64().is_some_and(|rate| rate > 0.0), "{result:#}");
        let rules = result["rules"].as_array().unwrap().iter();
        let rules = rules.filter(|rule| !OF_TIME.contains(&rule["rule"].as_str().unwrap()));
        let (kept, broken): (Vec<_>, Vec<_>) = rules.partition(|rule| rule["passed"] == true);
        assert!(broken.is_empty(), "{broken:#?}");
        let lengths = kept.iter().find(|rule| rule["rule"] == "length of answers").unwrap();
        assert!(
            lengths["measured"].as_str().unwrap().contains("answers of 32 tokens"),
            "{lengths}"
        );
    }
}
