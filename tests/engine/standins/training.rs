//! Training: data prepared once in a container of its own, ten trials in another, and the score as
//! MLPerf makes it of their logs, Olympic mean times RCP factor.

use rstest::rstest;
use serde_json::Value;

use super::harness::{engine, outcomes, run_on};

const LORA: &str = "mlperf-training/v5.1/amd/llama2-70b-lora";
const LLAMA31: &str = "mlperf-training/v5.1/amd/llama31-8b";
/// Ten times the page cache of a machine that others build on; one test below leaves it on.
const CACHES_STAY: [&str; 2] = ["--set", "clear_caches=false"];

fn figure(verdict: &Value, name: &str) -> f64 {
    verdict["results"][0]["figures"][name]["value"].as_f64().unwrap()
}

/// The published logs give the published score, to the digits that MLCommons shows.
#[rstest]
#[case(LORA, "mi355x-8", "MI355X", 10.18)]
#[case(LORA, "mi300x-8", "MI300X", 27.97)]
#[case(LLAMA31, "mi355x-8", "MI355X", 99.71)]
#[ignore = "needs simulated GPUs and the lab"]
fn ten_published_logs_give_the_published_score(
    #[case] recipe: &str,
    #[case] host: &str,
    #[case] gpu: &str,
    #[case] score: f64,
) {
    let engine = engine();
    let gpu = format!("gpu={gpu}");
    let mut arguments = vec!["--set", gpu.as_str()];
    arguments.extend(CACHES_STAY);
    let ran = run_on(&engine, host, recipe, &arguments);
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let verdict = ran.verdict();
    assert_eq!(
        outcomes(&verdict),
        [("training".to_owned(), "performance".to_owned(), "reproduced".to_owned())]
    );
    let measured = figure(&verdict, "time_to_train");
    assert!((measured - score).abs() < 0.01, "{measured}");
    assert_eq!(verdict["results"][0]["trials"].as_array().unwrap().len(), 10);
}

/// A score is of ten runs: one says nothing. The page cache is cleared from inside a container
/// that is not privileged.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn one_trial_is_inconclusive() {
    let engine = engine();
    let ran = run_on(&engine, "mi355x-8", LORA, &["--trials", "1"]);
    assert_eq!(ran.code(), 5, "{}", ran.text());
}

#[rstest]
#[case("worse", 1, "not reproduced")]
#[case("inaccurate", 1, "invalid")]
#[ignore = "needs simulated GPUs and the lab"]
fn failures_are_distinguished(#[case] how: &str, #[case] code: i32, #[case] outcome: &str) {
    let engine = engine();
    let text = std::fs::read_to_string(super::root().join(format!("recipes/{LORA}.yaml"))).unwrap();
    let with = format!("    STANDIN: {how}\n    IMAGE_NAME:");
    let directory = tempfile::tempdir().unwrap();
    let recipe = directory.path().join("recipe.yaml");
    std::fs::write(&recipe, text.replacen("    IMAGE_NAME:", &with, 1)).unwrap();
    let mut arguments = vec!["--allow", "mounts,secrets"];
    arguments.extend(CACHES_STAY);
    let ran = run_on(&engine, "mi355x-8", recipe.to_str().unwrap(), &arguments);
    assert_eq!(ran.code(), code, "{}", ran.text());
    assert_eq!(outcomes(&ran.verdict())[0].2, outcome, "{}", ran.text());
}
