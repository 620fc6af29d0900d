//! The example of Radeon cards with planted runs: every card in a host of its own, next to an RTX 4090. Stand-ins: nothing
//! here was measured.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use retrial_plan::Plan;
use retrial_recipe::model::Mode;
use serde_json::Value;

use crate::many_runs::{Went, events};
use crate::{CommandOutput, Scene};

const RECIPES: &str = "mlperf-inference-reference/onnxruntime";
const TRIALS: u32 = 3;
/// Samples per second in Offline with ROCm 6.4.1 on an RX 7900 XTX; what the accuracy script prints.
const WORKLOADS: [(&str, f64, &str); 4] = [
    ("resnet50", 1040.0, "accuracy=76.456%, good=38228, total=50000\n"),
    ("retinanet", 21.4, "mAP=37.552%\n"),
    ("bert-large", 38.2, "{\"exact_match\": 83.67, \"f1\": 90.874}\n"),
    ("3d-unet", 0.41, "Accuracy: mean = 0.86170, kidney = 0.9347, tumor = 0.7887\n"),
];
/// How many times as fast a card is; BERT gains nothing on the highest tier.
const CARDS: [(&str, f64, f64); 3] =
    [("rx9070xt", 0.82, 0.88), ("rx7900xtx", 1.0, 1.0), ("w7900", 0.94, 0.98)];
const STACKS: [(&str, &str, f64); 3] =
    [("6.4.1", "rocm", 1.0), ("6.4.1", "migraphx", 1.42), ("7.1.1", "migraphx", 1.78)];
const RTX4090: f64 = 2.9;

/// What a planted run measured.
struct Measured<'a> {
    speed: f64,
    accuracy: &'a str,
    trial: u32,
}

fn planned(scene: &Scene, recipe: &str) -> Plan {
    let recipe = format!("{RECIPES}/{recipe}");
    let mut words = vec!["plan", "--quiet", &recipe, "--trials", "1", "--output", "json"];
    if recipe.contains("resnet50") {
        words.extend(["--set", "imagenet=/data/imagenet"]);
    }
    if recipe.contains("3d-unet") {
        words.extend(["--set", "kits19=/data/kits19"]);
    }
    let output = scene.retrial(&words);
    assert_eq!(output.code, 0, "{}", output.err);
    let mut plan: Plan = serde_json::from_str(&output.out).unwrap();
    // The host that measured it has the card.
    plan.unmet.clear();
    plan
}

/// A run directory with `LoadGen`'s logs of each scenario.
fn plant(directory: &Path, plan: &Plan, measured: &Measured<'_>) {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let id = directory.file_name().unwrap().to_str().unwrap();
    let started: Timestamp = "2026-05-01T06:00:00Z".parse().unwrap();
    // No two runs of a cell are one measurement.
    let started = started + jiff::SignedDuration::from_hours(i64::from(measured.trial));
    let journal = events::journal(plan, id, started, Went::Well);
    write("plan.json", &serde_json::to_string(plan).unwrap());
    write("lock", "1");
    write("journal.jsonl", &journal.text);
    let all_steps = plan.steps.iter();
    for check in all_steps.filter(|step| step.name.ends_with("-check")) {
        let log = format!("steps/{}/output.log", check.directory_name());
        write(&log, measured.accuracy);
    }
    for (one, began) in plan.measurements.iter().zip(&journal.measured) {
        let folder = one.results_directory(1);
        let is_accuracy = one.mode == Mode::Accuracy;
        let began = began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let scenario = scenario_of(&one.scenario);
        let log = |name: &str| format!("{folder}/mlperf_log_{name}.txt");
        write(&log("summary"), &summary(scenario, is_accuracy, measured));
        write(&log("detail"), &detail(scenario, is_accuracy, measured, &began));
    }
}

/// `LoadGen`'s name of a scenario.
fn scenario_of(key: &str) -> &'static str {
    match key.to_lowercase().replace('-', "").as_str() {
        "singlestream" => "SingleStream",
        "multistream" => "MultiStream",
        "server" => "Server",
        _ => "Offline",
    }
}

/// The figure by which a scenario is published: its line in the summary, its key in the detail log, its value.
fn figure(scenario: &str, measured: &Measured<'_>) -> (&'static str, &'static str, f64) {
    // Trials of a percent apart, as of a quiet machine.
    let noise = [1.0, 1.006, 0.995, 1.002, 0.998][measured.trial as usize % 5];
    let speed = measured.speed * noise;
    let latency = |samples: f64| (samples * 1.35e9 / speed).round();
    match scenario {
        "SingleStream" => {
            ("90.0th percentile latency (ns)", "early_stopping_latency_ss", latency(1.0))
        }
        "MultiStream" => {
            ("99.0th percentile latency (ns)", "early_stopping_latency_ms", latency(8.0))
        }
        "Server" => {
            ("Completed samples per second   ", "result_completed_samples_per_sec", speed * 0.8)
        }
        _ => ("Samples per second", "result_samples_per_second", speed),
    }
}

/// The latencies of a detail log, ns: of a stream around its figure, of Offline up to the duration of the run.
fn latencies(scenario: &str, measured: &Measured<'_>) -> Vec<(String, f64)> {
    const PERCENTILES: [&str; 6] = ["50.00", "90.00", "95.00", "97.00", "99.00", "99.90"];
    let (_, _, figure) = figure(scenario, measured);
    let (published, typical, most) = match scenario {
        "SingleStream" => (1, figure, figure * 1.2),
        "MultiStream" => (4, figure, figure * 1.2),
        _ => (5, 6.05e11, 6.1e11),
    };
    let of = if scenario == "MultiStream" { "per_query_latency" } else { "latency" };
    let percentiles = (0..).zip(PERCENTILES).map(|(at, percentile)| {
        let value = typical * (1.0 + 0.01 * f64::from(at - published));
        (format!("result_{percentile}_percentile_{of}_ns"), value.round())
    });
    let ends = [("result_min_latency_ns", typical * 0.8), ("result_max_latency_ns", most)];
    let ends = ends.map(|(key, value)| (key.to_owned(), value.round()));
    percentiles.chain(ends).collect()
}

fn summary(scenario: &str, is_accuracy: bool, measured: &Measured<'_>) -> String {
    let end = "\nNo warnings encountered during test.\n\nNo errors encountered during test.\n";
    if is_accuracy {
        return end.to_owned();
    }
    let line = "=".repeat(48);
    let (name, _, value) = figure(scenario, measured);
    format!(
        "{line}\nMLPerf Results Summary\n{line}\nSUT name : PySUT\nScenario : {scenario}\nMode     : PerformanceOnly\n\
         {name}: {value}\nResult is : VALID\n  Min duration satisfied : Yes\n  Min queries satisfied : Yes\n  \
         Early stopping satisfied: Yes\n{end}"
    )
}

fn detail(scenario: &str, is_accuracy: bool, measured: &Measured<'_>, began: &str) -> String {
    let mode = ["PerformanceOnly", "AccuracyOnly"][usize::from(is_accuracy)];
    let quoted = |text: &str| format!("\"{text}\"");
    let mut pairs = vec![
        ("loadgen_version", quoted("5.1.0 @ d6147c7eb7")),
        ("test_datetime", quoted(began)),
        ("sut_name", quoted("PySUT")),
        ("effective_scenario", quoted(scenario)),
        ("effective_test_mode", quoted(mode)),
        ("effective_min_duration_ms", "600000".to_owned()),
        ("power_begin", quoted("05-01-2026 06:00:10.000")),
        ("power_end", quoted("05-01-2026 06:10:20.000")),
    ];
    if !is_accuracy {
        let (_, key, value) = figure(scenario, measured);
        pairs.push(("result_validity", quoted("VALID")));
        pairs.push((key, value.to_string()));
    }
    let mut pairs: Vec<(String, String)> =
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if !is_accuracy {
        let all = latencies(scenario, measured).into_iter();
        pairs.extend(all.map(|(key, value)| (key, value.to_string())));
        pairs.push(("num_errors".to_owned(), "0".to_owned()));
    }
    let lines = pairs.into_iter().map(|(key, value)| {
        format!(
            ":::MLLOG {{\"key\": \"{key}\", \"value\": {value}, \"time_ms\": 1.0, \"namespace\": \"mlperf::logging\", \
             \"event_type\": \"POINT_IN_TIME\", \"metadata\": {{\"is_error\": false, \"is_warning\": false, \
             \"file\": \"loadgen.cc\", \"line_no\": 1, \"pid\": 1, \"tid\": 1}}}}\n"
        )
    });
    lines.collect()
}

/// Plants the runs of all cards in folders below a directory, and those of the RTX 4090 in the home.
fn plant_all(scene: &Scene, folder: &Path) {
    for (workload, base, accuracy) in WORKLOADS {
        let mut plan = planned(scene, &format!("{workload}-radeon"));
        for (card, speed, of_bert) in CARDS {
            let card_speed = if workload == "bert-large" { of_bert } else { speed };
            for (rocm, backend, gain) in STACKS {
                for (axis, value) in [("gpu", card), ("rocm", rocm), ("backend", backend)] {
                    plan.variant.insert(axis.to_owned(), value.to_owned());
                }
                let is_wrong = workload == "resnet50" && (rocm, backend) == ("6.4.1", "rocm");
                for trial in 1..=TRIALS {
                    let measured = Measured {
                        speed: base * card_speed * gain,
                        accuracy: if is_wrong {
                            "accuracy=58.102%, good=29051, total=50000\n"
                        } else {
                            accuracy
                        },
                        trial,
                    };
                    let id = format!("20260501-0600{trial:02}-{workload}-{rocm}-{backend}");
                    plant(&folder.join(card).join("runs").join(id), &plan, &measured);
                }
            }
        }
        let name = format!("{workload}-rtx4090");
        let plan = planned(scene, &name);
        let measured = Measured { speed: base * RTX4090, accuracy, trial: 1 };
        plant(&scene.home().join("runs").join(&name), &plan, &measured);
    }
}

/// The example, its own card in another host, too; its verdict, and the batch's name.
fn judged(scene: &Scene, folder: &Path) -> (Value, String) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/radeon-rocm-releases.yaml");
    let text = fs::read_to_string(example).unwrap();
    let own = "\n  rx7900xtx-host: { runs: [./rx7900xtx/runs], cells: { gpu: rx7900xtx } }";
    let text = text.replacen("\nothers:", &format!("\nothers:{own}"), 1);
    let file = folder.join("radeon.yaml");
    fs::write(&file, text).unwrap();
    let output = scene.retrial(&["batch", file.to_str().unwrap(), "--output", "json"]);
    assert!(matches!(output.code, 0 | 1 | 5), "{}", output.err);
    let batches = fs::read_dir(scene.home().join("batches")).unwrap();
    let name = batches.last().unwrap().unwrap().file_name();
    let verdict = serde_json::from_str(&output.out).unwrap();
    (verdict, name.into_string().unwrap())
}

fn report(scene: &Scene, words: &[&str]) -> CommandOutput {
    let output = scene.retrial(&[&["report"], words].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    output
}

/// The page of its report, for the browser.
pub fn page() -> String {
    let scene = Scene::new(0..0);
    let folder = tempfile::tempdir().unwrap();
    plant_all(&scene, folder.path());
    let (_, batch) = judged(&scene, folder.path());
    let page = folder.path().join("report.html");
    report(&scene, &[&batch, "--to", page.to_str().unwrap()]);
    fs::read_to_string(page).unwrap()
}

/// With `RETRIAL_KEEP_CHARTS=1` the page and the charts stay in directories whose names are printed.
#[test]
fn cards_of_other_hosts_and_the_reference_are_in_every_part_of_the_report() {
    let mut scene = Scene::new(0..0);
    let mut folder = tempfile::tempdir().unwrap();
    if std::env::var_os("RETRIAL_KEEP_CHARTS").is_some() {
        scene.directory.disable_cleanup(true);
        folder.disable_cleanup(true);
        eprintln!("home {}, report {}", scene.home().display(), folder.path().display());
    }
    plant_all(&scene, folder.path());
    let (verdict, batch) = judged(&scene, folder.path());

    let cells = verdict["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 36);
    assert!(cells.iter().all(|cell| cell["external"].is_string()));
    assert!(cells.iter().all(|cell| cell["runs"].as_array().unwrap().len() == 3));
    let names: Vec<&str> = verdict["external_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["name"].as_str().unwrap())
        .collect();
    let expected = ["resnet50", "retinanet", "bert", "3d-unet"];
    assert_eq!(names, expected.map(|recipe| format!("{recipe},rtx4090")));
    let together = "ROCm 6.4.1 → 7.1.1 and ONNX Runtime 1.21.0 → 1.23.1 changed together";
    assert_eq!(verdict["notes"], serde_json::json!([together]));

    let outcomes: Vec<String> = verdict["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| {
            let text = |key: &str| claim[key].as_str().unwrap();
            let parts = claim["parts"].as_array().unwrap().len();
            format!("{} ({parts} parts): {}", text("outcome"), text("claim"))
        })
        .collect();
    insta::assert_snapshot!(outcomes.join("\n"));

    let charts = folder.path().join("charts");
    let page = folder.path().join("report.html");
    let (charts_text, page_text) = (charts.to_str().unwrap(), page.to_str().unwrap());
    report(&scene, &[&batch, "--to", page_text, "--charts", charts_text]);
    let mut columns: Vec<String> = fs::read_dir(&charts)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read_to_string(path).unwrap().contains("rtx4090: "))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !name.contains("claim"))
        .collect();
    columns.sort();
    insta::assert_snapshot!(columns.join("\n"));
    let csv = report(&scene, &[&batch, "--output", "csv"]).out;
    assert!(csv.contains("bert-large-rtx4090,mlperf-inference"), "{csv}");
    let table = report(&scene, &[&batch, "--output", "markdown"]).out;
    assert!(table.contains("bert,rtx4090"), "{table}");
}
