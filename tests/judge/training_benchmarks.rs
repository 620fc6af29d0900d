//! The expected figures of the training benchmarks' recipes, against each other: the published tables state most
//! things twice, so that a slip in copying them shows. And the commands, against those published.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

fn plan(recipe: &str, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", &format!("training-benchmarks/amd/mi350x/{recipe}")])
        .args(["--format", "json"])
        .args(more)
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a recipe expects of each scenario, by figure; of a table, `tflops[4096x4096x4096]` as
/// `tflops_4096x4096x4096`.
fn expected(plan: &Value) -> BTreeMap<String, BTreeMap<String, f64>> {
    let measurements = plan["measurements"].as_array().unwrap().iter();
    let figures_of = |measurement: &Value| {
        let expect = measurement["expect"].as_array().unwrap().iter();
        let figures = expect.map(|pair| {
            let name = pair[0].as_str().unwrap().replace('[', "_").replace(']', "");
            assert_eq!(pair[1].as_array().unwrap().len(), 1, "{pair}");
            assert_ne!(pair[1][0]["kind"], "official", "a document, not a round's results");
            (name, pair[1][0]["value"].as_f64().unwrap())
        });
        (measurement["scenario"].as_str().unwrap().to_owned(), figures.collect())
    };
    measurements.map(figures_of).collect()
}

/// That a computed figure is the published one, within half of its last digit and that of what it
/// was computed from.
#[track_caller]
fn agrees(published: f64, computed: f64, within: f64) {
    let ratio = computed / published;
    assert!((ratio - 1.0).abs() < within, "{published} and {computed}");
}

/// What the document says of two of its figures follows from them.
#[rstest]
#[case("gemm", 1)]
#[case("qwen3-8b-madengine", 2)]
fn published_figures_meet_the_claims_on_them(#[case] recipe: &str, #[case] count: usize) {
    let plan = plan(recipe, &["--mode", "performance"]);
    let expected = expected(&plan);
    let claims = plan["claims"].as_array().unwrap();
    assert_eq!(claims.len(), count);
    for claim in claims {
        let values_of = |side: &str| {
            let text = |key: &str| claim[side][key].as_str().unwrap();
            let figures = expected[text("scenario")].iter();
            let name = text("figure").to_owned();
            let of_figure = move |(full, value): (&String, &f64)| {
                let entry = full.strip_prefix(&name)?;
                Some((entry.to_owned(), *value))
            };
            figures.filter_map(of_figure).collect::<BTreeMap<_, _>>()
        };
        let (candidate, baseline) = (values_of("candidate"), values_of("baseline"));
        assert!(!candidate.is_empty() && candidate.keys().eq(baseline.keys()));
        let lower_is_better = claim["candidate"]["figure"] == "memory";
        for (entry, value) in candidate {
            let ratio =
                if lower_is_better { baseline[&entry] / value } else { value / baseline[&entry] };
            assert!(ratio > 1.0 + claim["by"].as_f64().unwrap_or(0.0), "{claim} {entry}");
        }
    }
}

/// A claim on two figures is judged by the trials of a folder, and decides the outcome.
#[test]
fn a_claim_of_a_recipe_is_judged_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let shapes = ["8192x8192x8192", "16384x8192x1280", "4096x4096x4096"];
    for trial in 1..=3 {
        let run = format!("libraries/performance/run_{trial}");
        let directory = folder.path().join(run);
        std::fs::create_dir_all(&directory).unwrap();
        let line = |shape| {
            format!(
                "{shape}   matmul   {} TFLOPS   F.linear   {} TFLOPS   -1.0 %\n",
                1040 + trial,
                1050 + trial
            )
        };
        std::fs::write(directory.join("output.log"), shapes.map(line).concat()).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "--recipe", "training-benchmarks/amd/mi350x/gemm"])
        .args(["--scenario", "libraries", "--output", "json"])
        .arg(folder.path())
        .output()
        .unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["claims"][0]["outcome"], "contradicted", "{verdict}");
    assert_eq!(verdict["claims"][0]["parts"].as_array().unwrap().len(), 3);
    assert_eq!(verdict["outcome"], "not reproduced");
    assert_eq!(output.status.code(), Some(1));
}

#[rstest]
#[case("fp16", 982.0, 1053.0)]
#[case("bf16", 1027.0, 1104.0)]
fn tflops_are_consistent_with_times(
    #[case] scenario: &str,
    #[case] average: f64,
    #[case] peak: f64,
) {
    let expected = expected(&plan("gemm", &[]));
    let figures = &expected[scenario];
    assert_eq!(figures.len(), 16);
    let mut all = Vec::new();
    for (name, tflops) in figures {
        let Some(shape) = name.strip_prefix("tflops_") else {
            continue;
        };
        let sides: f64 = shape.split('x').map(|side| side.parse::<f64>().unwrap()).product();
        let milliseconds = figures[&format!("ms_{shape}")];
        agrees(*tflops, 2.0 * sides / milliseconds / 1e9, 0.0005 / milliseconds + 0.0005);
        all.push(*tflops);
    }
    assert_eq!(all.len(), 7);
    agrees(average, all.iter().sum::<f64>() / 7.0, 0.001);
    assert!((figures["average"] - average).abs() < 0.5);
    assert!((figures["peak"] - peak).abs() < 0.5);
    assert!((all.iter().copied().fold(0.0, f64::max) - peak).abs() < 0.5);
}

#[test]
fn other_matrix_product_tables() {
    let expected = expected(&plan("gemm", &[]));
    let square = &expected["square"];
    assert_eq!(square.len(), 7);
    // 20 products in the published time, and the peak that the published 'efficiency' is a share of.
    for (side, efficiency) in [(4096.0, 60.0), (8192.0, 78.0), (16384.0_f64, 78.0)] {
        let shape = format!("{side}x{side}x{side}");
        let (seconds, tflops) =
            (square[&format!("seconds_{shape}")], square[&format!("tflops_{shape}")]);
        agrees(tflops, 40.0 * side.powi(3) / seconds / 1e12, 0.0006 / seconds + 0.0005);
        let ratio = tflops / 1307.4 * 100.0;
        assert!((ratio - efficiency).abs() < 0.8, "{shape}: {ratio}");
    }
    let libraries = &expected["libraries"];
    for (shape, difference) in
        [("8192x8192x8192", -13.3), ("16384x8192x1280", -11.0), ("4096x4096x4096", -10.8)]
    {
        let [matmul, linear] =
            ["matmul", "linear"].map(|kind| libraries[&format!("{kind}_{shape}")]);
        let ratio = (matmul / linear - 1.0) * 100.0;
        assert!((ratio - difference).abs() < 0.06, "{shape}: {ratio}");
    }
}

/// `SemiAnalysis` has one figure a GPU.
#[rstest]
#[case("h100", 720.0)]
#[case("h200", 720.0)]
#[case("mi300x", 620.0)]
fn each_other_gpu_has_one_published_peak(#[case] gpu: &str, #[case] peak: f64) {
    let expected = expected(&plan("gemm", &["--set", &format!("gpu={gpu}")]));
    assert_eq!(expected["bf16"].get("peak").copied(), Some(peak));
    assert_eq!(expected.values().map(BTreeMap::len).sum::<usize>(), 1);
}

/// Parameters of the models, in millions, as `transformer_benchmark.py --list` has them.
const PARAMETERS: [(&str, f64, f64); 8] = [
    ("small", 30.12, 32.0 * 512.0),
    ("medium", 123.96, 16.0 * 512.0),
    ("large", 354.08, 8.0 * 512.0),
    ("xl", 772.96, 4.0 * 512.0),
    ("1.5b", 1437.23, 4.0 * 512.0),
    ("3b", 2646.88, 2.0 * 512.0),
    ("7b", 5243.74, 8.0 * 1024.0),
    ("13b", 10120.0, 4.0 * 1024.0),
];

/// 6 x parameters x tokens/s, and tokens/s from the time of a step.
#[test]
fn transformer_figures_are_consistent() {
    let expected = expected(&plan("transformer", &[]));
    assert_eq!(expected.len(), PARAMETERS.len());
    for (model, parameters, tokens) in PARAMETERS {
        let figures = &expected[model];
        assert_eq!(figures.len(), 4);
        let speed = figures["tokens_per_second"];
        agrees(figures["tflops"], 6.0 * parameters * speed / 1e6, 0.0004);
        agrees(speed, tokens * 1000.0 / figures["ms_per_step"], 0.004);
    }
}

#[test]
fn multi_gpu_figures_are_consistent() {
    let expected = expected(&plan("ddp", &[]));
    for (model, parameters) in [("7b", 5243.74), ("13b", 10120.0)] {
        let figures = &expected[model];
        let tflops = 6.0 * parameters * figures["tokens_per_second"] / 1e6;
        agrees(figures["tflops"], tflops, 0.0004);
        agrees(figures["tflops_per_gpu"], tflops / 8.0, 0.002);
        assert!(figures.contains_key("memory"));
    }
    let scaling = &expected["scaling-7b"];
    assert_eq!(scaling.len(), 11);
    let single = scaling["tokens_per_second_1"];
    for gpus in [1_u32, 2, 4, 8] {
        let speed = scaling[&format!("tokens_per_second_{gpus}")];
        agrees(scaling[&format!("tflops_{gpus}")], 6.0 * 5243.74 * speed / 1e6, 0.001);
        if let Some(efficiency) = scaling.get(&format!("efficiency_{gpus}")) {
            agrees(*efficiency, speed / single / f64::from(gpus) * 100.0, 0.001);
        }
    }
}

#[test]
fn other_figures_are_consistent() {
    let loops = &expected(&plan("simple-training", &[]))["loop"];
    agrees(loops["samples_per_second"], 256.0 * 1000.0 / loops["ms_per_step"], 0.003);
    agrees(loops["total_time"], loops["ms_per_step"] / 10.0, 0.001);
    let mad = plan("qwen3-8b-madengine", &[]);
    let measurements = mad["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), 4);
    for scenario in ["full-fp8", "full-bf16"] {
        let figures = &expected(&mad)[scenario];
        let all = figures["tokens_per_second_per_gpu"] * 8.0;
        agrees(figures["total_tokens_per_second"], all, 1e-6);
    }
}

/// `docker run --rm --device /dev/kfd --device /dev/dri -e TORCH_BLAS_PREFER_HIPBLASLT=1
/// -v …:/workspace rocm/vllm:… python3 /workspace/gemm_benchmark.py`, and with `--ipc=host`
/// `multigpu_benchmark.py --model 7b --gpus 8 --batch-size 8` and `--model 7b --scaling-test`.
#[rstest]
#[case("gemm", None, "python3 /workspace/gemm_benchmark.py")]
#[case(
    "ddp",
    Some("host"),
    "python3 /workspace/multigpu_benchmark.py --model 7b --gpus 8 --batch-size 8"
)]
#[case("ddp", Some("host"), "python3 /workspace/multigpu_benchmark.py --model 7b --scaling-test")]
fn the_published_command(#[case] recipe: &str, #[case] ipc: Option<&str>, #[case] command: &str) {
    let plan = plan(recipe, &[]);
    let container = &plan["container"];
    assert_eq!(plan["image"], "rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210");
    assert_eq!(container["devices"], serde_json::json!(["/dev/kfd", "/dev/dri"]));
    assert_eq!(container["ipc"].as_str(), ipc);
    assert_eq!(container["privileged"], false);
    let hipblaslt = serde_json::json!(["TORCH_BLAS_PREFER_HIPBLASLT", "1"]);
    let has = container["env"].as_array().unwrap().contains(&hipblaslt);
    assert_eq!(has, recipe == "gemm");
    let steps = plan["steps"].as_array().unwrap();
    let runs = |step: &Value| {
        step["run"]
            .as_str()
            .and_then(|run| run.strip_prefix(command))
            .is_some_and(|options| options.is_empty() || options.starts_with(' '))
    };
    assert!(steps.iter().any(runs), "{steps:#?}");
    assert_eq!(plan["judge"]["reimplemented"], true);
}

/// Whoever looks at a recipe before running it learns whose script it runs, and what else is not the document's.
#[rstest]
fn the_origin_of_the_script_is_shown(
    #[values("gemm", "simple-training", "transformer", "ddp")] recipe: &str,
    #[values("show", "plan")] command: &str,
) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args([command, &format!("training-benchmarks/amd/mi350x/{recipe}")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "reimplemented: the workload's own script was never published",
        "deviates from the guide",
        "The document's scripts were never published.",
        "docker run: ",
        " of the recipe mounted read-only",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}
