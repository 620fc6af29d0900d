//! When the logs of a run are valid.

use super::super::{LoadgenRun, LoadgenSummary, ResultStatus, TestMode, TestScenario, Validity};
use super::{SERVER, assert_validity, both, detail_of, summary_of};

#[test]
fn a_valid_result_with_errors_is_invalid() {
    let run = summary_of(printed!("own-misc-offline_errors_double_complete"));
    assert_validity(&run, Validity::Invalid, "LoadGen counted 2 errors in the summary");
    let run = both(&[("error_runtime", r#""Attempted to complete a sample twice.""#)]);
    assert_validity(&run, Validity::Invalid, "LoadGen counted 1 error in the detail log\n");
    assert_validity(&run, Validity::Invalid, "Attempted to complete a sample twice.");
}

#[test]
fn a_valid_result_with_an_unmet_constraint_is_invalid() {
    let text = SERVER.replace("Min duration satisfied : Yes", "Min duration satisfied : NO");
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
    let detail =
        detail_of(&[("result_validity", r#""INVALID""#), ("result_invalid_reason", reason)]);
    let run = LoadgenRun { summary: None, detail: Some(detail) };
    assert_validity(&run, Validity::Invalid, "LoadGen: TPOT constrain not met: Reduce");
}

#[test]
fn only_errors_invalidate_an_accuracy_run() {
    let run = summary_of(printed!("own-offline-accuracy"));
    assert_eq!(run.mode(), Some(TestMode::Accuracy));
    assert_validity(&run, Validity::Valid, "");
    let run = summary_of(
        "No warnings encountered during test.\n\n1 ERROR encountered. See detailed log.\n",
    );
    assert_validity(&run, Validity::Invalid, "LoadGen counted 1 error in the summary");
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
        ["Test Parameters Used", "warnings encountered", "errors encountered"]
    );
}

#[test]
fn a_truncated_summary_has_unknown_validity() {
    let cut = SERVER.find("No warnings").unwrap();
    assert_validity(&summary_of(&SERVER[..cut]), Validity::Unknown, "they were truncated");
    let cut = SERVER.find("Result is").unwrap();
    assert_validity(&summary_of(&SERVER[..cut]), Validity::Unknown, "whether the result is VALID");
    // The detail log has the values that the summary lost, but not the cause of its truncation.
    let run = LoadgenRun { detail: Some(detail_of(&[])), ..summary_of(&SERVER[..cut]) };
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
    let detail = LoadgenRun { summary: None, detail: Some(detail_of(&[])) };
    assert_validity(&detail, Validity::Valid, "");
    assert_eq!(detail.scenario(), Some(TestScenario::Server));
    let summary = summary_of(SERVER);
    assert_eq!(
        summary.summary.as_ref().and_then(|summary: &LoadgenSummary| summary.result),
        Some(ResultStatus::Valid)
    );
    assert_validity(&summary, Validity::Valid, "");
}
