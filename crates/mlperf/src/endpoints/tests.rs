//! Files as they were published, without histograms, and hostile ones.

use proptest::prelude::*;

use super::*;
use crate::loadgen::TestScenario;
use crate::submission::parse_object;

const CONFIG: &str = "name: dsr1\nversion: '1.0'\ntype: online\nmodel_params:\n  streaming: 'on'\nsettings:\n  runtime:\n\
    \x20   min_duration_ms: 1500000\n    max_duration_ms: 2400000\n    n_samples_to_issue: 330000\n\
    \x20   scheduler_random_seed: 16159082839903944936\n    dataloader_random_seed: 2747215439041700203\n\
    \x20 load_pattern:\n    type: poisson\n    target_qps: 170.0\n";

const SUMMARY: &str = r#"{
  "version": "0.1.0", "n_samples_issued": 330000, "n_samples_completed": 330000, "n_samples_failed": 0,
  "duration_ns": 2077965287526, "legacy_loadgen_window_duration_ns": 1959042332000, "state": "complete", "complete": true,
  "ttft": {"min": 133565203, "avg": 279607807.85, "percentiles": {"99.0": 475315730.0},
    "early_stopping_percentiles": {"99.9": 2881509491.0, "99.0": 484730193.0, "50.0": 265176431.0}},
  "tpot": {"percentiles": {"99.0": 12549085.6}, "early_stopping_percentiles": {"99.0": 12560416.413533835}},
  "latency": {"avg": 39897557014.60711, "percentiles": {"99.0": 196279394896.0}, "early_stopping_percentiles": {"99": 196907292356.0}},
  "output_sequence_lengths": {"avg": 3875.0351666666666},
  "qps": 168.44961107838623, "tps": 652750.1447708113,
  "run_config": {"load_pattern": {"target_qps": 170.0}, "scheduler_random_seed": 16159082839903944936, "dataloader_random_seed": 2747215439041700203}
}"#;

fn read(config_text: &str, summary: &str) -> EndpointPerformance {
    EndpointPerformance::from_config_and_summary(
        &parse_config(config_text).unwrap(),
        &parse_object(summary).unwrap(),
    )
}

fn value(run: &EndpointPerformance, name: &str) -> f64 {
    run.figures[name].value
}

#[test]
fn a_run_has_loadgen_figures() {
    let run = read(CONFIG, SUMMARY);
    assert_eq!(run.scenario, Some(TestScenario::Server));
    assert_eq!((run.complete, run.failed, run.streaming), (Some(true), Some(0), true));
    assert_eq!(run.settings.schedule_rng_seed, Some(16_159_082_839_903_944_936));
    assert_eq!(run.settings.sample_index_rng_seed, Some(2_747_215_439_041_700_203));
    assert_eq!(run.settings.min_duration_ms, Some(1_500_000));
    assert!(run.contradictions.is_empty() && run.has_early_stopping);
    assert!((value(&run, "completed_tokens_per_second") - 652_750.144_770_811_3).abs() < 1e-9);
    assert!((value(&run, "completed_samples_per_second") - 168.449_611_078).abs() < 1e-9);
    assert!((value(&run, "ttft_p99_ns") - 484_730_193.0).abs() < 1e-9);
    assert!((value(&run, "tpot_p99_ns") - 12_560_416.413_533_835).abs() < 1e-9);
    assert!((value(&run, "latency_p99_ns") - 196_907_292_356.0).abs() < 1e-9);
    assert_eq!(run.published_figure_name("early_stopping_latency_ns"), "latency_mean_ns");
    assert_eq!(
        run.published_figure_name("completed_tokens_per_second"),
        "completed_tokens_per_second"
    );
}

#[test]
fn offline_rate_is_issued_samples_per_duration() {
    let run = read(&CONFIG.replace("online", "offline"), SUMMARY);
    assert_eq!(run.scenario, Some(TestScenario::Offline));
    assert!((value(&run, "samples_per_second") - 330_000.0 / 2_077.965_287_526).abs() < 1e-9);
    assert!(run.figures.contains_key("tokens_per_second"));
}

/// Lengths of answers are comparable where the requests are the same.
#[test]
fn the_requests_of_both_runs_are_compared_by_their_files() {
    let same = |sets: &str| read(&format!("{CONFIG}datasets: [{sets}]\n"), SUMMARY);
    let set = |kind: &str, path: &str| format!("{{type: {kind}, path: {path}}}");
    let (speed, answers) = (set("performance", "/a.parquet"), set("accuracy", "/a.parquet"));
    assert!(same(&format!("{speed}, {answers}")).answers_accuracy_requests);
    let others = set("accuracy", "/b.parquet");
    assert!(!same(&format!("{speed}, {others}")).answers_accuracy_requests);
    assert!(!same(&format!("{speed}, {answers}, {others}")).answers_accuracy_requests);
    assert!(!same(&format!("{speed}, {{type: accuracy}}")).answers_accuracy_requests);
    assert!(!read(CONFIG, SUMMARY).answers_accuracy_requests);
}

#[test]
fn a_configuration_of_another_run_is_detected() {
    let run = read(&CONFIG.replace("2747215439041700203", "7").replace("170.0", "171.0"), SUMMARY);
    let names: Vec<&str> = run.contradictions.iter().map(|check| check.rule.as_str()).collect();
    assert_eq!(names, ["load_pattern.target_qps of the run", "dataloader_random_seed of the run"]);
}

/// A whole summary: ten answers of one request at a time.
fn whole_summary() -> serde_json::Value {
    let series = |values: [f64; 4]| {
        let [min, median, max, total] = values;
        serde_json::json!({"min": min, "median": median, "max": max, "total": total, "avg": total / 10.0,
            "percentiles": {"99.0": max, "90.0": max, "50.0": median, "5.0": min},
            "early_stopping_percentiles": {"99.9": null, "50.0": median + 1.0},
            "histogram": {"counts": [4, 6]}})
    };
    serde_json::json!({"n_samples_issued": 10, "n_samples_completed": 10, "n_samples_failed": 0, "state": "complete",
        "complete": true, "duration_ns": 1e12, "qps": 0.01, "tps": 0.5, "finish_reason_counts": {"stop": 9, "length": 1},
        "ttft": series([1e9, 2e9, 9e9, 3e10]), "tpot": series([1e7, 2e7, 9e7, 3e8]),
        "latency": series([5e10, 8e10, 2e11, 9.99e11]), "output_sequence_lengths": series([20.0, 50.0, 90.0, 500.0]),
        "run_config": {"load_pattern": {"type": "concurrency", "target_concurrency": 1}, "warmup": {"enabled": false}}})
}

fn contradictions(change: impl Fn(&mut serde_json::Value)) -> Vec<String> {
    let config = "model_params: {streaming: 'on', max_new_tokens: 90}\nsettings: {runtime: {min_duration_ms: 600000, \
        n_samples_to_issue: 10}, load_pattern: {type: concurrency, target_concurrency: 1}, warmup: {enabled: false}}\n";
    let mut summary = whole_summary();
    change(&mut summary);
    let found = read(config, &summary.to_string()).contradictions.into_iter();
    found.map(|check| check.rule).collect()
}

type Change = fn(&mut serde_json::Value);

#[rstest::rstest]
#[case::nothing(|_: &mut Value| {}, None)]
#[case::interrupted(|all: &mut Value| all["state"] = "interrupted".into(), Some("state"))]
#[case::a_rate(|all: &mut Value| all["qps"] = 0.02.into(), Some("qps × duration"))]
#[case::tokens(|all: &mut Value| all["tps"] = 0.7.into(), Some("tps × duration"))]
#[case::half_the_time(|all: &mut Value| all["duration_ns"] = 5e11.into(), Some("qps × duration"))]
#[case::half_the_time_with_its_rates(
    |all: &mut Value| { all["duration_ns"] = 5e11.into(); all["qps"] = 0.02.into(); all["tps"] = 1.0.into(); },
    Some("duration_ns × target_concurrency")
)]
#[case::reasons(|all: &mut Value| all["finish_reason_counts"]["stop"] = 3.into(), Some("sum of finish_reason_counts"))]
#[case::order(|all: &mut Value| all["latency"]["percentiles"]["90.0"] = 6e10.into(), Some("latency: 90.0"))]
#[case::beyond_the_greatest(|all: &mut Value| all["ttft"]["percentiles"]["99.0"] = 9e10.into(), Some("ttft: max"))]
#[case::no_percentile(|all: &mut Value| all["ttft"]["percentiles"]["99.0"] = serde_json::Value::Null, Some("ttft: 99.0"))]
#[case::an_estimate_below(|all: &mut Value| all["tpot"]["early_stopping_percentiles"]["50.0"] = 1.0.into(), Some("tpot: its estimate"))]
#[case::below_zero(|all: &mut Value| all["tpot"]["min"] = (-1.0).into(), Some("tpot: min"))]
#[case::a_mean(|all: &mut Value| all["output_sequence_lengths"]["avg"] = 25.0.into(), Some("output_sequence_lengths: avg × count"))]
#[case::counts(|all: &mut Value| all["latency"]["histogram"]["counts"] = serde_json::json!([1, 1]), Some("latency: values"))]
#[case::fewer_samples(
    |all: &mut Value| { all["n_samples_issued"] = 5.into(); all["n_samples_completed"] = 5.into(); },
    Some("n_samples_issued")
)]
#[case::too_many_tokens(
    |all: &mut Value| all["output_sequence_lengths"]["max"] = 91.9.into(),
    Some("max_new_tokens of config.yaml")
)]
#[case::another_load(
    |all: &mut Value| all["run_config"]["load_pattern"]["type"] = "poisson".into(),
    Some("load_pattern.type of the run")
)]
#[case::not_streamed(|all: &mut Value| all["ttft"] = serde_json::json!({}), Some("ttft"))]
fn a_summary_agrees_with_itself_and_its_configuration(
    #[case] change: Change,
    #[case] expected: Option<&str>,
) {
    let found = contradictions(change);
    assert_eq!(found.is_empty(), expected.is_none(), "{found:?}");
    assert!(expected.is_none_or(|rule| found.iter().any(|found| found == rule)), "{found:?}");
}

#[test]
fn scores_are_read_in_each_format() {
    let results = |text: &str| EndpointAccuracy::from_json(&parse_object(text).unwrap());
    let single = results(
        r#"{"accuracy_scores": [{"dataset_name": "bfcl", "score": 0.8723618090452261, "unit_samples": 995, "total_samples": 995,
            "complete": true, "dataset_type": "accuracy", "output_sequence_lengths": {"avg": 100.7}},
            {"dataset_name": "performance", "score": 0.6231, "total_samples": 1007, "dataset_type": "performance"}]}"#,
    );
    assert_eq!((single.scores.len(), single.sample_count()), (1, Some(995)));
    let figures = single.published_figures("mAP", true);
    assert!((figures["mAP"] - 87.236_180_904_522_61).abs() < 1e-9);
    assert!((figures["TOKENS_PER_SAMPLE"] - 100.7).abs() < 1e-9);
    assert!(
        (single.published_figures("F1_HIERARCHICAL", false)["F1_HIERARCHICAL"] - 0.872_361_809)
            .abs()
            < 1e-9
    );
    let several = results(
        r#"{"accuracy_scores": [{"dataset_name": "aime25", "score": 81.25, "unit_samples": 30, "total_samples": 240},
            {"dataset_name": "gpqa", "score": 75.353535, "unit_samples": 198, "total_samples": 990},
            {"dataset_name": "lcb", "score": "84.486572", "unit_samples": 1055, "total_samples": 3165}]}"#,
    );
    assert_eq!(several.sample_count(), Some(4395));
    assert!((several.published_figures("exact_match", true)["exact_match"] - 83.001).abs() < 1e-3);
    let rouge = results(
        r#"{"accuracy_scores": [{"score": {"rouge1": 38.6405, "rougeLsum": "35.7399", "gen_len": 8222392, "gen_num": 13368}, "response_counts": {"issued": 13368}}]}"#,
    );
    let figures = rouge.published_figures("ROUGE1", true);
    assert!(
        (figures["ROUGE1"] - 38.6405).abs() < 1e-9 && (figures["ROUGELSUM"] - 35.7399).abs() < 1e-9
    );
    assert_eq!((figures.len(), rouge.sample_count()), (3, Some(13_368)));
    assert!(results("{}").published_figures("mAP", true).is_empty());
}

#[test]
fn a_run_is_known_by_its_latencies() {
    let digest = |text: &str| {
        let summary = parse_object(text).unwrap();
        EndpointPerformance::from_config_and_summary(&Map::new(), &summary).digest()
    };
    let run = digest(r#"{"tps": 1.0, "latency": {"avg": 4321.5}, "tpot": {"avg": 12.5}}"#);
    let edited =
        r#"{"tps": 2.0, "latency": {"avg": 4321.5}, "tpot": {"avg": 12.5}, "version": "2"}"#;
    assert_eq!(digest(edited), run);
    assert_ne!(digest(r#"{"tps": 1.0, "latency": {"avg": 4321.5}, "tpot": {"avg": 12.75}}"#), run);
    assert_eq!(digest(r#"{"tps": 1.0, "tpot": {"avg": 12.5}}"#), None);
    let accuracy = |duration: &str| {
        let text = format!(r#"{{"accuracy_scores": [{{"score": 0.5{duration}}}]}}"#);
        EndpointAccuracy::from_json(&parse_object(&text).unwrap()).digest()
    };
    assert_ne!(accuracy(r#", "duration_s": 9649.424"#), accuracy(r#", "duration_s": 9649.425"#));
    assert_eq!(accuracy(""), None);
}

#[test]
fn invalid_configurations_are_refused() {
    for text in ["", "- a", "type: [", "a: &a [*a]", "x"] {
        assert!(parse_config(text).is_err(), "{text}");
    }
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
        d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
        g: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    assert!(parse_config(bomb).is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(yaml in "[a-z: \\n\\-'\"\\[\\]{}0-9&*!|>]{0,60}", json in "[a-z:,\"\\[\\]{}0-9.eE-]{0,60}") {
        let configured = parse_config(&yaml).unwrap_or_default();
        let object = parse_object(&json).unwrap_or_default();
        let run = EndpointPerformance::from_config_and_summary(&configured, &object);
        prop_assert!(run.figures.values().all(|figure| figure.value.is_finite()));
        let _ = EndpointAccuracy::from_json(&object).published_figures("acc", true);
    }
}
