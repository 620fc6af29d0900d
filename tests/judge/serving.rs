//! `client` of a measurement: its figures, and a load that is not what it seems.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::{Command, Output};

use crate::support::corpus::unpacked;
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

/// A call of a client that makes two loads, as points of a sweep that share a command.
const IN_ONE_CALL: &str = "\
schema: 1
title: A server
submission: { suite: house, benchmark: case }
image: debian:bookworm-slim
commands: { bench: { run: bench } }
scenarios:
  serving:
    performance:
      sweep: { concurrency: [1, 4] }
      client: CLIENT
      from: bench
      results: /out
      expect:
        output_throughput: { at: { 1: 88, 4: 320 }, kind: official, source: table 1, noise: 1% }
";

fn guidellm_load(concurrency: f64, rate: f64) -> String {
    let requests = concurrency * 10.0;
    let tokens = requests * 32.0;
    let duration = tokens / rate;
    let latency = duration * concurrency / requests * 0.97;
    format!(
        r#"{{"config": {{"strategy": {{"streams": {concurrency}}}}}, "duration": {duration}, "metrics": {{
  "request_totals": {{"total": {requests}, "successful": {requests}, "errored": 0}},
  "output_token_count": {{"successful": {{"total_sum": {tokens}, "min": 32, "median": 32, "max": 32}}}},
  "output_tokens_per_second": {{"successful": {{"mean": {rate}}}}},
  "time_to_first_token_ms": {{"successful": {{"mean": 60, "median": 60, "percentiles": {{"p90": 61, "p99": 62}}}}}},
  "inter_token_latency_ms": {{"successful": {{"mean": 9, "median": 9, "percentiles": {{"p90": 9, "p99": 9}}}}}},
  "request_latency": {{"successful": {{"mean": {latency}, "median": {latency}}}}}}}}}"#
    )
}

fn inference_perf_load(concurrency: f64, rate: f64) -> String {
    let (requests, load) = (concurrency * 10.0, INFERENCE_PERF);
    let latency = 32.0 / rate * concurrency * 0.97;
    let duration = requests * 32.0 / rate;
    load.replace("\"count\": 40", &format!("\"count\": {requests}"))
        .replace("\"concurrency\": 4", &format!("\"concurrency\": {concurrency}"))
        .replace("\"total\": 1280.0", &format!("\"total\": {}", requests * 32.0))
        .replace("\"output_tokens_per_sec\": 320.0", &format!("\"output_tokens_per_sec\": {rate}"))
        .replace(
            "\"benchmark_time_seconds\": 4.0",
            &format!("\"benchmark_time_seconds\": {duration}"),
        )
        .replace(
            "\"request_latency\": {\"mean\": 0.394",
            &format!("\"request_latency\": {{\"mean\": {latency}"),
        )
}

/// Judges the outputs of a call, of which each point has a copy.
fn judge_call(client: &str, files: &[(&str, String)]) -> Output {
    judge_points(&IN_ONE_CALL.replace("CLIENT", client), files)
}

fn judge_points(recipe: &str, files: &[(&str, String)]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("recipe.yaml"), recipe).unwrap();
    for point in ["serving-1", "serving-4"] {
        let folder = directory.path().join("out").join(point);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "out", "--recipe", "./recipe.yaml"])
        .current_dir(directory.path())
        .env("RETRIAL_HOME", directory.path().join("home"))
        .output()
        .unwrap()
}

#[test]
fn the_loads_of_one_call_are_the_points_of_a_sweep() {
    let guidellm = |rates: [f64; 2]| {
        let [one, four] = [guidellm_load(1.0, rates[0]), guidellm_load(4.0, rates[1])];
        vec![("sweep.json", format!("{{\"benchmarks\": [{one}, {four}]}}"))]
    };
    let inference_perf = |rates: [f64; 2]| {
        vec![
            ("stage_0_lifecycle_metrics.json", inference_perf_load(1.0, rates[0])),
            ("stage_1_lifecycle_metrics.json", inference_perf_load(4.0, rates[1])),
        ]
    };
    for (client, outputs) in [
        ("guidellm", &guidellm as &dyn Fn([f64; 2]) -> Vec<(&'static str, String)>),
        ("inference-perf", &inference_perf),
    ] {
        assert_judged(
            &judge_call(client, &outputs([89.0, 322.0])),
            0,
            "Both published figures hold",
        );
        let slow = judge_call(client, &outputs([89.0, 250.0]));
        assert_judged(&slow, 1, "serving-4: 250 tokens/s");
        let faulty = outputs([89.0, 322.0]).into_iter().map(|(name, text)| {
            (
                name,
                text.replace("\"errored\": 0", "\"errored\": 3")
                    .replace("\"failures\": {\"count\": 0}", "\"failures\": {\"count\": 3}"),
            )
        });
        assert_judged(
            &judge_call(client, &faulty.collect::<Vec<_>>()),
            1,
            "requests answered: 3 of",
        );
    }
}

#[test]
fn a_load_of_another_concurrency_is_none_of_the_point() {
    let output = format!("{{\"benchmarks\": [{}]}}", guidellm_load(1.0, 89.0));
    let judged = judge_call("guidellm", &[("sweep.json", output)]);
    assert_judged(&judged, 1, "concurrency 1 (sweep.json); required 4, the point's");
}

#[test]
fn a_point_has_the_load_of_its_concurrency_though_its_call_makes_others() {
    let recipe = IN_ONE_CALL
        .replace("commands: { bench: { run: bench } }\n", "")
        .replace("from: bench", "run: bench")
        .replace("CLIENT", "guidellm");
    let [one, four] = [guidellm_load(1.0, 89.0), guidellm_load(4.0, 322.0)];
    let output = format!("{{\"benchmarks\": [{one}, {four}]}}");
    let judged = judge_points(&recipe, &[("sweep.json", output)]);
    assert_judged(&judged, 0, "Both published figures hold");
}

#[rstest]
#[case("guidellm", "guidellm/sweep.json", 229.346)]
#[case("aiperf", "aiperf/c4/profile_export_aiperf.json", 234.185)]
#[case("inference-perf", "inference-perf/sweep/stage_1_lifecycle_metrics.json", 263.639)]
#[case("inferencex", "inferencex/c4.json", 247.378)]
#[ignore = "needs the corpus"]
fn the_templates_of_clients_read_recorded_outputs(
    #[case] client: &str,
    #[case] file: &str,
    #[case] rate: f64,
) {
    let recipe = format!(
        "schema: 1
extends: {client}-curve
title: A server
submission: {{ suite: house, benchmark: case }}
image: debian:bookworm-slim
params: {{ output_len: {{ default: 32 }} }}
scenarios: {{ serving: {{ performance: {{ sweep: {{ concurrency: [4] }} }} }} }}
"
    );
    let corpus = unpacked("serving.tar.xz");
    let path = corpus.path().join("serving/clients").join(file);
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let output = judge_points(&recipe, &[(name, text)]);
    assert_judged(&output, 0, "output_throughput");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains(&format!("{rate}")), "{shown}");
}
