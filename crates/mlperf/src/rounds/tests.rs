//! The rules of every round against facts that were copied from the official checkers by hand.

use std::collections::BTreeSet;

use rstest::rstest;

use super::*;
use crate::loadgen::{Parameters, TestScenario};
use crate::rounds::built_in_rounds;

fn rules(round: &str, benchmark: &str, scenario: TestScenario) -> InferenceRules {
    let round = built_in_rounds().get("mlperf-inference", round).unwrap();
    round.benchmark_rules(benchmark, scenario).unwrap()
}

/// Of a limit, its two sides.
fn limit(rules: &InferenceRules, figure: &str) -> (Option<f64>, Option<f64>) {
    let mut limits = rules.accuracy.iter();
    let (_, limit) = limits.find(|(name, _)| name == figure).unwrap();
    (limit.min, limit.max)
}

#[rstest]
#[case("v4.1", 3_066_443_479_025_735_752, 10_688_027_786_191_513_374, 14_962_580_496_156_340_209)]
#[case("v5.0", 6_023_615_788_873_153_749, 15_036_839_855_038_426_416, 9_933_818_062_894_767_841)]
#[case("v5.1", 1_780_908_523_862_526_354, 14_771_362_308_971_278_857, 18_209_322_760_996_052_031)]
#[case("v6.0", 2_465_351_861_681_999_779, 14_276_810_075_590_677_512, 3_936_089_224_930_324_775)]
#[case("v6.1", 2_085_463_073_848_966_840, 2_747_215_439_041_700_203, 16_159_082_839_903_944_936)]
fn seeds_identify_the_round(
    #[case] round: &str,
    #[case] qsl: u64,
    #[case] sample_index: u64,
    #[case] schedule: u64,
) {
    let mut settings = Parameters {
        qsl_rng_seed: Some(qsl),
        sample_index_rng_seed: Some(sample_index),
        schedule_rng_seed: Some(schedule),
        ..Parameters::default()
    };
    assert_eq!(built_in_rounds().find_by_seeds(&settings).unwrap().round, round);
    settings.schedule_rng_seed = Some(schedule - 1);
    assert_eq!(built_in_rounds().find_by_seeds(&settings), None);
}

#[rstest]
#[case("v4.1", "llama2-70b-99", TestScenario::Server, [2000, 200])]
#[case("v4.1", "mixtral-8x7b", TestScenario::Server, [2000, 200])]
#[case("v5.0", "llama2-70b-interactive-99", TestScenario::Server, [450, 40])]
#[case("v5.0", "llama3.1-405b", TestScenario::Server, [6000, 175])]
#[case("v5.1", "llama2-70b-99", TestScenario::Interactive, [450, 40])]
#[case("v5.1", "llama3.1-8b", TestScenario::Server, [2000, 100])]
#[case("v5.1", "llama3.1-8b", TestScenario::Interactive, [500, 30])]
#[case("v5.1", "llama3.1-405b", TestScenario::Interactive, [4500, 80])]
#[case("v5.1", "deepseek-r1", TestScenario::Server, [2000, 80])]
#[case("v6.0", "gpt-oss-120b", TestScenario::Server, [3000, 80])]
#[case("v6.0", "gpt-oss-120b", TestScenario::Interactive, [2000, 15])]
#[case("v6.1", "deepseek-r1", TestScenario::Interactive, [1500, 15])]
#[case("v6.1", "llama2-70b-99.9", TestScenario::Server, [2000, 200])]
fn token_latencies(
    #[case] round: &str,
    #[case] benchmark: &str,
    #[case] scenario: TestScenario,
    #[case] milliseconds: [u64; 2],
) {
    let rules = rules(round, benchmark, scenario);
    assert!(rules.token_latencies);
    let limits = [rules.latency.ttft_ns, rules.latency.tpot_ns];
    assert_eq!(limits, milliseconds.map(|limit| Some(limit * 1_000_000)));
}

#[rstest]
#[case("v4.1", "resnet", 15)]
#[case("v4.1", "retinanet", 100)]
#[case("v4.1", "bert-99", 130)]
#[case("v4.1", "dlrm-v2-99.9", 60)]
#[case("v5.1", "stable-diffusion-xl", 20_000)]
#[case("v6.1", "dlrm-v3", 60_000)]
#[case("v6.1", "qwen3-vl-235b-a22b", 12_000)]
fn server_latencies(#[case] round: &str, #[case] benchmark: &str, #[case] milliseconds: u64) {
    let rules = rules(round, benchmark, TestScenario::Server);
    assert_eq!(rules.latency.query_ns, Some(milliseconds * 1_000_000));
}

#[rstest]
#[case("v4.1", "resnet50", "acc", Some(75.6954), None)]
#[case("v4.1", "llama2-70b-99.9", "ROUGE1", Some(44.386_768_8), None)]
#[case("v4.1", "llama2-70b-99", "TOKENS_PER_SAMPLE", Some(265.005), Some(323.895))]
#[case("v4.1", "stable-diffusion-xl", "FID_SCORE", Some(23.010_857_58), Some(23.950_076_26))]
#[case("v4.1", "gptj-99.9", "GEN_LEN", Some(3_615_190.2), None)]
#[case("v4.1", "mixtral-8x7b", "mbxp_accuracy", Some(59.5188), None)]
#[case("v5.0", "rgat", "acc", Some(72.1314), None)]
#[case("v5.1", "whisper", "ACCURACY", Some(96.953_571), None)]
#[case("v5.1", "deepseek-r1", "exact_match", Some(80.544_618), None)]
#[case("v6.0", "gpt-oss-120b", "TOKENS_PER_SAMPLE", None, Some(10_998.9))]
#[case("v6.0", "wan-2.2-t2v-a14b", "vbench_score", Some(69.7752), None)]
#[case("v6.1", "dlrm-v3", "DLRM_NE", Some(0.866_003_13), None)]
#[case("v6.1", "e2e-rag-db", "E2E_ACCURACY", Some(98.0), None)]
fn accuracy(
    #[case] round: &str,
    #[case] benchmark: &str,
    #[case] figure: &str,
    #[case] min: Option<f64>,
    #[case] max: Option<f64>,
) {
    let scenarios = [TestScenario::Offline, TestScenario::SingleStream];
    let round = built_in_rounds().get("mlperf-inference", round).unwrap();
    let rules =
        scenarios.iter().find_map(|scenario| round.benchmark_rules(benchmark, *scenario)).unwrap();
    assert_eq!(limit(&rules, figure), (min, max));
}

#[test]
fn a_scenario_can_override_limits() {
    let offline = rules("v6.1", "qwen3-vl-235b-a22b", TestScenario::Offline);
    let interactive = rules("v6.1", "qwen3-vl-235b-a22b", TestScenario::Interactive);
    assert_eq!(limit(&offline, "F1_HIERARCHICAL"), (Some(0.782_397), None));
    assert_eq!(limit(&interactive, "F1_HIERARCHICAL"), (Some(0.779_922), None));
    assert_eq!(offline.accuracy_samples, Some(48_289));
    assert_eq!(interactive.accuracy_samples, Some(8_000));
    assert_eq!(interactive.latency.query_ns, Some(1_500_000_000));
}

#[rstest]
#[case("v4.1", "llama2-70b-99", TestScenario::Offline, "tokens_per_second", "tokens/s")]
#[case("v4.1", "gptj-99", TestScenario::Offline, "tokens_per_second_inferred", "tokens/s")]
#[case(
    "v4.1",
    "gptj-99.9",
    TestScenario::Server,
    "completed_tokens_per_second_inferred",
    "tokens/s"
)]
#[case("v4.1", "bert-99", TestScenario::Server, "completed_samples_per_second", "queries/s")]
#[case("v4.1", "resnet", TestScenario::MultiStream, "early_stopping_latency_ns", "ms")]
#[case(
    "v5.1",
    "llama2-70b-99",
    TestScenario::Interactive,
    "completed_tokens_per_second",
    "tokens/s"
)]
#[case("v5.1", "llama3.1-8b-edge", TestScenario::SingleStream, "latency_p90_ns", "ms")]
#[case("v6.0", "wan-2.2-t2v-a14b", TestScenario::SingleStream, "early_stopping_latency_ns", "s")]
#[case("v6.1", "dlrm-v3", TestScenario::Server, "completed_samples_per_second", "queries/s")]
#[case("v6.1", "e2e-rag-qna", TestScenario::Offline, "samples_per_second", "tasks/s")]
fn metrics(
    #[case] round: &str,
    #[case] benchmark: &str,
    #[case] scenario: TestScenario,
    #[case] figure: &str,
    #[case] unit: &str,
) {
    let metric = rules(round, benchmark, scenario).metric;
    assert_eq!((metric.figure.as_str(), metric.unit.as_str()), (figure, unit));
}

#[rstest]
#[case("v4.1", "llama2-70b-99", 24_576)]
#[case("v4.1", "bert-99", 10_833)]
#[case("v5.1", "stable-diffusion-xl", 5_000)]
#[case("v6.0", "gpt-oss-120b", 6_396)]
#[case("v6.0", "wan-2.2-t2v-a14b", 50)]
fn samples_per_query(#[case] round: &str, #[case] benchmark: &str, #[case] samples: u64) {
    let rules = rules(round, benchmark, TestScenario::Offline);
    assert_eq!(rules.min_samples_per_query, Some(samples));
}

#[rstest]
#[case("v4.1", "resnet", &["TEST01", "TEST04", "TEST05"])]
#[case("v4.1", "bert-99", &["TEST01", "TEST05"])]
#[case("v4.1", "stable-diffusion-xl", &["TEST01", "TEST04"])]
#[case("v4.1", "gptj-99", &[])]
#[case("v4.1", "llama2-70b-99", &["TEST06"])]
#[case("v5.1", "dlrm-v2-99", &["TEST01"])]
#[case("v5.1", "deepseek-r1", &["TEST06"])]
#[case("v6.0", "gpt-oss-120b", &["TEST07", "TEST09"])]
#[case("v6.1", "wan-2.2-t2v-a14b", &["TEST04"])]
#[case("v6.1", "dlrm-v3", &["TEST08"])]
fn compliance(#[case] round: &str, #[case] benchmark: &str, #[case] tests: &[&str]) {
    let compliance = rules(round, benchmark, TestScenario::Offline).compliance;
    let names: Vec<&str> = compliance.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, tests);
}

#[test]
fn benchmarks_are_found_by_submitter_names() {
    let v51 = built_in_rounds().get("mlperf-inference", "5.1").unwrap();
    let (name, _) = v51.find_benchmark("llama3_1-405b").unwrap();
    assert_eq!(name, "llama3.1-405b");
    assert_eq!(v51.find_benchmark("resnet50").unwrap().0, "resnet");
    assert!(v51.find_benchmark("llama4").is_none());
    assert!(v51.benchmark_rules("resnet50", TestScenario::Interactive).is_none());
}

#[test]
fn missing_scenarios_are_found() {
    use TestScenario::{Interactive, MultiStream, Offline, Server, SingleStream};
    let v60 = built_in_rounds().get("mlperf-inference", "v6.0").unwrap();
    let missing = |system, submitted: &[TestScenario]| {
        v60.missing_scenarios("llama2-70b-99", system, submitted)
    };
    assert!(missing(SystemType::Datacenter, &[Offline, Server]).is_empty());
    assert!(missing(SystemType::Datacenter, &[Offline, Interactive]).is_empty());
    assert_eq!(missing(SystemType::Datacenter, &[Offline]), ["Server or Interactive"]);
    assert_eq!(missing(SystemType::Datacenter, &[Server]), ["Offline"]);
    let v41 = built_in_rounds().get("mlperf-inference", "v4.1").unwrap();
    let both = SystemType::from_description("datacenter,edge").unwrap();
    let missing = v41.missing_scenarios("resnet", both, &[Server]);
    let missing: BTreeSet<&str> = missing.iter().map(String::as_str).collect();
    let expected = [SingleStream, MultiStream, Offline].map(TestScenario::word);
    assert_eq!(missing, BTreeSet::from(expected));
}
