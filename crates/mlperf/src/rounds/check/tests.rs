//! A run that passes every rule, and the check that each deviation fails.

use rstest::rstest;

use super::*;
use crate::Division;
use crate::loadgen::Parameters;
use crate::loadgen::summary::Constraints;
use crate::rounds::built_in_rounds;

fn rules(scenario: TestScenario) -> InferenceRules {
    let round = built_in_rounds().get("mlperf-inference", "v5.1").unwrap();
    round.benchmark_rules("llama2-70b-99", scenario).unwrap()
}

/// Returns the settings that `LoadGen` logs in a valid run of v5.1.
fn run(scenario: TestScenario) -> RunSettings {
    RunSettings {
        scenario: Some(scenario),
        errors: Some(0),
        constraints: Constraints { early_stopping: Some(true), ..Constraints::default() },
        settings: Parameters {
            qsl_rng_seed: Some(1_780_908_523_862_526_354),
            sample_index_rng_seed: Some(14_771_362_308_971_278_857),
            schedule_rng_seed: Some(18_209_322_760_996_052_031),
            min_duration_ms: Some(600_000),
            min_query_count: Some(1),
            samples_per_query: Some(24_576),
            target_latency_percentile: Some(0.99),
            performance_sample_count: Some(24_576),
            use_token_latencies: Some(true),
            sample_concatenate_permutation: Some(true),
            ..Parameters::default()
        },
        has_detail: true,
        ..RunSettings::default()
    }
}

/// p99 of the time to first token and per output token, ms.
fn tokens(ttft: f64, tpot: f64) -> impl Fn(&str) -> Option<(f64, String)> {
    move |name| {
        let value = match name {
            "ttft_p99_ns" => ttft,
            "tpot_p99_ns" => tpot,
            _ => return None,
        };
        Some((value * 1e6, "ns".to_owned()))
    }
}

fn failing(checks: &[RuleCheck]) -> Vec<String> {
    let failed = checks.iter().filter(|check| !check.passed);
    failed
        .map(|check| format!("{}: {}; required {}", check.rule, check.measured, check.required))
        .collect()
}

#[test]
fn every_rule_is_listed() {
    let checks = rules(TestScenario::Server)
        .check_performance(&run(TestScenario::Server), &tokens(1999.9, 199.9));
    let listed: Vec<&str> = checks.iter().map(|check| check.rule.as_str()).collect();
    assert_eq!(
        listed,
        [
            "scenario",
            "LoadGen's errors",
            "sample_concatenate_permutation",
            "performance sample count",
            "qsl_rng_seed",
            "sample_index_rng_seed",
            "schedule_rng_seed",
            "early stopping",
            "target percentile",
            "token latencies",
            "time to first token, 99th percentile",
            "time per output token, 99th percentile",
            "min_duration",
        ]
    );
    assert_eq!(failing(&checks), [""; 0]);
    let offline =
        rules(TestScenario::Offline).check_performance(&run(TestScenario::Offline), &|_| None);
    assert_eq!(failing(&offline), [""; 0]);
    let listed = offline.iter().any(|check| check.rule == "samples per query");
    assert!(listed);
}

#[rstest]
#[case(
    TestScenario::Server,
    2000.0,
    100.0,
    Some("time to first token, 99th percentile: 2 s; required below 2 s")
)]
#[case(
    TestScenario::Server,
    1000.0,
    200.0,
    Some("time per output token, 99th percentile: 200 ms; required below 200 ms")
)]
#[case(
    TestScenario::Interactive,
    1000.0,
    39.0,
    Some("time to first token, 99th percentile: 1 s; required below 450 ms")
)]
#[case(TestScenario::Interactive, 449.0, 39.9, None)]
#[case(
    TestScenario::Server,
    f64::NAN,
    1.0,
    Some("time to first token, 99th percentile: NaN ns; required below 2 s")
)]
fn latency_limits_depend_on_the_scenario(
    #[case] scenario: TestScenario,
    #[case] ttft: f64,
    #[case] tpot: f64,
    #[case] violated: Option<&str>,
) {
    // LoadGen logs Server for an Interactive run.
    let checks = rules(scenario).check_performance(&run(TestScenario::Server), &tokens(ttft, tpot));
    assert_eq!(failing(&checks), violated.into_iter().collect::<Vec<_>>());
}

#[rstest]
#[case(|run: &mut RunSettings| run.errors = Some(3), "LoadGen's errors: 3; required none")]
#[case(|run: &mut RunSettings| run.settings.schedule_rng_seed = Some(18_209_322_760_996_052_030), "schedule_rng_seed: 18209322760996052030; required 18209322760996052031")]
#[case(|run: &mut RunSettings| run.settings.qsl_rng_seed = None, "qsl_rng_seed: not in the logs; required 1780908523862526354")]
#[case(|run: &mut RunSettings| run.settings.min_duration_ms = Some(59_999), "min_duration: 59.999 s; required at least 600 s")]
#[case(|run: &mut RunSettings| run.settings.performance_sample_count = Some(24_575), "performance sample count: 24,575; required at least 24,576")]
#[case(|run: &mut RunSettings| run.settings.samples_per_query = Some(24_575), "samples per query: 24,575; required at least 24,576")]
#[case(|run: &mut RunSettings| run.settings.sample_concatenate_permutation = Some(false), "sample_concatenate_permutation: false; required true")]
#[case(|run: &mut RunSettings| run.settings.use_token_latencies = None, "token latencies: not in the logs; required measured")]
#[case(|run: &mut RunSettings| run.scenario = Some(TestScenario::Server), "scenario: Server; required Offline")]
fn deviations(#[case] change: fn(&mut RunSettings), #[case] expected: &str) {
    let mut run = run(TestScenario::Offline);
    change(&mut run);
    let checks = rules(TestScenario::Offline).check_performance(&run, &|_| None);
    assert!(failing(&checks).iter().any(|violated| violated == expected), "{checks:#?}");
}

#[rstest]
#[case("llama2-70b-99", TestScenario::Server, Some(0.98), Some("98 %; required at least 99 %"))]
#[case("llama2-70b-99", TestScenario::Server, Some(0.999), None)]
#[case(
    "llama2-70b-99",
    TestScenario::Server,
    None,
    Some("not in the logs; required at least 99 %")
)]
#[case("resnet", TestScenario::SingleStream, Some(0.9), None)]
#[case("resnet", TestScenario::SingleStream, Some(0.5), Some("50 %; required at least 90 %"))]
#[case("resnet", TestScenario::MultiStream, Some(0.9), Some("90 %; required at least 99 %"))]
#[case("resnet", TestScenario::Offline, Some(0.5), None)]
#[case("pointpainting", TestScenario::SingleStream, Some(0.999), None)]
#[case(
    "pointpainting",
    TestScenario::SingleStream,
    Some(0.99),
    Some("99 %; required at least 99.9 %")
)]
fn the_target_percentile_depends_on_scenario_and_benchmark(
    #[case] benchmark: &str,
    #[case] scenario: TestScenario,
    #[case] logged: Option<f64>,
    #[case] violated: Option<&str>,
) {
    let round = built_in_rounds().get("mlperf-inference", "v5.1").unwrap();
    let rules = round.benchmark_rules(benchmark, scenario).unwrap();
    let mut run = run(scenario);
    run.settings.target_latency_percentile = logged;
    let checks = rules.check_performance(&run, &|_| None);
    let failing = failing(&checks).into_iter();
    let violations: Vec<String> = failing
        .filter_map(|text| Some(text.strip_prefix("target percentile: ")?.to_owned()))
        .collect();
    assert_eq!(violations, violated.into_iter().collect::<Vec<_>>());
    // A summary does not state it.
    run.has_detail = false;
    let checks = rules.check_performance(&run, &|_| None);
    assert!(checks.iter().all(|check| check.rule != "target percentile"));
}

#[rstest]
#[case(Some(2_000_000_000), Some(200_000_000), &[])]
#[case(Some(2_000_000_001), Some(200_000_000), &["time to first token target"])]
#[case(Some(450_000_000), Some(300_000_000), &["time per output token target"])]
#[case(None, None, &[])]
fn targets_of_token_latencies_are_at_most_the_limits(
    #[case] ttft: Option<u64>,
    #[case] tpot: Option<u64>,
    #[case] violated: &[&str],
) {
    let mut run = run(TestScenario::Server);
    run.settings.ttft_latency_ns = ttft;
    run.settings.tpot_latency_ns = tpot;
    let checks = rules(TestScenario::Server).check_performance(&run, &tokens(1.0, 1.0));
    let failed = checks.iter().filter(|check| !check.passed);
    let failed: Vec<&str> = failed.map(|check| check.rule.as_str()).collect();
    assert_eq!(failed, violated);
}

#[test]
fn early_stopping_replaces_the_minimum_query_count() {
    let mut run = run(TestScenario::Server);
    run.settings.min_query_count = Some(1);
    let figures = tokens(1.0, 1.0);
    assert_eq!(failing(&rules(TestScenario::Server).check_performance(&run, &figures)), [""; 0]);
    run.constraints.early_stopping = Some(false);
    assert_eq!(
        failing(&rules(TestScenario::Server).check_performance(&run, &figures)),
        ["early stopping: not satisfied; required satisfied"]
    );
}

#[test]
fn query_latency_is_checked_without_token_latencies() {
    let round = built_in_rounds().get("mlperf-inference", "v5.1").unwrap();
    let rules = round.benchmark_rules("retinanet", TestScenario::Server).unwrap();
    let mut run = run(TestScenario::Server);
    run.settings.target_latency_ns = Some(100_000_000);
    let p99 = |name: &str| (name == "latency_p99_ns").then(|| (100e6, "ns".to_owned()));
    assert_eq!(failing(&rules.check_performance(&run, &p99)), [""; 0]);
    run.settings.target_latency_ns = Some(100_000_001);
    let late = |name: &str| (name == "latency_p99_ns").then(|| (101e6, "ns".to_owned()));
    let violated = failing(&rules.check_performance(&run, &late));
    assert_eq!(violated.len(), 2, "{violated:?}");
}

#[test]
fn accuracy_is_a_range() {
    let rules = rules(TestScenario::Offline);
    let figures = |tokens: f64| {
        move |name: &str| {
            let value = match name {
                "ROUGE1" => 43.986_888,
                "ROUGE2" => 22.0,
                "ROUGEL" => 28.5,
                "TOKENS_PER_SAMPLE" => tokens,
                _ => return None,
            };
            Some((value, String::new()))
        }
    };
    assert_eq!(failing(&rules.check_accuracy(None, &figures(290.0))), [""; 0]);
    assert_eq!(
        failing(&rules.check_accuracy(None, &figures(324.0))),
        ["TOKENS_PER_SAMPLE: 324; required at least 265.005 and at most 323.895"]
    );
    let missing = failing(&rules.check_accuracy(None, &|_| None));
    assert_eq!(missing.len(), 4);
    assert_eq!(missing[0], "ROUGE1: no such figure; required at least 43.9869");
    let run = RunSettings { library_samples: Some(24_575), ..RunSettings::default() };
    assert_eq!(
        failing(&rules.check_accuracy(Some(&run), &figures(290.0))),
        ["accuracy sample count: 24,575; required 24,576"]
    );
    let open = rules.in_division(Division::Open);
    assert_eq!(
        failing(&open.check_accuracy(Some(&run), &|_| None)),
        ["accuracy sample count: 24,575; required 24,576"]
    );
}

#[test]
fn an_edge_system_can_infer_offline_from_single_stream() {
    let round = built_in_rounds().get("mlperf-inference", "v5.1").unwrap();
    let rules = round.benchmark_rules("resnet50", TestScenario::Offline).unwrap();
    let checks = rules.check_performance(&run(TestScenario::SingleStream), &|_| None);
    let scenario = &checks[0];
    assert_eq!(scenario.rule, "scenario");
    assert_eq!(
        scenario.measured,
        "SingleStream, from which an edge system's Offline may be inferred"
    );
    assert!(scenario.passed && scenario.required == "Offline", "{scenario}");
}

#[rstest]
#[case::before_it_was_logged("v4.1", "closed", true, None, &[])]
#[case::off_before("v4.1", "closed", true, Some(false), &["false"])]
#[case::open_before("v4.1", "open", true, Some(false), &[])]
#[case::logged("v5.0", "closed", true, Some(true), &[])]
#[case::off("v5.0", "closed", true, Some(false), &["false"])]
#[case::not_logged("v5.0", "closed", true, None, &["not in the logs"])]
#[case::a_summary_never_tells("v5.0", "closed", false, None, &[])]
#[case::open("v5.0", "open", true, Some(false), &[])]
#[case::open_since("v5.1", "open", true, Some(false), &["false"])]
#[case::not_any_more("v6.0", "closed", true, Some(false), &[])]
fn equal_issue_depends_on_round_and_division(
    #[case] round: &str,
    #[case] division: Division,
    #[case] has_detail: bool,
    #[case] logged: Option<bool>,
    #[case] expected: &[&str],
) {
    let rounds = built_in_rounds();
    let round = rounds.get("mlperf-inference", round).unwrap();
    let rules = round.benchmark_rules("mixtral-8x7b", TestScenario::Offline).unwrap();
    let mut run = run(TestScenario::Offline);
    run.has_detail = has_detail;
    run.settings.sample_concatenate_permutation = logged;
    let checks = rules.in_division(division).check_performance(&run, &|_| None);
    let issue_checks = checks
        .iter()
        .filter(|check| check.rule == "sample_concatenate_permutation" && !check.passed);
    let violated: Vec<&str> = issue_checks.map(|check| check.measured.as_str()).collect();
    assert_eq!(violated, expected);
}
