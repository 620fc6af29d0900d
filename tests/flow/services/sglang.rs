//! The template `sglang-serve`, with a program in the place of Python that answers as its server and client do.

use super::Lab;

/// Writes the members of a result of `sglang.bench_serving` 0.5.23, in a line of its own; a rate of `inf` is no JSON.
const PYTHON: &str = r#"#!/bin/bash
[ "$1" = -m ] || exit 2
case $2 in
sglang.launch_server)
  [ "$3 $4 $5" = '--model-path /model --port' ] || exit 2
  exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 9, ReuseAddr => 1) or die; while ($c = $s->accept) { 1 while defined($_ = <$c>) && !/^\s*$/; print $c "HTTP/1.0 200 OK\r\n\r\n"; close $c }' "$6"
  ;;
sglang.bench_serving)
  while [ $# -gt 0 ]; do
    case $1 in
    --port) port=$2 ;; --num-prompts) requests=$2 ;; --output-file) file=$2 ;;
    esac
    shift
  done
  exec 3<>"/dev/tcp/localhost/$port" || exit 1
  cat >>"$file" <<END
{"tag":null,"backend":"sglang","dataset_name":"random-ids","request_rate":Infinity,"max_concurrency":64,"random_range_ratio":1.0,"duration":20.0,"completed":$((requests - ${FAILED:-0})),"total_input_tokens":20480,"total_output_tokens":20480,"total_output_tokens_retokenized":20480,"request_throughput":1.0,"input_throughput":1024.0,"output_throughput":1024.0,"total_throughput":2048.0,"mean_e2e_latency_ms":9400.0,"p99_e2e_latency_ms":9900.0,"mean_ttft_ms":40.1,"median_ttft_ms":39.0,"p99_ttft_ms":45.2,"mean_tpot_ms":9.1,"median_tpot_ms":9.0,"p99_tpot_ms":9.9,"mean_itl_ms":9.1,"p99_itl_ms":12.0,"concurrency":9.4,"accept_length":null,"errors":["","",""]}
END
  ;;
esac
"#;

#[test]
#[ignore = "needs the lab"]
fn the_sglang_template() {
    let lab = Lab::new();
    let recipe = "schema: 1
title: SGLang
extends: sglang-serve
submission: { suite: flow, benchmark: tiny, sources: [here] }
image: debian:bookworm-slim
files: { python: /in/python }
params: { python: { default: /usr/local/bin/python }, requests: { default: 20 }, failed: { type: int, default: 0 } }
container: { env: { FAILED: '${{ params.failed }}' } }
setup: { python: { run: install -m 755 /in/python /usr/local/bin/python } }
scenarios:
  online:
    performance:
      trials: 2
      expect: { output_throughput: { value: 1000, kind: official, source: here, noise: 1% } }
";
    let lab = lab.recipe(recipe).file("python", PYTHON);
    lab.run(&[]).expect_exit(0).prints("1,024 tokens/s").prints("1.024");
    let trial = &lab.verdict()["results"][0]["trials"][1]["figures"];
    for (figure, value) in [
        ("request_throughput", 1.0),
        ("ttft_p50", 39.0),
        ("ttft_p99", 45.2),
        ("tpot_mean", 9.1),
        ("completed", 20.0),
    ] {
        assert_eq!(trial[figure]["value"], value, "{figure}: {trial:#}");
    }
    lab.run(&["--set", "failed=1"]).expect_exit(1).prints("completed");
}
