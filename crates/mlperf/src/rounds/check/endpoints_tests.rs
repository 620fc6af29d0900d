//! An endpoint's results against v6.1's rules.

use serde_json::{Map, Value, json};

use crate::Division;
use crate::check::RuleCheck;
use crate::endpoints::{EndpointAccuracy, EndpointPerformance};
use crate::loadgen::TestScenario;
use crate::rounds::InferenceRules;
use crate::rounds::built_in_rounds;

fn rules(benchmark: &str, scenario: TestScenario) -> InferenceRules {
    let round = built_in_rounds().get("mlperf-inference", "v6.1").unwrap();
    round.benchmark_rules(benchmark, scenario).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

fn run(change: impl Fn(&mut Value, &mut Value)) -> EndpointPerformance {
    let mut config = json!({"type": "online", "model_params": {"streaming": "on"}, "settings": {"runtime": {
        "min_duration_ms": 1_500_000, "scheduler_random_seed": 16_159_082_839_903_944_936_u64,
        "dataloader_random_seed": 2_747_215_439_041_700_203_u64}}});
    let mut summary = json!({"complete": true, "n_samples_issued": 10, "n_samples_completed": 10, "n_samples_failed": 0,
        "ttft": {"early_stopping_percentiles": {"99.0": 484_730_193.0}},
        "tpot": {"early_stopping_percentiles": {"99.0": 12_560_416.4}}, "tps": 652_750.1});
    change(&mut config, &mut summary);
    EndpointPerformance::from_config_and_summary(&object(config), &object(summary))
}

fn broken(checks: Vec<RuleCheck>) -> Vec<String> {
    let broken = checks.into_iter().filter(|check| !check.passed);
    broken.map(|check| format!("{}: {}", check.rule, check.measured)).collect()
}

fn wrong(change: impl Fn(&mut Value, &mut Value)) -> Vec<String> {
    broken(rules("deepseek-r1", TestScenario::Interactive).check_endpoint(&run(change)))
}

#[test]
fn each_rule_of_a_run_is_checked() {
    assert!(wrong(|_, _| {}).is_empty());
    assert_eq!(wrong(|config, _| config["type"] = json!("offline")), ["scenario: Offline"]);
    assert_eq!(wrong(|_, summary| summary["complete"] = json!(false)), ["run: not complete"]);
    assert_eq!(
        wrong(|_, summary| summary["n_samples_failed"] = json!(1)),
        ["samples answered: 10 of 10, 1 failed"]
    );
    assert_eq!(
        wrong(|config, _| config["settings"]["runtime"]["scheduler_random_seed"] = json!(1)),
        ["schedule_rng_seed: 1"]
    );
    assert_eq!(
        wrong(|config, _| config["settings"]["runtime"]["min_duration_ms"] = json!(1000)),
        ["min_duration: 1 s"]
    );
    assert_eq!(
        wrong(|config, _| config["model_params"]["streaming"] = json!("off")),
        ["ttft: stated", "token latencies: not measured"]
    );
    let slow =
        wrong(|_, summary| summary["tpot"]["early_stopping_percentiles"]["99.0"] = json!(15e6));
    assert_eq!(slow.len(), 1, "{slow:?}");
    let plain = wrong(|_, summary| {
        for name in ["ttft", "tpot"] {
            let found = summary[name]["early_stopping_percentiles"].take();
            summary[name] = json!({ "percentiles": found });
        }
    });
    assert_eq!(plain, ["early stopping: not estimated"]);
}

#[test]
fn accuracy_uses_the_unit_of_the_round() {
    let results = |score: Value, samples: u64| {
        EndpointAccuracy::from_json(&object(
            json!({"accuracy_scores": [{"score": score, "total_samples": samples,
            "output_sequence_lengths": {"avg": 3825.6}}]}),
        ))
    };
    let deepseek = rules("deepseek-r1", TestScenario::Interactive);
    assert!(broken(deepseek.check_endpoint_accuracy(&results(json!(80.628_988), 4388))).is_empty());
    assert_eq!(broken(deepseek.check_endpoint_accuracy(&results(json!(80.4), 4387))).len(), 2);
    let edge = rules("qwen3.6-27b", TestScenario::SingleStream);
    assert!(broken(edge.check_endpoint_accuracy(&results(json!(0.836_41), 995))).is_empty());
    assert_eq!(broken(edge.check_endpoint_accuracy(&results(json!(0.836_3), 995))), ["mAP: 83.63"]);
}

/// The mean over categories has a limit of its own, where the client broke the score down.
#[test]
fn a_limited_part_of_a_score_is_checked() {
    let results = |mean: Value| {
        let score = json!({"score": 0.8623, "total_samples": 995, "breakdown": {"normalized_single_turn_score": mean}});
        EndpointAccuracy::from_json(&object(json!({"accuracy_scores": [score]})))
    };
    let edge = rules("qwen3.6-27b", TestScenario::SingleStream);
    assert!(broken(edge.check_endpoint_accuracy(&results(json!(87.76)))).is_empty());
    assert_eq!(
        broken(edge.check_endpoint_accuracy(&results(json!(85.31)))),
        ["normalized_single_turn_score: 85.31"]
    );
    assert!(broken(edge.check_endpoint_accuracy(&results(Value::Null))).is_empty());
    let open = edge.in_division(Division::Open);
    assert!(broken(open.check_endpoint_accuracy(&results(json!(1.0)))).is_empty());
}

/// Offline has no limit on the first token, so its time is not needed.
#[test]
fn answers_that_were_not_streamed_count_offline() {
    let config = json!({"type": "offline", "model_params": {"streaming": "off"}, "settings": {"runtime": {
        "min_duration_ms": 1_500_000, "scheduler_random_seed": 16_159_082_839_903_944_936_u64,
        "dataloader_random_seed": 2_747_215_439_041_700_203_u64}}});
    let summary = json!({"complete": true, "n_samples_issued": 10, "n_samples_completed": 10, "n_samples_failed": 0});
    let run = EndpointPerformance::from_config_and_summary(&object(config), &object(summary));
    assert_eq!(broken(rules("deepseek-r1", TestScenario::Offline).check_endpoint(&run)), [""; 0]);
}

#[test]
fn some_benchmarks_may_be_measured_at_an_endpoint() {
    let allows = |round: &str, benchmark: &str| {
        let round = built_in_rounds().get("mlperf-inference", round).unwrap();
        round.allows_endpoint(benchmark)
    };
    assert!(allows("v6.1", "llama3_1-8b"));
    assert!(allows("v6.1", "wan-2.2-t2v-a14b"));
    assert!(!allows("v6.1", "llama2-70b-99.9"));
    assert!(!allows("v6.1", "no-such-benchmark"));
    assert!(!allows("v6.0", "deepseek-r1"));
}
