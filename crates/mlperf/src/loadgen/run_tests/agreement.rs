//! Summary and detail log of one run agree.

use rstest::rstest;

use super::super::{LoadgenRun, Validity, detail};
use super::{SERVER, assert_validity, both, detail_of, summary_of};

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
    let mut run = LoadgenRun { summary: summary_of(&text).summary, ..both(&[]) };
    run.detail = Some(detail_of(&[("result_completed_tokens_per_second", "3425.65")]));
    assert_eq!(run.figure_disagreements(), []);
    run.detail = Some(detail_of(&[("result_completed_tokens_per_second", "3425.8")]));
    assert_eq!(run.figure_disagreements()[0].0, "completed_tokens_per_second");
}

#[rstest]
#[case::a_figure(("result_completed_tokens_per_second", "3426.9"), "completed_tokens_per_second (3425.6, 3426.9)")]
#[case::a_setting(("effective_min_duration_ms", "600000"), "min_duration_ms")]
#[case::scenario(("effective_scenario", "\"Offline\""), "scenario (Server, Offline)")]
#[case::mode(("effective_test_mode", "\"SubmissionRun\""), "mode (PerformanceOnly, SubmissionRun)")]
fn logs_of_two_runs_are_invalid(#[case] entry: (&str, &str), #[case] reason: &str) {
    assert_validity(&both(&[entry]), Validity::Invalid, reason);
    assert_validity(&both(&[entry]), Validity::Invalid, "the summary and detail log disagree");
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
fn a_summary_edited_to_valid_is_invalid() {
    let run = both(&[("result_validity", r#""INVALID""#)]);
    assert_validity(
        &run,
        Validity::Invalid,
        "the detail log reports INVALID, but the summary reports VALID",
    );
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
    let edited = text.replace("percentile estimate: 18776619", "percentile estimate: 16776619");
    assert_ne!(edited, text);
    assert_validity(&of(&edited), Validity::Invalid, "estimates of early stopping");
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
    assert!(summary.figures.contains_key(estimate), "{:?}", summary.figures);
    // A usual percentile that the detail log lacks was removed.
    let mut run = run;
    run.detail.as_mut().unwrap().figures.remove("latency_p95_ns");
    assert_validity(&run, Validity::Invalid, "latency_p95_ns (missing");
}
