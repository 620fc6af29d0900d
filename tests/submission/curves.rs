//! `retrial new --from-inferencex` and `retrial judge ROWS`, as a user types them: rows and a configuration written here, and
//! those of the corpus, if it is there.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::support::corpus::unpacked;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Points of one configuration: at eight GPUs of the rates that they state, and of the speeds.
fn rows() -> Value {
    let row = |concurrency: u32, rate: f64, time: f64| {
        let answers = f64::from(concurrency) * 1024.0 * 0.9;
        json!({
            "hardware": "mi355x", "framework": "sglang", "model": "dsr1", "precision": "fp8", "spec_method": "none",
            "disagg": false, "is_multinode": false, "decode_tp": 8, "decode_ep": 1, "isl": 8192, "osl": 1024,
            "conc": concurrency, "image": "lmsysorg/sglang:v0.5.12", "date": "2026-05-27", "run_id": "1/attempts/1",
            "num_decode_gpu": 8,
            "metrics": {
                "tput_per_gpu": rate * 9.0, "input_tput_per_gpu": rate * 8.0, "output_tput_per_gpu": rate,
                "median_tpot": time, "p99_tpot": time * 1.2, "median_intvty": 1.0 / time, "median_ttft": 0.3,
                "p99_ttft": 1.5, "mean_ttft": 0.4, "mean_e2el": answers / (rate * 8.0),
            },
        })
    };
    json!([row(4, 40.0, 0.0122), row(16, 110.0, 0.0181), row(32, 180.0, 0.025)])
}

const CONFIGURATION: &str = "
base:
  schema: 2
  model: { path: 'hf:own/model', container: 'lmsysorg/sglang:v0.5.12', precision: fp8 }
  resources: { gpu_type: mi355x, gpus_per_node: 8 }
  engine: sglang
  roles:
    agg:
      args: { tensor-parallel-size: 4, trust-remote-code: true, enable-metrics: false, served-model-name: own/name, cuda-graph-max-bs: 4, json: '{\"a\":1}' }
      env: { SGLANG_USE_AITER: '1' }
  benchmark:
    type: custom
    command: bash /infmax-workspace/benchmarks/single_node/srt_fixed_sequence.sh
    env: { ISL: '8192', OSL: '1024', RANDOM_RANGE_RATIO: '0.8', USE_CHAT_TEMPLATE: 'true' }
zip_override_tp4: { benchmark: { env: { CONC: ['4', '16'] } } }
zip_override_tp8:
  roles: { agg: { args: { tensor-parallel-size: [8], cuda-graph-max-bs: [8, 32, 64] } } }
  benchmark: { env: { CONC: ['4', '16', '32'] } }
";

struct Directory(TempDir);

impl Directory {
    fn new(rows: &Value, configuration: &str) -> Self {
        let directory = Self(tempfile::tempdir().unwrap());
        std::fs::write(directory.path("rows.json"), rows.to_string()).unwrap();
        std::fs::write(directory.path("server.yaml"), configuration).unwrap();
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn retrial(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .env("RETRIAL_HOME", self.path("home"))
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// The recipe of the rows, and what the program prints.
    fn import(&self, options: &[&str]) -> (Option<String>, String) {
        let new = ["new", "made.yaml", "--from-inferencex", "rows.json"];
        let output = self.retrial(&[&new, options].concat());
        let recipe = std::fs::read_to_string(self.path("made.yaml")).ok();
        (recipe, String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
fn rows_and_their_configuration_are_a_recipe() {
    let directory = Directory::new(&rows(), CONFIGURATION);
    let (recipe, printed) = directory.import(&["--config", "server.yaml"]);
    let recipe = recipe.unwrap_or_else(|| panic!("{printed}"));
    let check = directory.retrial(&["check", "made.yaml"]);
    assert!(check.status.success(), "{check:?}\n{recipe}");
    for part in [
        "gpus: { vendor: amd, models: [MI355X], count: 8 }",
        "system: \"8xMI355X\"",
        "sweep: { concurrency: [4, 16, 32] }",
        "total_throughput: { at: { \"4\": 2880.00, \"16\": 7920.00, \"32\": 12960.0 }, kind: official",
        "tpot_p50: { at: { \"4\": 12.2000, \"16\": 18.1000, \"32\": 25.0000 }, kind: official",
        "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/1/attempts/1",
        "--use-chat-template",
    ] {
        assert!(recipe.contains(part), "{part}\n{recipe}");
    }
    let plan = directory.retrial(&[
        "plan",
        "made.yaml",
        "--set",
        "model=/model",
        "--set",
        "client=/client",
        "--point",
        "16",
        "--format",
        "shell",
    ]);
    let plan = String::from_utf8(plan.stdout).unwrap();
    for part in [
        "--served-model-name own/name",
        "--trust-remote-code",
        "--tensor-parallel-size 8",
        "--cuda-graph-max-bs 32",
        "{\"a\":1}",
        "--num-prompts 160 --max-concurrency 16",
        "--num-warmups 32",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
    assert!(!plan.contains("enable-metrics"), "{plan}");
}

#[rstest]
#[case::gpu(
    "gpu_type: mi355x",
    "gpu_type: mi300x",
    "its GPU is mi300x, and that of the rows mi355x"
)]
#[case::image(
    "sglang:v0.5.12'",
    "sglang:v0.6'",
    "its image is lmsysorg/sglang:v0.6, and that of the rows lmsysorg/sglang:v0.5.12"
)]
#[case::points(
    "['4', '16', '32']",
    "['4', '16', '64']",
    "it starts no server for concurrency 32 on 8 GPUs (ep 1)"
)]
#[case::varying("[8, 32, 64]", "[8, 32, 48]", "its cuda-graph-max-bs differs from point to point")]
#[case::lengths(
    "[8, 32, 64]",
    "[8, 32]",
    "zip_override_tp8 has lists of different lengths: 1, 2, 3"
)]
#[case::engine("engine: sglang", "engine: trtllm", "`engine: trtllm` is not read")]
#[case::client(
    "srt_fixed_sequence.sh",
    "other.sh",
    "`benchmark.command: bash /infmax-workspace/benchmarks/single_node/other.sh` is not read"
)]
#[case::schema(
    "schema: 2",
    "schema: 1",
    "not a configuration of srt-slurm: `schema: 2` is missing"
)]
#[case::split("    agg:\n", "    prefill: {}\n    agg:\n", "`roles.prefill` is not read")]
#[case::workers("    agg:\n", "    agg:\n      workers: 2\n", "`roles.agg.workers: 2` is not read")]
#[case::extra(
    "    agg:\n",
    "    agg:\n      extra_args: [-x]\n",
    "`roles.agg.extra_args: [\"-x\"]` is not read"
)]
#[case::speculation(
    "json:",
    "speculative-algorithm: EAGLE, json:",
    "its speculative decoding is in its options, and that of the rows none"
)]
fn a_configuration_of_other_rows_is_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] message: &str,
) {
    assert!(CONFIGURATION.contains(from), "{from}");
    let directory = Directory::new(&rows(), &CONFIGURATION.replace(from, to));
    let (recipe, printed) = directory.import(&["--config", "server.yaml"]);
    assert!(recipe.is_none() && printed.contains(message), "{printed}");
}

#[rstest]
#[case::images("image", json!("other:1"), "choose one with --row NAME=VALUE, several times:\n")]
#[case::repeated("conc", json!(4), "several rows are of concurrency 4")]
#[case::distributed("disagg", json!(true), "the rows are of several machines")]
fn rows_that_are_no_curve_are_refused(
    #[case] member: &str,
    #[case] value: Value,
    #[case] message: &str,
) {
    let mut rows = rows();
    rows[1][member] = value;
    let directory = Directory::new(&rows, CONFIGURATION);
    let (recipe, printed) = directory.import(&[]);
    assert!(recipe.is_none() && printed.contains(message), "{printed}");
}

#[test]
fn a_member_chooses_rows_and_without_a_configuration_the_command_is_a_param() {
    let mut rows = rows();
    rows[1]["image"] = json!("other:1");
    let directory = Directory::new(&rows, CONFIGURATION);
    let (recipe, _) = directory.import(&["--row", "image=lmsysorg/sglang:v0.5.12"]);
    let recipe = recipe.unwrap();
    assert!(recipe.contains("sweep: { concurrency: [4, 32] }"), "{recipe}");
    assert!(recipe.contains("run: \"${{ params.server }}\""), "{recipe}");
    let unknown =
        directory.retrial(&["new", "x", "--from-inferencex", "rows.json", "--row", "hw=x"]);
    let printed = String::from_utf8(unknown.stderr).unwrap();
    assert!(printed.contains("rows have no `hw`; they have hardware, framework"), "{printed}");
}

#[rstest]
#[case::sum("tput_per_gpu", 500.0, "tokens/s per GPU")]
#[case::speed("median_intvty", 90.0, "median_intvty")]
#[case::order("p99_ttft", 0.2, "ttft")]
#[case::answers("mean_e2el", 0.39, "mean_e2el")]
#[case::load("mean_e2el", 100.0, "requests in flight")]
#[case::negative("median_ttft", -0.3, "median_ttft")]
fn a_row_of_numbers_that_contradict_each_other_is_named(
    #[case] metric: &str,
    #[case] value: f64,
    #[case] rule: &str,
) {
    let mut rows = rows();
    rows[1]["metrics"][metric] = json!(value);
    let directory = Directory::new(&rows, CONFIGURATION);
    let output = directory.retrial(&["judge", "rows.json"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let named = format!("row 2 (mi355x sglang dsr1 fp8 tp8 8192/1024 at 16): {rule}: ");
    assert!(printed.contains(&named), "{printed}");
    assert!(printed.contains("3 rows, 1 of numbers that contradict each other"), "{printed}");
    let (recipe, refused) = directory.import(&[]);
    assert!(recipe.is_none() && refused.contains("concurrency 16 is impossible"), "{refused}");
}

#[rstest]
#[case::text("no rows", "not JSON")]
#[case::other("{\"a\": 1}", "no row")]
#[case::twice("[{\"conc\": 1, \"conc\": 2}]", "not JSON")]
#[case::incomplete("[{\"conc\": 1, \"isl\": 2, \"osl\": 3}]", "row 1 has no `hardware`")]
fn a_file_that_has_no_rows_is_refused(#[case] text: &str, #[case] message: &str) {
    let directory = Directory::new(&json!([]), "");
    std::fs::write(directory.path("rows.json"), text).unwrap();
    let output = directory.retrial(&["judge", "rows.json"]);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains(message), "{printed}");
}

#[test]
#[ignore = "needs the corpus"]
fn published_rows_contradict_themselves_nowhere() {
    let corpus = unpacked("serving.tar.xz");
    let rows = corpus.path().join("serving/inferencex/rows-api.json");
    let rows: Value = serde_json::from_str(&std::fs::read_to_string(rows).unwrap()).unwrap();
    let count = rows.as_array().unwrap().len();
    let directory = Directory::new(&rows, "");
    let output = directory.retrial(&["judge", "rows.json"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let expected = format!("{count} rows, 0 of numbers that contradict each other");
    assert!(output.status.success() && printed.contains(&expected), "{printed}");
    assert!(printed.contains("GPUs: 64 stated, tp 8"), "{printed}");
}
