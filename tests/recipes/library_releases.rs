//! The example of a batch: each release has an image of its own, of the same Dockerfile, and in the
//! lab one trial of one release runs through.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const EXAMPLE: &str = "./examples/library-releases";
const RELEASES: [&str; 3] = ["1.15.1", "1.20.1", "1.31.1"];

fn retrial(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let problems = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {problems}"))
}

fn succeeds(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{printed}");
    printed
}

#[test]
fn the_files_pass_check() {
    let files = ["recipe.yaml", "batch.yaml", "cpu.yaml"].map(|file| format!("{EXAMPLE}/{file}"));
    succeeds(&retrial(&["check", &files[0], &files[1], &files[2]]));
}

#[test]
fn the_batch_interleaves_its_releases() {
    let batch = format!("{EXAMPLE}/batch.yaml");
    let plan = &json(&retrial(&["plan", &batch, "--format", "json"]))["plan"];
    let cells = plan["cells"].as_array().unwrap().iter();
    let cells: Vec<&str> = cells.map(|cell| cell["name"].as_str().unwrap()).collect();
    assert_eq!(cells, RELEASES.map(|release| format!("onnxruntime={release}")));
    let trial_runs = plan["schedule"]["trial_runs"].as_array().unwrap().iter();
    let order: Vec<u64> = trial_runs.map(|trial_run| trial_run["cell"].as_u64().unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2]);
    assert_eq!(plan["claims"].as_array().unwrap().len(), 5);
}

/// Or all three measured the same.
#[test]
fn each_release_has_its_own_image() {
    let mut tags = Vec::new();
    for release in RELEASES {
        let chosen = format!("onnxruntime={release}");
        let arguments = ["plan", EXAMPLE, "--set", &chosen, "--format", "json"];
        let plan = json(&retrial(&arguments));
        assert_eq!(plan["steps"][0]["args"]["ONNXRUNTIME"], release);
        tags.push(plan["image"].to_string());
        let shown = succeeds(&retrial(&arguments[..4]));
        let argument = format!("--build-arg ONNXRUNTIME={release} -f ");
        assert!(shown.contains(&argument), "{shown}");
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), RELEASES.len(), "{tags:?}");
}

/// A copy of the example that can be built on this machine.
fn copy() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy =
        Command::new(root.join("tests/lab/example")).arg("library-releases").output().unwrap();
    assert!(copy.status.success(), "{copy:?}");
    String::from_utf8(copy.stdout).unwrap().trim().to_owned()
}

/// A session of 1.31.1 takes about 11 MiB more than one of 1.20.1 (26 MiB), however busy the machine.
#[test]
#[ignore = "needs the lab"]
fn the_release_that_takes_more_memory_is_found() {
    let recipe = format!("{}/cpu.yaml", copy());
    let along = ["--along", "onnxruntime", "--values", "1.15.1,1.20.1,1.31.1"];
    let criterion = ["--figure", "memory", "--criterion", "slower:20%"];
    let print = ["--set", "starts=2", "--quiet", "--output", "json"];
    let arguments = [&["bisect", &recipe][..], &along, &criterion, &print].concat();
    let search = json(&retrial(&arguments))["search"].clone();
    let pair = (&search["before"], &search["after"]);
    assert_eq!(pair, (&"1.20.1".into(), &"1.31.1".into()), "{search:#}");
    let packages = search["changes"].to_string();
    assert!(packages.contains("ONNX Runtime"), "{packages}");
}

/// Each rule that a result of a batch violates, with its cell's name: the whole verdict is 1,000 lines.
fn violations(batch: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let cells = items(&batch["cells"]);
    cells.flat_map(|cell| {
        let results = items(&cell["verdict"]["results"]);
        let rules = results.flat_map(|result| items(&result["rules"]));
        rules.filter(|rule| rule["passed"] == false).map(|rule| (&cell["name"], rule))
    })
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// One short trial of each release with the real `LoadGen` and ONNX Runtime.
#[test]
#[ignore = "needs the lab"]
fn the_releases_are_measured() {
    let batch = format!("{}/batch.yaml", copy());
    let arguments = ["batch", &batch, "--quiet", "--trials", "1", "--output", "json"];
    let short = ["--set", "samples=100000", "--set", "seconds=1"];
    let output = retrial(&[&arguments[..], &short].concat());
    let verdict = json(&output);
    let violated: Vec<(&Value, &Value)> = violations(&verdict).collect();
    assert_eq!(verdict["outcome"], "reproduced", "{} {violated:#?}", verdict["sentence"]);
    for cell in verdict["cells"].as_array().unwrap() {
        let name = cell["name"].as_str().unwrap();
        let measured = cell["verdict"].to_string();
        for figure in ["samples_per_second", "early_stopping_latency_ns", "acc"] {
            let found = measured.contains(&format!("\"{figure}\""));
            assert!(found, "{name} without {figure}: {measured}");
        }
    }
    let claims = verdict["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 5, "{verdict:#}");
    // The speed of each depends on the machine; its answers do not.
    assert_eq!(claims[4]["outcome"], "supported", "{:#}", claims[4]);
}
