use proptest::prelude::*;
use rstest::rstest;

use super::*;
use retrial_readings::figure::Figure;

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

fn value(summary: &LoadgenSummary, name: &str) -> f64 {
    summary.figures.get(name).map_or(f64::NAN, |figure| figure.value)
}

#[track_caller]
fn close(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{ours} is not {theirs}");
}

#[test]
fn a_server_summary_is_read_completely() {
    let summary = parse_summary(SERVER).unwrap();
    assert_eq!(summary.sut_name.as_deref(), Some("PySUT"));
    assert_eq!(summary.scenario, Some(TestScenario::Server));
    assert_eq!(summary.mode, Some(TestMode::Performance));
    assert_eq!(summary.result, Some(ResultStatus::Valid));
    assert_eq!(summary.constraints.performance, Some(true));
    assert_eq!(summary.completeness, Completeness::Whole);
    assert_eq!((summary.warnings, summary.errors), (Some(0), Some(0)));
    assert_eq!(summary.unread, [""; 0]);
    close(value(&summary, "completed_tokens_per_second"), 3425.6);
    close(value(&summary, "completed_samples_per_second"), 297.92);
    close(value(&summary, "scheduled_samples_per_second"), 298.86);
    close(value(&summary, "ttft_p99_ns"), 6_414_571.0);
    close(value(&summary, "tpot_p99_9_ns"), 808_377.0);
    close(value(&summary, "latency_mean_ns"), 9_469_990.0);
    assert_eq!(summary.figures.len(), 3 + 3 * 9);
    assert_eq!(summary.parameters.ttft_latency_ns, Some(2_000_000_000));
    assert_eq!(summary.parameters.tpot_latency_ns, Some(200_000_000));
    assert_eq!(summary.parameters.target_latency_ns, None);
    assert_eq!(summary.parameters.target_qps, Some(300.0));
    assert_eq!(summary.parameters.min_duration_ms, Some(3000));
    assert_eq!(summary.parameters.accuracy_sample_count, Some(256));
    assert_eq!(summary.early_stopping.ttft.unwrap().successful, Some(true));
    assert_eq!(summary.early_stopping.tpot.unwrap().successful, Some(true));
    assert_eq!(summary.early_stopping.query, None);
}

#[test]
fn an_accuracy_summary_has_only_the_last_two_lines() {
    let summary = parse_summary(printed!("own-offline-accuracy")).unwrap();
    assert_eq!(summary.mode, Some(TestMode::Accuracy));
    assert_eq!(summary.completeness, Completeness::Whole);
    assert_eq!((summary.warnings, summary.errors), (Some(0), Some(0)));
    assert_eq!((summary.result, summary.scenario), (None, None));
}

#[test]
fn a_valid_result_can_have_errors() {
    let summary = parse_summary(printed!("own-misc-offline_errors_double_complete")).unwrap();
    assert_eq!(summary.result, Some(ResultStatus::Valid));
    assert_eq!((summary.warnings, summary.errors), (Some(1), Some(2)));
}

#[test]
fn the_ttft_block_is_blank_if_tpot_fails_first() {
    let summary = parse_summary(printed!("own-server_tokens-invalid_both")).unwrap();
    assert_eq!(summary.result, Some(ResultStatus::Invalid));
    assert_eq!(
        summary.recommendations,
        [
            "TTFT constrain not met: Reduce target QPS to improve latency.",
            "TPOT constrain not met: Reduce target QPS to improve latency.",
        ]
    );
    assert_eq!(summary.early_stopping.ttft.as_ref().unwrap().text, "");
    let tpot = summary.early_stopping.tpot.as_ref().unwrap();
    assert_eq!(tpot.successful, Some(false));
    assert_eq!(summary.unread, [""; 0]);
}

#[test]
fn a_recommendation_can_span_two_lines() {
    let summary = parse_summary(printed!("own-server-invalid_min_queries_max_duration")).unwrap();
    assert_eq!(
        summary.recommendations,
        [
            "The test exited early, before enough queries were issued. See the detailed log for why this may have occurred."
        ]
    );
    assert_eq!(summary.errors, Some(1));
    let broken: Vec<_> = summary.constraints.unmet_names().collect();
    assert_eq!(broken, ["min queries", "early stopping"]);
}

#[test]
fn offline_prints_scientific_notation() {
    let summary = parse_summary(printed!("own-offline_tokens-perf_scientific_notation")).unwrap();
    let tokens = &summary.figures["tokens_per_second"];
    assert!(tokens.value >= 1e6, "{tokens:?}");
    assert!(tokens.half_digit >= 5.0, "{tokens:?}");
}

#[test]
fn single_stream_publishes_the_first_estimate() {
    let summary = parse_summary(printed!("own-singlestream-perf_valid")).unwrap();
    close(value(&summary, "early_stopping_latency_ns"), 2_210_774.0);
    close(value(&summary, "early_stopping_p99_ns"), 18_776_619.0);
    close(value(&summary, "latency_p90_ns"), 2_002_279.0);
    close(value(&summary, "queries_per_second_without_loadgen_overhead"), 634.02);
    assert_eq!(summary.unread, [""; 0]);
}

#[test]
fn single_stream_with_tokens_publishes_the_ttft_estimate() {
    let summary = parse_summary(printed!("own-singlestream_tokens-perf_valid")).unwrap();
    close(value(&summary, "early_stopping_latency_ns"), 603_757.0);
    close(value(&summary, "tpot_early_stopping_p90_ns"), 138_292.0);
    close(value(&summary, "ttft_p90_ns"), 602_106.0);
    close(value(&summary, "tokens_per_second_without_loadgen_overhead"), 5775.09);
    assert_eq!(summary.unread, [""; 0]);
}

#[test]
fn multi_streams_ttft_and_tpot_estimates_both_reuse_the_query_latency() {
    let summary = parse_summary(printed!("own-multistream_tokens-perf_valid")).unwrap();
    close(value(&summary, "ttft_early_stopping_p99_ns"), 919_425.0);
    close(value(&summary, "tpot_early_stopping_p99_ns"), 919_425.0);
    close(value(&summary, "early_stopping_latency_ns"), 919_425.0);
    assert_eq!(summary.unread, [""; 0]);
}

#[test]
fn wan_with_only_50_queries_is_invalid() {
    let summary = parse_summary(printed!("own-conf-wan22_singlestream_50q_invalid")).unwrap();
    assert_eq!(summary.result, Some(ResultStatus::Invalid));
    assert_eq!(summary.recommendations, [""; 0]);
    let stop = summary.early_stopping.query.as_ref().unwrap();
    assert!(stop.text.starts_with("* Only processed 50 queries."), "{}", stop.text);
    assert!(!summary.figures.contains_key("early_stopping_latency_ns"));
}

#[test]
fn the_permutation_warning_is_four_lines() {
    let summary = parse_summary(printed!("own-misc-offline_concat_permutation_warning")).unwrap();
    assert_eq!(summary.parameters.sample_concatenate_permutation, Some(true));
    assert_eq!(summary.unread, [""; 0]);
    assert_eq!(summary.warnings, Some(1));
}

#[rstest]
#[case(printed!("v4.1-guide-llama2-offline"), TestScenario::Offline, "tokens_per_second", 23_545.5)]
#[case(printed!("v4.1-guide-llama2-server"), TestScenario::Server, "completed_tokens_per_second", 20_360.1)]
#[case(printed!("v6.0-guide-llama2-offline"), TestScenario::Offline, "tokens_per_second", 103_480.0)]
#[case(printed!("v6.0-guide-llama2-server-stats-twice"), TestScenario::Server, "completed_tokens_per_second", 100_282.36)]
#[case(printed!("v6.0-guide-llama2-interactive-no-rules"), TestScenario::Server, "completed_tokens_per_second", 73_608.25)]
#[case(printed!("v6.0-guide-gptoss-offline"), TestScenario::Offline, "tokens_per_second", 95_004.0)]
#[case(printed!("v6.0-guide-gptoss-server"), TestScenario::Server, "completed_tokens_per_second", 82_136.08)]
#[case(printed!("v6.0-guide-multinode-server-no-rules"), TestScenario::Server, "completed_tokens_per_second", 1_016_375.0)]
#[case(printed!("v6.0-guide-multinode-offline-scientific"), TestScenario::Offline, "tokens_per_second", 1_042_110.0)]
fn output_printed_in_guides_is_read_as_an_excerpt(
    #[case] text: &str,
    #[case] scenario: TestScenario,
    #[case] name: &str,
    #[case] figure: f64,
) {
    let summary = parse_summary(text).unwrap();
    assert_eq!(summary.scenario, Some(scenario));
    assert_eq!(summary.mode, Some(TestMode::Performance));
    assert_eq!(summary.result, Some(ResultStatus::Valid));
    assert_eq!(summary.completeness, Completeness::Excerpt);
    assert_eq!(summary.errors, None);
    assert_eq!(summary.unread, [""; 0]);
    close(value(&summary, name), figure);
}

#[test]
fn duplicate_stats_must_agree_with_the_header() {
    let text = printed!("v6.0-guide-llama2-server-stats-twice");
    let summary = parse_summary(text).unwrap();
    close(value(&summary, "scheduled_samples_per_second"), 359.71);
    close(value(&summary, "ttft_p99_ns"), 1_019_241_339.0);

    let (head, stats) = text.split_at(text.find("Scheduled").unwrap());
    let second = stats.rfind("Scheduled").unwrap();
    let swapped = format!("{head}{}{}", stats[second..].replace("...", ""), &stats[..second]);
    let summary = parse_summary(&swapped).unwrap();
    close(value(&summary, "scheduled_samples_per_second"), 359.71);
}

#[test]
fn line_ends_indentation_and_bom_are_ignored() {
    let expected = parse_summary(SERVER).unwrap();
    assert_eq!(parse_summary(&SERVER.replace('\n', "\r\n")).unwrap(), expected);
    assert_eq!(parse_summary(&format!("\u{feff}{SERVER}")).unwrap(), expected);
    assert_eq!(parse_summary(&SERVER.replace('=', "")).unwrap(), expected);
    let squeezed: Vec<_> =
        SERVER.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(parse_summary(&squeezed.join("\n")).unwrap(), expected);
}

#[rstest]
#[case("", SummaryError::Empty)]
#[case(" \r\n\t\n", SummaryError::Empty)]
#[case("\u{feff}", SummaryError::Empty)]
#[case("abc\0def", SummaryError::Binary)]
#[case("Hello, world\n", SummaryError::NotASummary)]
#[case("================\n", SummaryError::NotASummary)]
fn a_file_that_is_not_a_summary_is_reported(#[case] text: &str, #[case] error: SummaryError) {
    assert_eq!(parse_summary(text), Err(error));
}

#[test]
fn binary_and_oversized_files_are_reported() {
    assert_eq!(parse_summary_bytes(&[0x7f, b'E', b'L', b'F', 0, 1]), Err(SummaryError::Binary));
    assert_eq!(parse_summary_bytes(&[0xff; 64]), Err(SummaryError::NotASummary));
    let large = vec![b'a'; MAX_SUMMARY_BYTES + 1];
    assert_eq!(
        parse_summary_bytes(&large),
        Err(SummaryError::TooLarge { bytes: MAX_SUMMARY_BYTES + 1 })
    );
}

#[test]
fn two_runs_in_one_file_are_refused() {
    let other = printed!("own-server_tokens-invalid_both");
    let error = parse_summary(&format!("{SERVER}{other}")).unwrap_err();
    assert!(matches!(error, SummaryError::Contradiction { .. }), "{error}");
    let error = parse_summary("Result is : VALID\nResult is : INVALID\n").unwrap_err();
    assert_eq!(error, SummaryError::Contradiction { line: "Result is".to_owned() });
}

#[test]
fn a_non_numeric_figure_is_skipped() {
    let summary = parse_summary(&SERVER.replace("3425.60", "nan")).unwrap();
    assert!(!summary.figures.contains_key("completed_tokens_per_second"));
    assert_eq!(summary.unread.len(), 2);
}

#[test]
fn a_truncated_file_is_flagged_and_has_no_wrong_figures() {
    let whole = parse_summary(SERVER).unwrap();
    for cut in 1..SERVER.len() - "\n".len() {
        let Ok(part) = parse_summary(&SERVER[..cut]) else {
            continue;
        };
        if part.completeness == Completeness::Whole {
            // All but the last word's last letters.
            assert!(SERVER.len() - cut < "during test.\n".len() + 2, "cut at {cut}");
        }
        for (name, figure) in &part.figures {
            assert_eq!(Some(figure), whole.figures.get(name), "{name} of the file cut at {cut}");
        }
        if part.parameters.performance_sample_count.is_some() {
            assert_eq!(part.parameters.target_qps, whole.parameters.target_qps);
        }
    }
}

#[test]
fn figures_have_units() {
    let summary = parse_summary(SERVER).unwrap();
    let unit = |name: &str| summary.figures.get(name).map(|figure: &Figure| figure.unit.as_ref());
    assert_eq!(unit("completed_tokens_per_second"), Some("tokens/s"));
    assert_eq!(unit("completed_samples_per_second"), Some("samples/s"));
    assert_eq!(unit("ttft_p99_ns"), Some("ns"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = parse_summary(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = parse_summary_bytes(&bytes);
    }

    #[test]
    fn lines_in_any_order_are_read_or_refused(order in Just(SERVER.lines().collect::<Vec<_>>()).prop_shuffle(), take in 0_usize..80) {
        let text = order[..take.min(order.len())].join("\n");
        let _ = parse_summary(&text);
    }

    #[test]
    fn a_damaged_summary_is_read_or_refused(at in 0..SERVER.len(), byte in any::<u8>()) {
        let mut bytes = SERVER.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = parse_summary_bytes(&bytes);
    }
}
