use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

fn entry(key: &str, value: &str) -> String {
    flagged(key, value, false, false)
}

fn flagged(key: &str, value: &str, error: bool, warning: bool) -> String {
    format!(
        r#":::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 12.5, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": {error}, "is_warning": {warning}, "file": "results.cc", "line_no": 1, "pid": 7, "tid": 7}}}}"#
    ) + "\n"
}

fn log(entries: &[(&str, &str)]) -> String {
    entries.iter().map(|(key, value)| entry(key, value)).collect()
}

fn server() -> String {
    log(&[
        ("loadgen_version", r#""6.0.17 @ d6147c7eb7""#),
        ("test_datetime", r#""2026-11-21T06:31:23Z""#),
        ("sut_name", r#""PySUT""#),
        ("effective_scenario", r#""Server""#),
        ("effective_test_mode", r#""PerformanceOnly""#),
        ("effective_target_qps", "300"),
        ("effective_schedule_rng_seed", "18209322760996052031"),
        ("generated_query_count", "913"),
        ("result_validity", r#""VALID""#),
        ("result_perf_constraints_met", "true"),
        ("result_min_duration_met", "true"),
        ("early_stopping_result", r#"" * Run successful.""#),
        ("result_completed_samples_per_sec", "297.92"),
        ("result_completed_tokens_per_second", "1.04211e+06"),
        ("result_99.00_percentile_latency_ns", "11614330"),
        ("result_99.90_percentile_latency_ns", "11714330"),
        ("num_errors", "0"),
        ("power_begin", r#""11-21-2026 07:31:23.601""#),
        ("power_end", r#""11-21-2026 07:31:26.602""#),
    ])
}

#[test]
fn a_server_log_is_read() {
    let detail = parse_detail_log(server().as_bytes());
    assert_eq!(detail.loadgen_version.as_deref(), Some("6.0.17 @ d6147c7eb7"));
    assert_eq!(detail.scenario, Some(TestScenario::Server));
    assert_eq!(detail.mode, Some(TestMode::Performance));
    assert_eq!(detail.result, Some(ResultStatus::Valid));
    assert_eq!(detail.constraints.performance, Some(true));
    assert_eq!(detail.parameters.target_qps, Some(300.0));
    assert_eq!(detail.parameters.schedule_rng_seed, Some(18_209_322_760_996_052_031));
    assert_eq!(detail.generated_query_count, Some(913));
    assert_eq!(detail.early_stopping.query.as_ref().unwrap().successful, Some(true));
    assert_eq!((detail.entries, detail.malformed, detail.foreign), (19, 0, 0));
    assert!(detail.is_complete());
    let tokens = &detail.figures["completed_tokens_per_second"];
    assert!((tokens.value - 1_042_110.0).abs() < 1e-6);
    assert!((tokens.half_digit - 5.0).abs() < 1e-9, "six significant digits");
    assert!((detail.figures["latency_p99_ns"].half_digit - 0.5).abs() < 1e-12);
}

#[test]
fn the_start_is_test_datetime_not_power_begin() {
    let detail = parse_detail_log(server().as_bytes());
    assert_eq!(detail.started_at.unwrap().to_string(), "2026-11-21T06:31:23Z");
    assert_eq!(detail.power_begin.as_deref(), Some("11-21-2026 07:31:23.601"));
    assert_eq!(detail.measured_ms, Some(3001));
}

#[test]
fn errors_and_warnings_are_counted_and_first_errors_stored() {
    let mut text = String::new();
    for index in 0..100 {
        text += &flagged("error_runtime", &format!(r#""error {index}""#), true, false);
    }
    text += &flagged("warning_generic_message", r#""CAS failed.""#, false, true);
    let detail = parse_detail_log(text.as_bytes());
    assert_eq!((detail.errors, detail.warnings), (100, 1));
    assert_eq!(detail.error_messages.len(), MAX_ERROR_MESSAGES);
    assert_eq!(detail.error_messages[3], "error 3");
}

#[test]
fn a_message_that_mentions_errors_is_not_an_error() {
    let text = entry("generic_message", r#""{\"is_error\": true}""#);
    assert_eq!(parse_detail_log(text.as_bytes()).errors, 0);
}

#[test]
fn errors_are_found_in_any_json_formatting() {
    let text = r#":::MLLOG {"metadata":{"is_error":true},"value":"x","key":"error_runtime"}"#;
    let detail = parse_detail_log(text.as_bytes());
    assert_eq!((detail.errors, detail.malformed), (1, 0));
    assert_eq!(detail.error_messages[0], "x");
}

#[test]
fn multi_stream_has_latencies_per_query_and_per_sample() {
    let detail = parse_detail_log(
        log(&[
            ("effective_scenario", r#""MultiStream""#),
            ("result_99.00_percentile_per_query_latency_ns", "200"),
            ("result_min_query_latency_ns", "20"),
            ("result_99.00_percentile_latency_ns", "100"),
            ("result_min_latency_ns", "10"),
            ("early_stopping_latency_ms", "250"),
        ])
        .as_bytes(),
    );
    let value = |name: &str| detail.figures[name].value.to_string();
    assert_eq!(
        (value("latency_p99_ns"), value("sample_latency_p99_ns")),
        ("200".into(), "100".into())
    );
    assert_eq!(
        (value("latency_min_ns"), value("sample_latency_min_ns")),
        ("20".into(), "10".into())
    );
    assert_eq!(value("early_stopping_latency_ns"), "250");
}

#[test]
fn a_zero_estimate_is_read_as_none() {
    let text = log(&[
        ("effective_scenario", r#""SingleStream""#),
        ("early_stopping_latency_ss", "0"),
        ("early_stopping_latency_ms", "0"),
    ]);
    assert!(parse_detail_log(text.as_bytes()).figures.is_empty());
}

#[test]
fn token_throughput_is_tokens_per_nanosecond() {
    let detail = parse_detail_log(entry("result_token_throughput", "5.77509e-06").as_bytes());
    let figure = &detail.figures["tokens_per_second_without_loadgen_overhead"];
    assert!((figure.value - 5775.09).abs() < 1e-6, "{figure:?}");
    assert!((figure.half_digit - 0.005).abs() < 1e-9, "{figure:?}");
}

#[test]
fn the_worst_of_several_results_is_used() {
    for order in [["VALID", "INVALID"], ["INVALID", "VALID"]] {
        let text: String =
            order.iter().map(|word| entry("result_validity", &format!("\"{word}\""))).collect();
        assert_eq!(parse_detail_log(text.as_bytes()).result, Some(ResultStatus::Invalid));
    }
}

#[test]
fn an_appended_log_contains_two_tests() {
    let detail = parse_detail_log(format!("{0}{0}", server()).as_bytes());
    assert_eq!(detail.tests, 2);
}

#[test]
fn a_truncated_log_is_incomplete() {
    let text = server();
    let cut = text.find("result_validity").unwrap();
    let detail = parse_detail_log(&text.as_bytes()[..cut]);
    assert!(!detail.is_complete());
    assert_eq!(detail.malformed, 1);
    assert_eq!(detail.scenario, Some(TestScenario::Server));
}

#[test]
fn malformed_and_foreign_lines_are_counted() {
    let detail = parse_detail_log(
        b"hello\n\n:::MLLOG nothing\nprefix :::MLLOG {\"key\": \"sut_name\", \"value\": \"A\"}\n",
    );
    assert_eq!((detail.entries, detail.malformed, detail.foreign), (2, 1, 1));
    assert_eq!(detail.sut_name.as_deref(), Some("A"));
}

#[test]
fn trailing_carriage_returns_are_ignored() {
    let text = server();
    assert_eq!(
        parse_detail_log(text.replace('\n', "\r\n").as_bytes()),
        parse_detail_log(text.as_bytes())
    );
    let mut by_line = DetailParser::new();
    text.lines().for_each(|line| by_line.feed_line(line.as_bytes()));
    assert_eq!(by_line.finish(), parse_detail_log(text.as_bytes()));
}

#[test]
fn a_50_megabyte_line_is_not_buffered_but_its_flags_are_read() {
    let numbers = "1,".repeat(25_000_000);
    let value = format!("[{numbers}1]");
    let line = flagged("loaded_qsl_set", &value, true, false);
    let mut parser = DetailParser::new();
    let mut most = 0;
    for chunk in line.as_bytes().chunks(64 * 1024) {
        parser.push(chunk);
        most = most.max(parser.pending_capacity());
    }
    assert!(most <= 3 << 20, "{most}");
    let detail = parser.finish();
    assert_eq!((detail.entries, detail.errors, detail.malformed), (1, 1, 0));
}

#[test]
fn both_ends_of_a_long_line_are_read_with_any_chunking() {
    let filler = "1,".repeat(1 << 19);
    let hidden = format!(r#"[{filler}{{"is_error": true}},{filler}1]"#);
    let text = flagged("loaded_qsl_set", &hidden, false, true) + &server();
    let whole = parse_detail_log(text.as_bytes());
    assert_eq!((whole.entries, whole.errors, whole.warnings, whole.malformed), (20, 0, 1, 0));
    for size in [1000, 4096, 65_536, 1 << 20, (2 << 20) + 77] {
        let mut parser = DetailParser::new();
        text.as_bytes().chunks(size).for_each(|chunk| parser.push(chunk));
        assert_eq!(parser.finish(), whole, "{size}");
    }
}

#[test]
fn hostile_keys_take_bounded_memory() {
    let mut text = String::new();
    for index in 0..5000 {
        let _ = write!(text, "{}", entry(&format!("result_{index}"), "1"));
    }
    text += &entry("result_long", &format!("\"{}\"", "x".repeat(100_000)));
    let detail = parse_detail_log(text.as_bytes());
    assert!(detail.figures.is_empty());
}

proptest! {
    #[test]
    fn results_do_not_depend_on_chunking(cuts in prop::collection::vec(0_usize..5000, 0..10)) {
        let text = server();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let mut parser = DetailParser::new();
        let mut begin = 0;
        for cut in cuts {
            parser.push(&text.as_bytes()[begin..cut]);
            begin = cut;
        }
        prop_assert_eq!(parser.finish(), parse_detail_log(text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = parse_detail_log(&bytes);
    }

    #[test]
    fn a_damaged_log_is_read(at in 0_usize..4000, byte in any::<u8>()) {
        let mut bytes = server().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = parse_detail_log(&bytes);
    }

    #[test]
    fn any_value_of_any_key_is_read(value in "(-?[0-9]{1,30}(\\.[0-9]{1,5})?(e[0-9]{1,3})?|null|true|\\[\\]|\\{\\}|\"[^\"\\\\\\p{Cc}]{0,20}\")") {
        for key in ["result_validity", "test_datetime", "power_begin", "effective_target_qps", "result_samples_per_second", "early_stopping_latency_ss", "effective_scenario", "generated_query_count"] {
            let _ = parse_detail_log(entry(key, &value).as_bytes());
        }
    }
}
