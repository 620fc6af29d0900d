//! The training recipes against what the guides' host scripts do: the flags of `docker run` in
//! `run_with_docker.sh`, what prepares the data, and what is done for each trial.
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

/// `docker run --rm --init --detach --net=host --uts=host --ipc=host --device /dev/dri
/// --device /dev/kfd --security-opt=seccomp=unconfined … sleep infinity`, of v5.0 and v5.1.
const FLAGS: [(&str, &str); 7] = [
    ("init", "true"),
    ("network", "\"host\""),
    ("uts", "\"host\""),
    ("ipc", "\"host\""),
    ("devices", "[\"/dev/dri\",\"/dev/kfd\"]"),
    ("security_opt", "[\"seccomp=unconfined\"]"),
    ("privileged", "false"),
];

const DOWNLOADER: &str = "bash <(curl -s https://raw.githubusercontent.com/mlcommons/r2-downloader/refs/heads/main/mlc-r2-downloader.sh) -d";

fn plan(recipe: &str, gpu: &str, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", recipe, "--format", "json", "--set"])
        .arg(format!("gpu={gpu}"))
        .args(more)
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The commands of the steps of one kind, in their order.
fn commands(plan: &Value, action: &str) -> Vec<String> {
    let steps = plan["steps"].as_array().unwrap().iter();
    let run = |step: &Value| match action {
        "populate" => step["command"]["run"].as_str().map(str::to_owned),
        _ => step["run"].as_str().map(str::to_owned),
    };
    steps.filter(|step| step["action"] == action).map(|step| run(step).unwrap()).collect()
}

/// All the lines, in this order.
fn in_order(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let at = rest.find(line);
        assert!(at.is_some(), "no `{line}`, or out of order, in:\n{text}");
        rest = &rest[at.unwrap() + line.len()..];
    }
}

const PREPARE: &[&str] = &["bash ./scripts/prepare_data_and_model.sh"];
const C4: &str =
    "https://training.mlcommons-storage.org/metadata/llama-3-1-8b-preprocessed-c4-dataset.uri";
const TOKENIZER: &str =
    "https://training.mlcommons-storage.org/metadata/llama-3-1-8b-tokenizer.uri";

#[rstest]
#[case("v5.0", "llama2-70b-lora", &["MI325X", "MI300X"], "llama2_70b_training_5.0", "_1x8x1.sh", "./run_and_time.sh")]
#[case("v5.1", "llama2-70b-lora", &["MI355X", "MI350X", "MI325X", "MI300X"], "llama2_70b_training_5.1", "_1x8x1.sh", "bash ./run_and_time.sh")]
#[case("v5.1", "llama31-8b", &["MI355X", "MI350X"], "llama31_8b_training_5.1", "_1x8x1_8b.sh", "bash ./run_and_time.sh")]
#[case("v6.0", "llama2-70b-lora", &["MI355X", "MI350X"], "llama2_70b_training_6.0", "_1x8x1.sh", "bash /workspace/code/run_and_time.sh")]
#[case("v6.0", "llama31-8b", &["MI355X", "MI350X"], "llama31_8b_training_6.0", "_1x8x1.sh", "bash /workspace/code/run_and_time.sh")]
fn each_trial_matches_the_host_script(
    #[case] round: &str,
    #[case] benchmark: &str,
    #[case] gpus: &[&str],
    #[case] tag: &str,
    #[case] configuration: &str,
    #[case] command: &str,
) {
    for gpu in gpus {
        let plan = plan(&format!("mlperf-training/{round}/amd/{benchmark}"), gpu, &[]);
        let image = format!("rocm/amd-mlperf:{tag}");
        assert_eq!(
            plan["image"]["pull"].as_str().or(plan["container"]["image"].as_str()),
            Some(&*image)
        );
        for (flag, value) in FLAGS {
            assert_eq!(plan["container"][flag].to_string(), value, "{flag}");
        }
        let variables = plan["container"]["env"].as_array().unwrap();
        assert_eq!(variables[0][0], "IMAGE_NAME");
        assert_eq!(variables[0][1], *image);

        let trials: Vec<String> = commands(&plan, "exec")
            .into_iter()
            .filter(|run| run.contains("run_and_time.sh"))
            .collect();
        assert_eq!(trials.len(), 10);
        let source = format!("source config_{gpu}{configuration}");
        for trial in &trials {
            let steps =
                ["sync", "echo 3 >/host/drop_caches", &source, "export SEED=$RANDOM", command];
            in_order(trial, &steps);
        }
    }
}

#[rstest]
#[case("v5.0", "llama2-70b-lora", "MI325X")]
#[case("v5.1", "llama2-70b-lora", "MI355X")]
#[case("v6.0", "llama2-70b-lora", "MI355X")]
fn data_and_model_are_prepared_by_the_images_own_script(
    #[case] round: &str,
    #[case] benchmark: &str,
    #[case] gpu: &str,
) {
    let plan = plan(&format!("mlperf-training/{round}/amd/{benchmark}"), gpu, &[]);
    let fills = commands(&plan, "populate");
    assert_eq!(fills.len(), 1);
    in_order(&fills[0], PREPARE);
    // In a container of its own, as the guides do: the script changes what it runs in.
    let step = plan["steps"].as_array().unwrap().iter();
    let mut fill = step.filter(|step| step["action"] == "populate");
    let fill = fill.next().unwrap();
    assert_eq!(fill["container"], "fill");
    assert_eq!(fill["command"]["secrets"][0], "HF_TOKEN");
    assert_eq!(fill["directory"]["path"], "/data");
}

#[rstest]
#[case("v5.1", "5.1.0", true)]
#[case("v6.0", "6.0.0", false)]
fn llama31_downloads_and_checks_compliance(
    #[case] round: &str,
    #[case] ruleset: &str,
    #[case] stops: bool,
) {
    let plan =
        plan(&format!("mlperf-training/{round}/amd/llama31-8b"), "MI355X", &["--trials", "2"]);
    let fills = commands(&plan, "populate");
    in_order(&fills[0], &[DOWNLOADER, "/data", C4]);
    in_order(&fills[1], &[DOWNLOADER, "/model", TOKENIZER]);
    let runs = commands(&plan, "exec");
    assert_eq!(runs.len(), 4);
    for (position, trial) in [1, 2].iter().enumerate() {
        in_order(
            &runs[2 * position],
            &[
                r#"| grep --line-buffered -v "connected peer ranks""#,
                &format!("tee /results/result_{trial}.txt"),
            ],
        );
        let check = &runs[2 * position + 1];
        in_order(
            check,
            &[
                "python3 -m mlperf_logging.compliance_checker --usage training",
                ruleset,
                &format!("/results/result_{trial}.txt"),
            ],
        );
        assert_eq!(!check.contains("(non-blocking)"), stops, "{check}");
    }
}

/// Ten runs are judged by the rules of the benchmark; the guide's host tuning is in the notes.
#[test]
fn trial_count_and_host_notes_match_the_guide() {
    let plan = plan("mlperf-training/v5.1/amd/llama2-70b-lora", "MI300X", &[]);
    let measurement = &plan["measurements"][0];
    assert_eq!(measurement["trials"]["min"], 10);
    let (name, score) = (&measurement["figures"][0][0], &measurement["figures"][0][1]);
    assert_eq!((name.as_str(), &score["aggregate"]), (Some("time_to_train"), &"olympic".into()));
    let source = &score["find"]["mllog"];
    assert_eq!(source["target"]["max"], 0.925);
    assert_eq!(source["rcp"]["runs"], 10);
    let notes = plan["notes"].to_string();
    for setting in
        ["cpupower frequency-set -g performance", "numa_balancing", "transparent_hugepage"]
    {
        assert!(notes.contains(setting), "{notes}");
    }
}
