//! The built-in recipes from the command to the verdict, on a real engine, with their real flags,
//! against stand-ins of the vendors' images that print what was published (`tests/standins`).
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use harness::{Described, Engine, Ran, engine, outcomes, root, run_on};
use rstest::rstest;

mod harness;
mod releases;
mod training;

const LLAMA2: &str = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
const GPT_OSS: &str = "mlperf-inference/v6.0/amd/gpt-oss-120b-mi355x";
const WAN: &str = "mlperf-inference/v6.0/amd/wan2.2-t2v-a14b-mi355x";
const LLAMA2_V4: &str = "mlperf-inference/v4.1/amd/llama2-70b-mi300x";
const POWERS: [&str; 6] = ["--allow", "privileged", "--allow", "sys-admin", "--allow", "dev-mem"];

/// On a planted host with 8 GPUs of the recipe's model.
fn run(engine: &Engine, recipe: &str, arguments: &[&str]) -> Ran {
    let host = if recipe == LLAMA2_V4 { "mi300x-8" } else { "mi355x-8" };
    // The simulated GPUs are idle, of which nothing could be decided.
    run_on(engine, host, recipe, &[arguments, &["--telemetry", "off"]].concat())
}

/// One of each family of benchmarks: a directory's file `standin` states its expected run.
#[rstest]
#[case("llama2-70b-v6.0")]
#[case("gpt-oss-120b-v6.0")]
#[case("mixtral-8x7b-v5.1")]
#[case("stable-diffusion-xl-v5.0")]
#[case("dlrm-v3-v6.1")]
#[ignore = "needs simulated GPUs and the lab"]
fn every_published_figure_of_a_recipe_is_reproduced(#[case] standin: &str) {
    let engine = engine();
    let described = Described::read(standin);
    let ran = run(&engine, &described.recipe, &described.arguments());
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let outcomes = outcomes(&ran.verdict());
    assert_eq!(outcomes.len(), described.results, "{outcomes:?}");
    let held = |(_, mode, outcome): &(String, String, String)| {
        // Of an audit nothing was published but that it passed, of some accuracies nothing at all.
        outcome == "reproduced" || (mode != "performance" && outcome == "measured")
    };
    assert!(outcomes.iter().all(held), "{outcomes:?}");
}

/// The words of the guides for debugging are those that the harness takes.
#[rstest]
#[case(LLAMA2)]
#[case(GPT_OSS)]
#[ignore = "needs simulated GPUs and the lab"]
fn a_smoke_test_is_measured_and_compared_with_nothing(#[case] recipe: &str) {
    let engine = engine();
    let skipped = if recipe == LLAMA2 { "fetch-llama2" } else { "fetch-gpt-oss" };
    let ran = run(&engine, recipe, &["--skip", skipped, "--smoke-test"]);
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let outcomes = outcomes(&ran.verdict());
    let is_measured = |(_, mode, outcome): &(String, String, String)| {
        mode == "performance" && outcome == "measured"
    };
    assert!(!outcomes.is_empty() && outcomes.iter().all(is_measured), "{outcomes:?}");
}

/// Every stand-in is run by a test.
#[test]
fn every_described_standin_is_run() {
    let this = fs::read_to_string(root().join("tests/engine/standins/mod.rs")).unwrap();
    let mut count = 0;
    for entry in fs::read_dir(root().join("tests/standins")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        let is_tested = this.contains(&format!("#[case(\"{name}\")]"));
        assert!(is_tested || !path.join("standin").exists(), "{name}");
        count += usize::from(is_tested);
    }
    assert!(count > 4, "{count}");
}

/// `SingleStream` was published and is compared, Offline was not and is measured; one script runs all modes.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn one_script_for_three_modes() {
    let engine = engine();
    let videos = tempfile::tempdir().unwrap();
    let outputs = format!("outputs={}", videos.path().display());
    let ran = run(&engine, WAN, &["--skip", "fetch-wan", "--set", &outputs]);
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let outcomes = outcomes(&ran.verdict());
    let outcome_of = |scenario: &str, mode: &str| {
        let found = outcomes.iter().find(|(s, m, _)| s == scenario && m == mode);
        found.map(|(.., outcome)| outcome.as_str())
    };
    assert_eq!(outcome_of("SingleStream", "performance"), Some("reproduced"));
    assert_eq!(outcome_of("SingleStream", "accuracy"), Some("reproduced"));
    assert_eq!(outcome_of("SingleStream", "compliance"), Some("measured"));
    assert_eq!(outcome_of("Offline", "performance"), Some("measured"));
    assert_eq!(outcomes.len(), 6);

    let ran = run(
        &engine,
        WAN,
        &[
            "--skip",
            "fetch-wan",
            "--set",
            &outputs,
            "--set",
            "vbench=skip",
            "--set",
            "compliance=skip",
        ],
    );
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let verdict = ran.verdict();
    assert_eq!(verdict["results"].as_array().unwrap().len(), 2);
    assert!(ran.text().contains("performance only"), "{}", ran.text());
}

/// The image that nobody publishes, directories of the host, a step that quantizes, results by a glob,
/// and a target rate of the guide's that is not the published one.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn the_guide_of_v4_1() {
    let engine = engine();
    let host = tempfile::tempdir().unwrap();
    let directory = |name: &str| {
        let path = host.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (model, dataset, logs) = (directory("model"), directory("open_orca"), directory("hist"));
    fs::write(dataset.join("open_orca_gpt4_tokenized_llama.calibration_1000.pkl.gz"), "").unwrap();
    // A result of an earlier run, which must not be taken for this one's.
    let earlier = logs.join("mlperf-results/0101-000000/Offline/performance/run_1");
    fs::create_dir_all(&earlier).unwrap();
    fs::write(earlier.join("mlperf_log_summary.txt"), "stale").unwrap();
    let set = [
        format!("model={}", model.display()),
        format!("dataset={}", dataset.display()),
        format!("hist={}", logs.display()),
    ];
    let arguments: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let ran = run(&engine, LLAMA2_V4, &arguments);
    assert_eq!(ran.code(), 1, "{}", ran.text());
    // By the guide's rate fewer queries come than were published: 3.2 % on the same system, whose margin is 2 %.
    let outcomes = outcomes(&ran.verdict());
    let others: Vec<_> = outcomes.iter().filter(|(.., outcome)| outcome != "reproduced").collect();
    let server = |(scenario, mode, outcome): &(String, String, String)| {
        (&**scenario, &**mode, &**outcome) == ("Server", "performance", "not reproduced")
    };
    assert!(matches!(&others[..], [one] if server(one)), "{outcomes:?}");
    let text = ran.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let rate = "Server's target rate was 70 queries/s, published at 73.5";
    assert!(words.join(" ").contains(rate), "{text}");
    // The quantized weights are cached, and the user's own directory has none.
    let cached = ran.home.path().join("cache/directories/llama2-70b-quark-fp8-v4.1");
    let names = fs::read_dir(cached).unwrap();
    let names: Vec<_> = names.map(|name| name.unwrap().path()).collect();
    assert_eq!(names.len(), 1);
    let modelzoo = names[0].join("current/content/quark_share/modelzoo");
    assert!(modelzoo.is_dir());
    assert!(!model.join("quantized/quark_share").exists());
}

/// What a person pastes does what `run` does: the same commands, the same files in the end, and the same verdict.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn the_shell_plan_runs() {
    let engine = engine();
    let directory = tempfile::tempdir().unwrap();
    let plan = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", GPT_OSS, "--skip", "fetch-gpt-oss", "--format", "shell"])
        .output()
        .unwrap();
    fs::write(directory.path().join("plan.sh"), plan.stdout).unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_retrial")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let script = Command::new("sh")
        .arg("plan.sh")
        .current_dir(&directory)
        .env("PATH", path)
        .env("DOCKER_HOST", &engine.url)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&script.stderr).into_owned();
    assert!(script.status.success(), "{text}");
    let stdout = String::from_utf8_lossy(&script.stdout).into_owned();
    assert!(stdout.contains("✓ reproduced"), "{stdout}");
    let ran = run(&engine, GPT_OSS, &["--skip", "fetch-gpt-oss"]);
    let runs = fs::read_dir(ran.home.path().join("runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().path()).find(|run| run.join("results").exists());
    for file in [
        "results/Offline/performance/run_1/mlperf_log_summary.txt",
        "results/Server/performance/run_1/mlperf_log_summary.txt",
        "results/Server/accuracy/run_1/accuracy.txt",
        "results/Server/accuracy/run_1/mlperf_log_accuracy.json",
    ] {
        let by_hand = fs::read_to_string(directory.path().join(file)).unwrap();
        let by_run = fs::read_to_string(run.as_ref().unwrap().join(file)).unwrap();
        assert_eq!(by_hand, by_run, "{file}");
    }
}

/// A copy of the built-in recipe whose image misbehaves: no longer built in, so its privileges need approval.
fn behaving(how: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join(format!("recipes/{LLAMA2}.yaml"))).unwrap();
    let text = format!("{text}\ncontainer:\n  env: {{ STANDIN: {how} }}\n");
    fs::write(directory.path().join("recipe.yaml"), text).unwrap();
    directory
}

#[rstest]
#[case("worse", 1, "not reproduced")]
#[case("invalid", 1, "invalid")]
#[case("inaccurate", 1, "invalid")]
#[case("fail", 4, "failed")]
#[ignore = "needs simulated GPUs and the lab"]
fn failures_are_distinguished(#[case] how: &str, #[case] code: i32, #[case] outcome: &str) {
    let engine = engine();
    let recipe = behaving(how);
    let mut arguments = vec!["--skip", "fetch-llama2", "--scenario", "server"];
    arguments.extend(POWERS);
    let ran = run(&engine, recipe.path().to_str().unwrap(), &arguments);
    assert_eq!(ran.code(), code, "{}", ran.text());
    let outcomes = outcomes(&ran.verdict());
    let performance = outcomes.iter().find(|(_, mode, _)| mode == "performance").unwrap();
    assert_eq!(performance.2, outcome, "{}", ran.text());
}

/// A recipe that is not built in gets no root on the host without approval.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn a_copy_of_a_recipe_needs_approval() {
    let engine = engine();
    let recipe = behaving("ok");
    let ran = run(&engine, recipe.path().to_str().unwrap(), &["--skip", "fetch-llama2"]);
    assert_eq!(ran.code(), 2, "{}", ran.text());
    assert!(ran.text().contains("--allow dev-mem,privileged,sys-admin"), "{}", ran.text());
}
