//! Real logs of LoadGen 6.0.17, and copies with one edited figure.

use rstest::rstest;

use crate::loadgen::{Run, detail};

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/details/",
            $name,
            ".txt"
        ))
    };
}

const LOGS: [(&str, &str); 4] = [
    ("Offline", log!("own-offline-perf_valid")),
    ("Server", log!("own-server_tokens-perf_valid")),
    ("SingleStream", log!("own-singlestream-perf_valid")),
    ("MultiStream", log!("own-multistream-perf_valid")),
];

fn log_of(scenario: &str) -> &'static str {
    let (_, log) = LOGS.iter().find(|(name, _)| *name == scenario).unwrap();
    log
}

fn run(log: &str) -> Run {
    Run {
        summary: None,
        detail: Some(detail::parse_bytes(log.as_bytes())),
    }
}

/// The log with the value of one key multiplied.
fn edited(log: &str, key: &str, factor: f64) -> String {
    let begin = format!(r#"{{"key": "{key}", "value": "#);
    let (before, rest) = log.split_once(&begin).unwrap();
    let (value, after) = rest.split_once(',').unwrap();
    let value: f64 = value.parse().unwrap();
    let value = value * factor;
    let shown = if key.ends_with("_ns") || key.ends_with("_ss") || key.ends_with("_ms") {
        format!("{value:.0}")
    } else {
        value.to_string()
    };
    format!("{before}{begin}{shown},{after}")
}

fn violated(log: &str) -> Vec<String> {
    let checks = run(log).check_consistency().into_iter();
    let failed = checks.filter(|check| !check.passed);
    failed.map(|check| check.rule).collect()
}

#[test]
fn real_logs_are_consistent() {
    for (scenario, log) in LOGS {
        let checks = run(log).check_consistency();
        assert_eq!(checks.len(), 1, "{scenario}: {checks:?}");
        assert!(checks[0].passed, "{scenario}: {checks:?}");
    }
}

#[rstest]
#[case(
    "Offline",
    "result_samples_per_second",
    1.03,
    "samples/s times the longest latency"
)]
#[case(
    "Offline",
    "result_max_latency_ns",
    0.97,
    "samples/s times the longest latency"
)]
#[case("Offline", "result_samples_per_second", 0.0, "samples_per_second")]
#[case("Offline", "result_samples_per_second", -1.0, "samples_per_second")]
#[case(
    "Offline",
    "result_99.00_percentile_latency_ns",
    0.5,
    "latency percentiles"
)]
#[case("Offline", "result_mean_latency_ns", 0.4, "mean latency")]
#[case(
    "Server",
    "result_completed_samples_per_sec",
    1.03,
    "completed samples/s"
)]
#[case(
    "Server",
    "result_completed_samples_per_sec",
    0.9,
    "end of the last query"
)]
#[case(
    "Server",
    "result_scheduled_samples_per_sec",
    1.03,
    "duration of the run"
)]
#[case(
    "Server",
    "result_completed_tokens_per_second",
    1.03,
    "tokens per sample by completed tokens/s"
)]
#[case("Server", "result_query_count", 2.0, "queries of the result")]
#[case(
    "Server",
    "result_first_token_99.00_percentile_latency_ns",
    0.5,
    "time to first token percentiles"
)]
#[case(
    "Server",
    "result_time_per_output_token_99.00_percentile_ns",
    0.5,
    "time per output token percentiles"
)]
#[case(
    "SingleStream",
    "result_qps_without_loadgen_overhead",
    1.03,
    "queries/s times the mean latency"
)]
#[case(
    "SingleStream",
    "result_qps_with_loadgen_overhead",
    1.1,
    "duration of the run"
)]
#[case(
    "SingleStream",
    "early_stopping_latency_ss",
    0.9,
    "early stopping estimate"
)]
#[case(
    "MultiStream",
    "early_stopping_latency_ms",
    0.5,
    "early stopping estimate"
)]
#[case(
    "MultiStream",
    "result_mean_query_latency_ns",
    1.1,
    "duration of the run"
)]
fn an_edited_figure_is_inconsistent(
    #[case] scenario: &str,
    #[case] key: &str,
    #[case] factor: f64,
    #[case] rule: &str,
) {
    let violated = violated(&edited(log_of(scenario), key, factor));
    assert!(violated.iter().any(|name| name == rule), "{violated:?}");
}

#[test]
fn a_run_shorter_than_min_duration_is_reported() {
    let log = edited(log_of("Server"), "effective_min_duration_ms", 100.0);
    assert_eq!(violated(&log), ["duration for min_duration_met"]);
}

#[test]
fn accuracy_logs_are_not_checked_for_consistency() {
    let log = log_of("Offline").replace("PerformanceOnly", "AccuracyOnly");
    assert!(run(&log).check_consistency().is_empty());
}
