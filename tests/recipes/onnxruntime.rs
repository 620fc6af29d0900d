//! The recipes of MLPerf's reference workloads on ONNX Runtime: every cell of the matrix has a
//! plan, the one that does not exist says why, and the script that holds a session to its
//! provider does so, with the real ONNX Runtime and LoadGen on the CPU.
//!
//! What cannot be tried here is a GPU's provider, and building the images: their bases and wheels. That was done by hand
//! with stand-ins for these: image/*.Dockerfile; `onnxruntime_images` has their Python part.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use crate::support::needs::find_python;
use rstest::rstest;
use serde_json::Value;

const RECIPES: &str = "mlperf-inference-reference/onnxruntime";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn plan(recipe: &str, settings: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
    command.args(["plan", &format!("{RECIPES}/{recipe}"), "--output", "json", "--format", "json"]);
    command.args(settings.iter().flat_map(|setting| ["--set", setting]));
    let home = tempfile::tempdir().unwrap();
    command.env("RETRIAL_HOME", home.path()).output().unwrap()
}

fn planned(recipe: &str, settings: &[&str]) -> Value {
    let output = plan(recipe, settings);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{recipe} {settings:?}: {problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn variable<'a>(plan: &'a Value, name: &str) -> Option<&'a str> {
    let variables = plan["container"]["env"].as_array().unwrap();
    let found = variables.iter().find(|variable| variable[0] == name);
    found.and_then(|variable| variable[1].as_str())
}

/// Data that is not free to download is a directory of the user's.
fn data(benchmark: &str) -> Vec<&'static str> {
    match benchmark {
        "resnet50" => vec!["imagenet=/of/imagenet"],
        "3d-unet" => vec!["kits19=/of/kits19"],
        _ => Vec::new(),
    }
}

#[rstest]
fn each_cell_has_its_software_stack(
    #[values("resnet50", "retinanet", "bert-large", "3d-unet")] benchmark: &str,
    #[values(
        ("6.4.1", "rocm", "rocm-rel-6.4.1", "onnxruntime-rocm==1.21.0"),
        ("6.4.1", "migraphx", "rocm-rel-6.4.1", "onnxruntime-rocm==1.21.0"),
        ("7.1.1", "migraphx", "rocm-rel-7.1.1", "onnxruntime-migraphx==1.23.1")
    )]
    cell: (&str, &str, &str, &str),
    #[values("w7900", "rx7900xtx", "rx7900xt", "rx9070xt", "r9700", "rx6700xt")] card: &str,
) {
    let (rocm, backend, wheels, wheel) = cell;
    let (rocm, chosen) = (format!("rocm={rocm}"), format!("backend={backend}"));
    let gpu = format!("gpu={card}");
    let mut settings = vec![rocm.as_str(), &chosen, &gpu];
    settings.extend(data(benchmark));
    let plan = planned(&format!("{benchmark}-radeon"), &settings);
    assert_eq!(variable(&plan, "EXECUTION_PROVIDER"), Some(backend));
    let build = plan["steps"][0].to_string();
    assert!(build.contains(wheels) && build.contains(wheel), "{build}");
    // ROCm has no libraries for this card's own target.
    let target = variable(&plan, "HSA_OVERRIDE_GFX_VERSION");
    assert_eq!(target, (card == "rx6700xt").then_some("10.3.0"));
    accuracy_first(&plan);
}

/// What ROCm issue 5388 reports: of `ResNet50`, the ROCm provider and four cards.
#[rstest]
#[case("rocm", "rx7900xtx", &[58.096, 58.0])]
#[case("rocm", "rx7900xt", &[58.0, 58.0])]
#[case("rocm", "rx9070xt", &[58.0, 58.0])]
#[case("rocm", "rx6700xt", &[58.0, 58.0])]
#[case("rocm", "w7900", &[])]
#[case("rocm", "r9700", &[])]
#[case("migraphx", "rx7900xtx", &[])]
#[case("migraphx", "w7900", &[])]
fn the_reported_accuracy_is_that_of_a_third_party(
    #[case] backend: &str,
    #[case] card: &str,
    #[case] reported: &[f64],
) {
    let backend = format!("backend={backend}");
    let card = format!("gpu={card}");
    let settings = ["rocm=6.4.1", &backend, &card, "imagenet=/of/imagenet"];
    let plan = planned("resnet50-radeon", &settings);
    let measurements = plan["measurements"].as_array().unwrap();
    let expected: Vec<&Value> = measurements
        .iter()
        .filter(|measurement| !measurement["expect"].as_array().unwrap().is_empty())
        .collect();
    let values: Vec<f64> = expected
        .iter()
        .map(|measurement| {
            assert_eq!(measurement["mode"], "accuracy");
            let accuracy = &measurement["expect"][0][1][0];
            assert_eq!(accuracy["kind"], "third-party");
            accuracy["value"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(values, reported);
}

/// In Server, accuracy has the target rate as well: at `LoadGen`'s default of one a second, 50,000 images take 14 hours.
#[rstest]
#[case("resnet50", "--qps 321 ")]
#[case("retinanet", "--qps 321 ")]
#[case("bert-large", " 60 321 >/tmp/user.conf")]
fn a_server_has_a_target_rate(
    #[case] benchmark: &str,
    #[case] words: &str,
    #[values("radeon", "rtx4090")] card: &str,
) {
    let mut settings = vec!["server_qps=321"];
    settings.extend(data(benchmark));
    let plan = planned(&format!("{benchmark}-{card}"), &settings);
    for name in ["server-accuracy", "server-performance-1"] {
        let mut steps = plan["steps"].as_array().unwrap().iter();
        let step = steps.find(|step| step["name"] == name).unwrap();
        let run = step["run"].as_str().unwrap();
        assert!(run.contains(words), "{run}");
    }
}

#[rstest]
fn the_comparison_has_two_providers(
    #[values("resnet50", "retinanet", "bert-large", "3d-unet")] benchmark: &str,
    #[values("cuda", "tensorrt")] backend: &str,
) {
    let chosen = format!("backend={backend}");
    let mut settings = vec![chosen.as_str()];
    settings.extend(data(benchmark));
    let plan = planned(&format!("{benchmark}-rtx4090"), &settings);
    assert_eq!(variable(&plan, "EXECUTION_PROVIDER"), Some(backend));
    accuracy_first(&plan);
    // The published rows are of the CUDA provider, and like for like for RetinaNet only.
    let expected = plan["measurements"].to_string().contains("5.1-0035");
    assert_eq!(expected, benchmark == "retinanet" && backend == "cuda");
}

/// A provider that is fast and wrong is worth nothing: in each scenario accuracy is known first.
fn accuracy_first(plan: &Value) {
    let measurements = plan["measurements"].as_array().unwrap();
    assert!(measurements.len() >= 4);
    for pair in measurements.chunks(2) {
        assert_eq!(pair[0]["scenario"], pair[1]["scenario"]);
        assert_eq!(pair[0]["mode"], "accuracy");
        assert_eq!(pair[1]["mode"], "performance");
        assert!(!pair[0]["limits"].as_array().unwrap().is_empty());
    }
}

/// These two check the accuracy again themselves, with data where the recipe has none, and fail.
#[rstest]
#[case("bert-large", &[])]
#[case("3d-unet", &["kits19=/of/kits19"])]
fn the_recipes_check_the_accuracy(
    #[case] benchmark: &str,
    #[case] settings: &[&str],
    #[values("radeon", "rtx4090")] card: &str,
) {
    let plan = planned(&format!("{benchmark}-{card}"), settings);
    assert_eq!(variable(&plan, "SKIP_VERIFY_ACCURACY"), Some("1"));
}

#[rstest]
fn an_unsupported_cell_is_refused_with_the_reason(
    #[values("resnet50", "retinanet", "bert-large", "3d-unet")] benchmark: &str,
) {
    let mut settings = vec!["rocm=7.1.1", "backend=rocm"];
    settings.extend(data(benchmark));
    let output = plan(&format!("{benchmark}-radeon"), &settings);
    assert_eq!(output.status.code(), Some(2));
    let problem = String::from_utf8(output.stderr).unwrap();
    assert!(problem.contains("is not supported: AMD's wheel"), "{problem}");
    assert!(problem.contains("rocm=6.4.1"), "{problem}");
}

/// The last part of a run would be another shape, compiled in the timed part.
#[test]
fn batch_sizes_divide_the_sample_counts() {
    let plan = planned("resnet50-radeon", &data("resnet50"));
    let warmed = variable(&plan, "WARM_BATCHES").unwrap();
    let batch: u32 = warmed.rsplit(',').next().unwrap().parse().unwrap();
    assert_eq!((50_000 % batch, 1024 % batch), (0, 0));
    let runs = plan["steps"].to_string();
    assert!(runs.contains(&format!("--max-batchsize {batch} ")), "{runs}");
}

struct Ran {
    code: i32,
    text: String,
    directory: tempfile::TempDir,
}

/// A script that names CUDA, as the reference's do, run on a provider.
fn on_provider(python: &Path, provider: &str, arguments: &[&str]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(python)
        .arg(root().join("recipes").join(RECIPES).join("on_provider.py"))
        .arg(root().join("tests/fixtures/onnxruntime/classify.py"))
        .arg(directory.path())
        .args(arguments)
        .env("EXECUTION_PROVIDER", provider)
        .env("WARM_BATCHES", if arguments.is_empty() { "1,16" } else { "" })
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: output.status.code().unwrap(),
        text: text(&output.stdout) + &text(&output.stderr),
        directory,
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_session_uses_the_requested_provider() {
    let python = find_python(&["onnxruntime"]);
    let ran = on_provider(&python, "cpu", &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    for line in [
        "session on CPUExecutionProvider",
        "warmed batch 1\n",
        "warmed batch 16\n",
        "ONNX Runtime 1.21.0 with ",
    ] {
        assert!(ran.text.contains(line), "{}", ran.text);
    }
    let log = ran.directory.path().join("mlperf_log_accuracy.json");
    let answers: Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    assert_eq!(answers.as_array().unwrap().len(), 64);
}

/// ONNX Runtime itself warns, and continues on the CPU.
#[rstest]
#[case("rocm", "this build of ONNX Runtime has no ROCMExecutionProvider", 3)]
#[case("migraphx", "this build of ONNX Runtime has no MIGraphXExecutionProvider", 3)]
#[case("gpu", "EXECUTION_PROVIDER=cpu|cuda|tensorrt|rocm|migraphx", 2)]
#[ignore = "needs the lab"]
fn an_unavailable_provider_is_not_replaced(
    #[case] provider: &str,
    #[case] message: &str,
    #[case] code: i32,
) {
    let python = find_python(&["onnxruntime"]);
    let ran = on_provider(&python, provider, &[]);
    assert_eq!(ran.code, code, "{}", ran.text);
    assert!(ran.text.contains(message), "{}", ran.text);
}

/// A provider that the build has and that does not start: the session comes up on the CPU.
#[test]
#[ignore = "needs the lab"]
fn a_session_that_falls_back_ends_the_run() {
    let python = find_python(&["onnxruntime"]);
    let made = on_provider(&python, "cpu", &[]);
    let model = made.directory.path().join("model.onnx");
    let script = format!(
        "import on_provider; on_provider.session_class(['CUDAExecutionProvider'], [])({:?})",
        model.to_str().unwrap()
    );
    let output = Command::new(&python)
        .args(["-c", &script])
        .env("PYTHONPATH", root().join("recipes").join(RECIPES))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{problem}");
    assert!(
        problem.contains("the session is on CPUExecutionProvider, asked for CUDAExecutionProvider"),
        "{problem}"
    );
}

/// The reference would answer `LoadGen` with nothing, and the run would count.
#[test]
#[ignore = "needs the lab"]
fn a_failed_inference_ends_the_run() {
    let python = find_python(&["onnxruntime"]);
    let ran = on_provider(&python, "cpu", &["9"]);
    assert_eq!(ran.code, 4, "{}", ran.text);
    assert!(ran.text.contains("an inference failed: "), "{}", ran.text);
}
