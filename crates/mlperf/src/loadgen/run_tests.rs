use rstest::rstest;

use super::{
    LoadgenDetail, LoadgenRun, LoadgenSummary, ResultStatus, TestMode, TestScenario, Validity,
    detail, summary,
};

macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/summaries/",
            $name,
            ".txt"
        ))
    };
}

const SERVER: &str = printed!("own-server_tokens-perf_valid");

fn summary_of(text: &str) -> LoadgenRun {
    LoadgenRun {
        summary: Some(summary::parse_summary(text).unwrap()),
        detail: None,
    }
}

/// Returns the detail log of the Server summary above, with further entries: the last of a key counts.
fn detail_of(entries: &[(&str, &str)]) -> LoadgenDetail {
    let log = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/details/own-server_tokens-perf_valid.txt"
    ));
    let further: Vec<String> = entries
        .iter()
        .map(|(key, value)| {
            let error = *key == "error_runtime";
            format!(r#":::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 1.0, "metadata": {{"is_error": {error}, "is_warning": false}}}}"#)
        })
        .collect();
    let mut parser = detail::DetailParser::new();
    let lines = log.lines().chain(further.iter().map(String::as_str));
    lines.for_each(|line| parser.feed_line(line.as_bytes()));
    parser.finish()
}

fn both(entries: &[(&str, &str)]) -> LoadgenRun {
    LoadgenRun {
        detail: Some(detail_of(entries)),
        ..summary_of(SERVER)
    }
}

#[track_caller]
fn assert_validity(run: &LoadgenRun, expected: Validity, reason: &str) {
    let validity = run.validity();
    assert_eq!(validity.verdict, expected, "{validity:?}");
    let reasons = validity.reasons.join("\n");
    assert!(reasons.contains(reason), "{reasons}");
}

#[test]
fn server_rates_are_aliases_of_completed_rates() {
    let run = summary_of(SERVER);
    let tokens = run.resolve_figure("tokens_per_second").unwrap();
    assert!((tokens.value - 3425.6).abs() < 1e-9);
    for (name, own) in [
        ("tokens_per_second", "completed_tokens_per_second"),
        ("samples_per_second", "completed_samples_per_second"),
    ] {
        assert_eq!(
            run.resolve_figure(name).as_ref(),
            Some(run.figure(own).unwrap())
        );
        assert_eq!(run.resolve_figure(name), run.resolve_figure(own));
    }
}

#[test]
fn a_missing_figure_resolves_to_none() {
    let run = summary_of(SERVER);
    for name in [
        "tokens_per_second_inferred",
        "early_stopping_latency_ns",
        "nonsense",
        "",
        "_s",
        "s",
    ] {
        assert_eq!(run.resolve_figure(name), None, "{name}");
    }
    let offline = summary_of(printed!("own-misc-offline_errors_double_complete"));
    assert_eq!(offline.resolve_figure("tokens_per_second"), None);
    let own = offline.figure("samples_per_second").unwrap();
    assert_eq!(
        offline.resolve_figure("samples_per_second").as_ref(),
        Some(own)
    );
}

#[rstest]
#[case("ttft_p99_us", 6414.571, "us")]
#[case("ttft_p99_ms", 6.414_571, "ms")]
#[case("ttft_p99_s", 0.006_414_571, "s")]
fn times_are_converted_to_the_requested_unit(
    #[case] name: &str,
    #[case] value: f64,
    #[case] unit: &str,
) {
    let figure = summary_of(SERVER).resolve_figure(name).unwrap();
    assert_eq!(figure.unit, unit);
    assert!((figure.value - value).abs() < 1e-9 * value);
    assert!(figure.half_digit < value * 1e-6);
}

#[test]
fn inferred_figures_resolve_by_loadgen_name() {
    let text =
        "SUT name : A\nScenario : Server\nCompleted tokens per second (inferred): 20471.43\n";
    let run = summary_of(text);
    let own = run.figure("completed_tokens_per_second_inferred").unwrap();
    assert_eq!(
        run.resolve_figure("inferred_tokens_per_second").as_ref(),
        Some(own)
    );
}

#[test]
fn the_detail_log_has_precedence() {
    let run = both(&[("effective_target_qps", "300.001")]);
    assert_eq!(run.parameters().target_qps, Some(300.001));
    assert_eq!(run.parameters().ttft_latency_ns, Some(2_000_000_000));
    assert_eq!(run.figures_missing_in_detail(), [""; 0]);
    assert_validity(&run, Validity::Valid, "");
}

#[test]
fn rounding_is_not_a_disagreement() {
    let text = SERVER.replace("3425.60", "3425.6");
    let mut run = LoadgenRun {
        summary: summary_of(&text).summary,
        ..both(&[])
    };
    run.detail = Some(detail_of(&[(
        "result_completed_tokens_per_second",
        "3425.65",
    )]));
    assert_eq!(run.figure_disagreements(), []);
    run.detail = Some(detail_of(&[(
        "result_completed_tokens_per_second",
        "3425.8",
    )]));
    assert_eq!(
        run.figure_disagreements()[0].0,
        "completed_tokens_per_second"
    );
}

#[rstest]
#[case::a_figure(("result_completed_tokens_per_second", "3426.9"), "completed_tokens_per_second (3425.6, 3426.9)")]
#[case::a_setting(("effective_min_duration_ms", "600000"), "min_duration_ms")]
#[case::scenario(("effective_scenario", "\"Offline\""), "scenario (Server, Offline)")]
#[case::mode(("effective_test_mode", "\"SubmissionRun\""), "mode (PerformanceOnly, SubmissionRun)")]
fn logs_of_two_runs_are_invalid(#[case] entry: (&str, &str), #[case] reason: &str) {
    assert_validity(&both(&[entry]), Validity::Invalid, reason);
    assert_validity(
        &both(&[entry]),
        Validity::Invalid,
        "the summary and detail log disagree",
    );
}

/// What the summary prints in place of a number is no less a disagreement than another number.
#[rstest]
#[case::nan("nan")]
#[case::with_a_comma("3425,60")]
fn a_figure_that_only_the_detail_log_has_is_invalid(#[case] printed: &str) {
    let text = SERVER.replace("3425.60", printed);
    let logged = LoadgenRun {
        summary: summary_of(&text).summary,
        ..both(&[("result_completed_tokens_per_second", "3425.6")])
    };
    let reason = format!("completed_tokens_per_second ({printed}, 3425.6)");
    assert_validity(&logged, Validity::Invalid, &reason);
    assert_eq!(summary_of(&text).unreadable_in_summary().count(), 0);
}

#[test]
fn a_valid_result_with_errors_is_invalid() {
    let run = summary_of(printed!("own-misc-offline_errors_double_complete"));
    assert_validity(
        &run,
        Validity::Invalid,
        "LoadGen counted 2 errors in the summary",
    );
    let run = both(&[(
        "error_runtime",
        r#""Attempted to complete a sample twice.""#,
    )]);
    assert_validity(
        &run,
        Validity::Invalid,
        "LoadGen counted 1 error in the detail log\n",
    );
    assert_validity(
        &run,
        Validity::Invalid,
        "Attempted to complete a sample twice.",
    );
}

#[test]
fn a_valid_result_with_an_unmet_constraint_is_invalid() {
    let text = SERVER.replace(
        "Min duration satisfied : Yes",
        "Min duration satisfied : NO",
    );
    assert_validity(
        &summary_of(&text),
        Validity::Invalid,
        "not satisfied, although LoadGen's result is not INVALID: min duration",
    );
    let run = both(&[("result_min_queries_met", "false")]);
    assert_validity(&run, Validity::Invalid, "min queries");
}

#[test]
fn an_invalid_result_has_reasons() {
    let run = summary_of(printed!("own-server_tokens-invalid_both"));
    for reason in [
        "LoadGen's result is INVALID, not satisfied: performance constraints, early stopping",
        "LoadGen: TTFT constrain not met: Reduce target QPS to improve latency.",
        "TPOT early stopping: Run unsuccessful. Processed 600 queries.",
    ] {
        assert_validity(&run, Validity::Invalid, reason);
    }
    let wan = summary_of(printed!("own-conf-wan22_singlestream_50q_invalid"));
    assert_validity(
        &wan,
        Validity::Invalid,
        "early stopping: Only processed 50 queries. Need to process at least 64 queries",
    );
}

#[test]
fn an_invalid_detail_log_alone_has_reasons() {
    let reason = r#""TTFT constrain not met: Reduce target QPS to improve latency.  * TPOT constrain not met: Reduce target QPS to improve latency. ""#;
    let detail = detail_of(&[
        ("result_validity", r#""INVALID""#),
        ("result_invalid_reason", reason),
    ]);
    let run = LoadgenRun {
        summary: None,
        detail: Some(detail),
    };
    assert_validity(
        &run,
        Validity::Invalid,
        "LoadGen: TPOT constrain not met: Reduce",
    );
}

#[test]
fn a_summary_edited_to_valid_is_invalid() {
    let run = both(&[("result_validity", r#""INVALID""#)]);
    assert_validity(
        &run,
        Validity::Invalid,
        "the detail log reports INVALID, but the summary reports VALID",
    );
}

#[test]
fn only_errors_invalidate_an_accuracy_run() {
    let run = summary_of(printed!("own-offline-accuracy"));
    assert_eq!(run.mode(), Some(TestMode::Accuracy));
    assert_validity(&run, Validity::Valid, "");
    let run = summary_of(
        "No warnings encountered during test.\n\n1 ERROR encountered. See detailed log.\n",
    );
    assert_validity(
        &run,
        Validity::Invalid,
        "LoadGen counted 1 error in the summary",
    );
}

#[test]
fn find_peak_performance_is_not_a_measurement() {
    let run = summary_of(&SERVER.replace("PerformanceOnly", "FindPeakPerformance"));
    assert_validity(&run, Validity::Invalid, "FindPeakPerformance");
}

#[test]
fn a_guides_excerpt_is_valid() {
    let run = summary_of(printed!("v6.0-guide-llama2-interactive-no-rules"));
    assert_validity(&run, Validity::Valid, "");
    let summary = run.summary.as_ref().unwrap();
    assert_eq!(
        summary.missing,
        [
            "Test Parameters Used",
            "warnings encountered",
            "errors encountered"
        ]
    );
}

#[test]
fn a_truncated_summary_has_unknown_validity() {
    let cut = SERVER.find("No warnings").unwrap();
    assert_validity(
        &summary_of(&SERVER[..cut]),
        Validity::Unknown,
        "they were truncated",
    );
    let cut = SERVER.find("Result is").unwrap();
    assert_validity(
        &summary_of(&SERVER[..cut]),
        Validity::Unknown,
        "whether the result is VALID",
    );
    // The detail log has the values that the summary lost, but not the cause of its truncation.
    let run = LoadgenRun {
        detail: Some(detail_of(&[])),
        ..summary_of(&SERVER[..cut])
    };
    assert_validity(&run, Validity::Unknown, "the summary was truncated");
}

#[test]
fn a_run_without_logs_has_unknown_validity() {
    assert_validity(
        &LoadgenRun::default(),
        Validity::Unknown,
        "neither a summary nor a detail log",
    );
}

#[test]
fn a_detail_log_with_two_tests_is_unknown() {
    let run = both(&[("test_datetime", r#""2026-11-22T06:31:23Z""#)]);
    assert_validity(&run, Validity::Unknown, "holds 2 tests");
}

#[test]
fn one_log_alone_is_enough() {
    let detail = LoadgenRun {
        summary: None,
        detail: Some(detail_of(&[])),
    };
    assert_validity(&detail, Validity::Valid, "");
    assert_eq!(detail.scenario(), Some(TestScenario::Server));
    let summary = summary_of(SERVER);
    assert_eq!(
        summary
            .summary
            .as_ref()
            .and_then(|summary: &LoadgenSummary| summary.result),
        Some(ResultStatus::Valid)
    );
    assert_validity(&summary, Validity::Valid, "");
}

#[test]
fn early_stopping_estimates_must_agree_in_both_logs() {
    let text = printed!("own-singlestream-perf_valid");
    let log = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/details/own-singlestream-perf_valid.txt"
    ));
    let of = |summary: &str| LoadgenRun {
        detail: Some(detail::parse_detail_log(log.as_bytes())),
        ..summary_of(summary)
    };
    assert_validity(&of(text), Validity::Valid, "");
    // MultiStream's published figure may be inferred from the 99th percentile of such a run.
    let edited = text.replace(
        "percentile estimate: 18776619",
        "percentile estimate: 16776619",
    );
    assert_ne!(edited, text);
    assert_validity(
        &of(&edited),
        Validity::Invalid,
        "estimates of early stopping",
    );
}

#[test]
fn a_figure_missing_in_the_detail_log_is_invalid() {
    let mut run = both(&[]);
    let detail = run.detail.as_mut().unwrap();
    detail.figures.remove("completed_tokens_per_second");
    let reason = "completed_tokens_per_second (missing in the detail log)";
    assert_validity(&run, Validity::Invalid, reason);
}

/// Returns a `SingleStream` run of our own, its detail log with one text replaced.
fn single_stream(summary: &str, from: &str, to: &str) -> LoadgenRun {
    let log = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/details/own-singlestream-perf_valid.txt"
    ));
    assert!(log.contains(from), "{from}");
    LoadgenRun {
        detail: Some(detail::parse_detail_log(log.replace(from, to).as_bytes())),
        ..summary_of(summary)
    }
}

#[test]
fn the_figure_for_an_inferred_multistream_is_the_detail_logs_key() {
    let text = printed!("own-singlestream-perf_valid");
    let name = "early_stopping_p99_ns";
    let run = single_stream(text, "18776619", "18776619");
    assert!((run.figure(name).unwrap().value - 18_776_619.0).abs() < 0.5);
    assert_validity(&run, Validity::Valid, "");
    let (key, halved) = (
        r#""early_stopping_latency_ms", "value": 18776619"#,
        r#""early_stopping_latency_ms", "value": 9388309"#,
    );
    let run = single_stream(text, key, halved);
    assert!((run.figure(name).unwrap().value - 9_388_309.0).abs() < 0.5);
    let reason = "early_stopping_p99_ns (18776619, 9388309)";
    assert_validity(&run, Validity::Invalid, reason);
}

#[test]
fn the_name_of_the_system_under_test_is_the_same_in_both_logs() {
    let text = printed!("own-singlestream-perf_valid");
    let run = single_stream(text, r#""value": "PySUT""#, r#""value": "  PySUT ""#);
    assert_validity(&run, Validity::Valid, "");
    let run = single_stream(text, r#""value": "PySUT""#, r#""value": "OtherSUT""#);
    assert_validity(&run, Validity::Invalid, "SUT name (PySUT, OtherSUT)");
}

/// `LoadGen` 5.0 prints a target percentile of 99.9 without its decimal.
#[rstest]
#[case::rounded_up("100th", "40144861", "100th", "early_stopping_p99_9_ns")]
#[case::since_5_1("99.9th", "40144861", "99.9th", "early_stopping_p99_9_ns")]
// A target that the detail log does not list.
#[case::unusual("97.5th", "4915627", "97.5th", "early_stopping_p97_5_ns")]
#[case::unusual_and_rounded("98th", "4915627", "98th", "early_stopping_p98_ns")]
fn the_target_percentile_of_the_head_is_not_missing_in_the_detail_log(
    #[case] head: &str,
    #[case] value: &str,
    #[case] ordinal: &str,
    #[case] estimate: &str,
) {
    let text = printed!("own-singlestream-perf_valid")
        .replace(
            "90.0th percentile latency (ns) : 2002279",
            &format!("{head} percentile latency (ns) : {value}"),
        )
        .replace(
            "90.0th percentile estimate: 2210774",
            &format!("{ordinal} percentile estimate: 40822784"),
        );
    let log = format!("{ordinal} percentile estimate: 40822784");
    let run = single_stream(&text, "90.0th percentile estimate: 2210774", &log);
    let run = LoadgenRun {
        detail: run.detail.map(|mut detail| {
            let published = detail.figures.get_mut("early_stopping_latency_ns").unwrap();
            published.value = 40_822_784.0;
            detail
        }),
        ..run
    };
    assert_validity(&run, Validity::Valid, "");
    let summary = run.summary.as_ref().unwrap();
    assert!(!summary.figures.contains_key("latency_p100_ns"));
    assert!(
        summary.figures.contains_key(estimate),
        "{:?}",
        summary.figures
    );
    // A usual percentile that the detail log lacks was removed.
    let mut run = run;
    run.detail
        .as_mut()
        .unwrap()
        .figures
        .remove("latency_p95_ns");
    assert_validity(&run, Validity::Invalid, "latency_p95_ns (missing");
}
