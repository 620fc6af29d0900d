//! `client` of a measurement: its figures, and a load that is not what it seems.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::{Command, Output};

use rstest::rstest;

const RECIPE: &str = "\
schema: 1
title: A server
submission: { suite: house, benchmark: case }
image: debian:bookworm-slim
scenarios:
  serving:
    performance:
      client: CLIENT
      run: bench
      results: /out
      expect:
        output_throughput: { value: 320, kind: official, source: table 1, noise: 1% }
        tpot_p90: { value: 10.6, kind: official, source: table 1, noise: 1% }
";

const VLLM: &str = r#"{"num_prompts": 40, "request_rate": Infinity, "max_concurrency": 4, "duration": 4.0, "completed": 40,
 "failed": 0, "total_output_tokens": 1280, "output_throughput": 320.0, "mean_ttft_ms": 68.0, "median_ttft_ms": 69.0, "p99_ttft_ms": 74.0,
 "mean_tpot_ms": 10.5, "median_tpot_ms": 10.6, "p90_tpot_ms": 10.7, "p99_tpot_ms": 11.2, "mean_e2el_ms": 394.0}"#;

const INFERENCE_PERF: &str = r#"{"benchmark_time_seconds": 4.0, "load_summary": {"count": 40, "concurrency": 4},
 "successes": {"count": 40, "output_len": {"min": 32.0, "max": 32.0}, "output_tokens": {"total": 1280.0},
  "throughput": {"output_tokens_per_sec": 320.0}, "latency": {"request_latency": {"mean": 0.394, "median": 0.394, "p99": 0.4},
  "time_to_first_token": {"mean": 0.068, "median": 0.069, "p99": 0.074},
  "time_per_output_token": {"mean": 0.0105, "median": 0.0106, "p90": 0.0107, "p99": 0.0112}}}, "failures": {"count": 0}}"#;

fn judge(client: &str, recipe: &str, file: &str, output: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("recipe.yaml"), recipe.replace("CLIENT", client)).unwrap();
    fs::create_dir(directory.path().join("out")).unwrap();
    fs::write(directory.path().join("out").join(file), output).unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "out", "--recipe", "./recipe.yaml"])
        .current_dir(directory.path())
        .env("RETRIAL_HOME", directory.path().join("home"))
        .output()
        .unwrap()
}

fn assert_judged(output: &Output, code: i32, words: &str) {
    let text = [&*output.stdout, &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "{text}");
}

#[rstest]
#[case("vllm", "result.json", VLLM)]
#[case("{ program: vllm, output_tokens: 32 }", "result.json", VLLM)]
#[case("inference-perf", "stage_0_lifecycle_metrics.json", INFERENCE_PERF)]
fn a_clients_figures_need_no_declaration(
    #[case] client: &str,
    #[case] file: &str,
    #[case] output: &str,
) {
    // inference-perf states seconds.
    let recipe = match client {
        "inference-perf" => RECIPE.replace("value: 10.6", "value: 0.0106"),
        _ => RECIPE.to_owned(),
    };
    assert_judged(&judge(client, &recipe, file, output), 0, "✓ reproduced");
}

#[rstest]
#[case::failed("vllm", VLLM.replace("\"failed\": 0", "\"failed\": 1"), "1 of 41 requests failed")]
#[case::lost("vllm", VLLM.replace("\"num_prompts\": 40", "\"num_prompts\": 41"), "41 requested, 40 completed")]
#[case::short("{ program: vllm, output_tokens: 64 }", VLLM.to_owned(), "answers of 32 tokens")]
#[case::other_program("vllm", "{\"output_throughput\": 320}".to_owned(), "states no number of completed requests")]
#[case::no_json("vllm", "killed".to_owned(), "output_throughput")]
fn a_load_that_is_not_what_it_seems_is_invalid(
    #[case] client: &str,
    #[case] output: String,
    #[case] words: &str,
) {
    assert_judged(&judge(client, RECIPE, "result.json", &output), 1, words);
}

/// A figure would be of one of them.
#[test]
fn an_output_of_several_loads_is_invalid() {
    let load = |rate: u32| {
        format!(
            r#"{{"metrics": {{"request_totals": {{"successful": 40, "errored": 0, "total": 40}},
            "output_tokens_per_second": {{"successful": {{"mean": {rate}}}}}}}}}"#
        )
    };
    let output = format!(r#"{{"benchmarks": [{}, {}]}}"#, load(320), load(900));
    assert_judged(&judge("guidellm", RECIPE, "out.json", &output), 1, "2 loads in out.json");
}

#[test]
fn a_declared_figure_has_precedence() {
    let own = "      figures: { tpot_p90: { pattern: 'own (\\S+)', unit: ms, better: lower, file: own.txt } }\n";
    let recipe = RECIPE.replace("      expect:\n", &format!("{own}      expect:\n"));
    assert_judged(&judge("vllm", &recipe, "result.json", VLLM), 1, "tpot_p90 is missing: own.txt");
}

#[rstest]
#[case("vlm", "did you mean `vllm`")]
#[case("{ program: vllm, output_tokens: many }", "output_tokens")]
fn a_client_that_is_none_is_refused(#[case] client: &str, #[case] words: &str) {
    let output = judge(client, RECIPE, "result.json", VLLM);
    assert_judged(&output, 2, words);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("nothing provides"));
}

#[rstest]
#[case("cliant: vllm")]
#[case("figurs: { tpot_p90: { pattern: 'x (\\S+)', unit: ms, better: lower } }")]
fn a_misspelt_key_that_declares_figures_is_one_error(#[case] key: &str) {
    let output = judge("", &RECIPE.replace("client: CLIENT", key), "result.json", VLLM);
    assert_judged(&output, 2, "unknown key");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("nothing provides") && !errors.contains("2 errors"), "{errors}");
}
