//! Real logs of LoadGen 6.0.17, and copies with one edited figure.

use rstest::rstest;

use crate::check::RuleCheck;
use crate::loadgen::{DETAIL_FILE, LoadgenRun, detail};

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/details/", $name, ".txt"))
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

fn run(log: &str) -> LoadgenRun {
    LoadgenRun { summary: None, detail: Some(detail::parse_detail_log(log.as_bytes())) }
}

/// Returns the log with the value of one key multiplied.
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
    violated_rules(log, run(log).check_consistency())
}

/// Returns the names of violated rules, each of which finds the lines of the log that state it. Every entry has the
/// process's id.
fn violated_rules(log: &str, checks: Vec<RuleCheck>) -> Vec<String> {
    let violated: Vec<RuleCheck> = checks.into_iter().filter(|check| !check.passed).collect();
    for check in violated.iter().filter(|check| check.rule != "pid of the detail log") {
        let mut numbered = (1..).zip(log.lines());
        let is_found = numbered.any(|(number, line)| {
            let mut stated_in = check.stated_in.iter();
            stated_in.any(|lines| lines.is_match(DETAIL_FILE, number, line))
        });
        assert!(is_found, "{check:?}");
    }
    violated.into_iter().map(|check| check.rule).collect()
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
#[case("Offline", "result_samples_per_second", 1.03, "samples/s times the longest latency")]
#[case("Offline", "result_max_latency_ns", 0.97, "samples/s times the longest latency")]
#[case("Offline", "result_samples_per_second", 0.0, "samples_per_second")]
#[case("Offline", "result_samples_per_second", -1.0, "samples_per_second")]
#[case("Offline", "result_99.00_percentile_latency_ns", 0.5, "latency percentiles")]
#[case("Offline", "result_mean_latency_ns", 0.4, "mean latency")]
#[case("Server", "result_completed_samples_per_sec", 1.03, "completed samples/s")]
#[case("Server", "result_completed_samples_per_sec", 0.9, "end of the last query")]
#[case("Server", "result_scheduled_samples_per_sec", 1.5, "duration of the run")]
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
#[case("SingleStream", "result_qps_with_loadgen_overhead", 1.5, "duration of the run")]
#[case("SingleStream", "early_stopping_latency_ss", 0.9, "early stopping estimate")]
#[case("MultiStream", "early_stopping_latency_ms", 0.5, "early stopping estimate")]
#[case("MultiStream", "result_mean_query_latency_ns", 1.5, "duration of the run")]
#[case("MultiStream", "result_mean_query_latency_ns", 0.6, "duration of the run")]
#[case("SingleStream", "early_stopping_latency_ms", 0.5, "early stopping estimate")]
#[case(
    "SingleStream",
    "early_stopping_latency_ms",
    1.000_001,
    "early stopping estimate of the 99th percentile"
)]
#[case("Server", "effective_target_qps", 0.5, "scheduled samples/s")]
#[case("Server", "effective_min_query_count", 1e6, "queries of the result, by its settings")]
#[case("Offline", "effective_min_sample_count", 1e6, "samples of the result, by its settings")]
fn an_edited_figure_is_inconsistent(
    #[case] scenario: &str,
    #[case] key: &str,
    #[case] factor: f64,
    #[case] rule: &str,
) {
    let violated = violated(&edited(log_of(scenario), key, factor));
    assert!(violated.iter().any(|name| name == rule), "{violated:?}");
}

#[rstest]
#[case::schedule("Offline", "generated_query_duration", "1000", "generated_query_duration")]
#[case::loaded_set("Server", "loaded_qsl_set", "[1,2,3]", "samples of loaded_qsl_set")]
#[case::samples_of_multi_stream(
    "MultiStream",
    "effective_samples_per_query",
    "1",
    "samples per query"
)]
#[case::samples_of_server("Server", "generated_samples_per_query", "2", "samples per query")]
#[case::early_stopping(
    "Server",
    "early_stopping_tpot_result",
    "\" * Run unsuccessful.\"",
    "early stopping's text"
)]
#[case::no_estimate("SingleStream", "early_stopping_result", "\"none\"", "early stopping's text")]
fn statements_of_a_log_agree(
    #[case] scenario: &str,
    #[case] key: &str,
    #[case] value: &str,
    #[case] rule: &str,
) {
    let log = with_value(log_of(scenario), key, value);
    let broken: Vec<String> = violated(&log).into_iter().chain(broken_logs(&log)).collect();
    assert!(broken.iter().any(|name| name == rule), "{broken:?}");
}

#[test]
fn late_queries_contradict_a_limit_that_was_met() {
    let log = replaced(
        log_of("Server"),
        "\"requested_use_token_latencies\", \"value\": true",
        "\"x\", \"value\": 1",
    );
    let log = with_value(&log, "result_perf_constraints_met", "true");
    let late = with_value(&log, "result_overlatency_query_count", "99");
    assert_eq!(violated(&log), [""; 0]);
    assert_eq!(violated(&late), ["queries above the latency limit"]);
}

#[rstest]
#[case::no_date("test_datetime", "\"unknown\"", "line 8 (test_datetime): \"unknown\"")]
#[case::no_seed(
    "effective_schedule_rng_seed",
    "29542724617942557714",
    "(effective_schedule_rng_seed)"
)]
#[case::other_setting("requested_schedule_rng_seed", "7", "other schedule_rng_seed")]
fn oddities_of_a_log_are_warnings(#[case] key: &str, #[case] value: &str, #[case] measured: &str) {
    let checks = run(&with_value(log_of("Offline"), key, value)).check_detail_log();
    let warned = checks.iter().find(|check| check.warning);
    let warned = warned.map(|check| check.measured.as_str()).unwrap_or_default();
    assert!(warned.contains(measured), "{checks:?}");
}

#[test]
fn a_clock_that_runs_backwards_is_a_warning() {
    let log = log_of("Offline");
    let before = r#"{"key": "generated_query_count", "value": 1, "time_ms": "#;
    let checks = run(&replaced(log, before, &format!("{before}-"))).check_detail_log();
    let warned = checks.iter().find(|check| check.warning).unwrap();
    assert!(warned.measured.starts_with("line 62 (generated_query_count) is "), "{warned}");
}

/// Returns the log with another value of a key.
fn with_value(log: &str, key: &str, value: &str) -> String {
    let begin = format!(r#"{{"key": "{key}", "value": "#);
    let (before, rest) = log.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(", \"time_ms\"").unwrap();
    format!("{before}{begin}{value}, \"time_ms\"{after}")
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

/// Returns one text of a log replaced by another, everywhere.
fn replaced(log: &str, from: &str, to: &str) -> String {
    let replaced = log.replace(from, to);
    assert_ne!(replaced, log, "{from} is not in the log");
    replaced
}

fn broken_logs(log: &str) -> Vec<String> {
    violated_rules(log, run(log).check_detail_log())
}

#[test]
fn real_logs_are_of_one_run() {
    for (scenario, log) in LOGS {
        let checks = run(log).check_detail_log();
        assert_eq!(checks.len(), 1, "{scenario}: {checks:?}");
        assert_eq!(checks[0].measured, "5 relations hold", "{scenario}");
    }
}

#[test]
fn more_queries_than_max_query_count_are_reported() {
    let log = log_of("Server");
    let most = r#""effective_max_query_count", "value": "#;
    let log = replaced(log, &format!("{most}0"), &format!("{most}1"));
    assert_eq!(violated(&log), ["queries of the result, by its settings"]);
}

#[test]
fn few_queries_that_loadgen_itself_reports_are_not_reported_twice() {
    let log = edited(log_of("Server"), "effective_min_query_count", 1e6);
    let met = r#""result_min_queries_met", "value": "#;
    let log = replaced(&log, &format!("{met}true"), &format!("{met}false"));
    assert_eq!(violated(&log), [""; 0]);
}

/// The results of one process behind the settings of another.
#[test]
fn a_log_of_two_processes_is_reported() {
    let log = log_of("Offline");
    let at = log.find(r#"{"key": "result_validity""#).unwrap();
    let (head, results) = log.split_at(at);
    let pid = head.split_once(r#""pid": "#).unwrap().1;
    let pid = &pid[..pid.find(',').unwrap()];
    let results = replaced(results, &format!(r#""pid": {pid}"#), r#""pid": 4711"#);
    assert_eq!(broken_logs(&format!("{head}{results}")), ["pid of the detail log"]);
    // In entries that are spelt in another way, too.
    let results = replaced(&results, r#""pid": 4711"#, r#""pid":4711"#);
    assert_eq!(broken_logs(&format!("{head}{results}")), ["pid of the detail log"]);
}

#[rstest]
#[case("NA", &[])]
#[case(" M loadgen.cc", &["changes of LoadGen's source"])]
fn changes_of_loadgen_are_reported(#[case] status: &str, #[case] violated: &[&str]) {
    let key = r#""loadgen_git_status_message", "value": ""#;
    let log = log_of("Server");
    let at = log.find(key).unwrap() + key.len();
    let end = at + log[at..].find('"').unwrap();
    let log = format!("{}{status}{}", &log[..at], &log[end..]);
    assert_eq!(broken_logs(&log), violated);
}

/// Returns the value of a text in the log.
fn text_of<'a>(log: &'a str, key: &str) -> &'a str {
    let begin = format!(r#"{{"key": "{key}", "value": ""#);
    let rest = log.split_once(&begin).unwrap().1;
    rest.split_once('"').unwrap().0
}

/// `06-01-2025 12:00:00.000` a number of seconds later.
fn later(moment: &str, seconds: i64) -> String {
    let moment = crate::power::parse_moment(moment).unwrap();
    let later = moment + jiff::SignedDuration::from_secs(seconds);
    later.strftime("%m-%d-%Y %H:%M:%S%.3f").to_string()
}

#[rstest]
// Another zone.
#[case(5 * 3600 + 1800, 5 * 3600 + 1800, &[])]
#[case(-900, -900, &[])]
// Another day's minute.
#[case(60, 60, &["start of the run by power_begin"])]
#[case(0, 540, &["duration by power_begin and power_end"])]
#[case(-30, 0, &["start of the run by power_begin", "duration by power_begin and power_end"])]
fn the_log_has_two_clocks_that_agree(
    #[case] begin: i64,
    #[case] end: i64,
    #[case] violated: &[&str],
) {
    let log = log_of("Server");
    let [began, ended] = ["power_begin", "power_end"].map(|key| text_of(log, key));
    let log = log.replace(&format!("\"{ended}\""), &format!("\"{}\"", later(ended, end)));
    let log = log.replace(&format!("\"{began}\""), &format!("\"{}\"", later(began, begin)));
    assert_eq!(broken_logs(&log), violated);
}
