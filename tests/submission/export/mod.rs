//! `retrial export`: runs become a submission in MLCommons' layout; what it lacks is named, and what
//! it has is what the runs have.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod checker;
pub mod logs;
pub mod planted;

use std::fs;

use planted::{Home, Planted};
use rstest::rstest;
use serde_json::Value;

/// The system information by the submitter of the tests.
const INFO: &str = "\
status: available
system_type: datacenter
system_name: ACME Rack
host_processors_per_node: 2
host_processor_core_count: 64
host_memory_configuration: 24 x 128 GB
host_storage_capacity: 3.5 TB
host_storage_type: NVMe SSD
host_networking: Ethernet
host_network_card_count: 4
host_networking_topology: Ethernet on switching network
accelerator_host_interconnect: PCIe Gen 5 x16
accelerator_interconnect: XGMI
accelerator_memory_configuration: HBM3E
cooling: air
framework: vLLM
measurements: { input_data_types: int32, retraining: 'No', starting_weights_filename: llama2, weight_data_types: fp4, weight_transformations: quantization }
calibration: calibration.md
";

fn with_info(home: &Home) {
    fs::write(home.path("info.yaml"), INFO).unwrap();
    fs::write(home.path("calibration.md"), "As the model's card says.\n").unwrap();
}

const COMPLETE: [&str; 4] = ["--submitter", "ACME", "--system-info", "info.yaml"];

fn export<'a>(round: &'a str, runs: &[&'a str], further: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = runs.to_vec();
    arguments.extend(["--layout", round, "--to", "tree"]);
    arguments.extend(further);
    arguments
}

fn files(export: &Value) -> Vec<&str> {
    let files = export["files"].as_array().unwrap();
    files.iter().map(|file| file.as_str().unwrap()).collect()
}

fn field_of(export: &Value, list: &str, field: &str) -> Vec<String> {
    let items = export[list].as_array().unwrap_or_else(|| panic!("{export}"));
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

/// The files of a complete submission.
fn expected_files(round: &str, own: &str, system: &str) -> Vec<String> {
    let results = format!("{own}/results/{system}/llama2-70b-99/Offline");
    let (measurements, described, audit, code) = if round == "v5.1" {
        (
            format!("{own}/measurements/{system}/llama2-70b-99/Offline"),
            format!("{system}.json"),
            format!("{own}/compliance/{system}/llama2-70b-99/Offline/TEST06"),
            "code",
        )
    } else {
        (results.clone(), "measurements.json".to_owned(), format!("{results}/TEST06"), "src")
    };
    let mut expected = vec![
        "README.md".to_owned(),
        format!("{own}/calibration.md"),
        format!("{own}/systems/{system}.json"),
        format!("{own}/{code}/llama2-70b-99/whole/recipe.yaml"),
        format!("{own}/{code}/llama2-70b-99/whole/run.sh"),
    ];
    let offline = [
        format!("{measurements}/README.md"),
        format!("{measurements}/user.conf"),
        format!("{measurements}/{described}"),
        format!("{audit}/verify_accuracy.txt"),
        format!("{audit}/accuracy/mlperf_log_accuracy.json"),
        format!("{results}/performance/run_1/mlperf_log_summary.txt"),
        format!("{results}/performance/run_1/mlperf_log_detail.txt"),
        format!("{results}/accuracy/mlperf_log_summary.txt"),
        format!("{results}/accuracy/mlperf_log_detail.txt"),
        format!("{results}/accuracy/mlperf_log_accuracy.json"),
        format!("{results}/accuracy/accuracy.txt"),
    ];
    expected.extend(offline.iter().map(|path| path.replace("Offline", "Server")));
    expected.extend(offline);
    expected.sort();
    expected
}

#[rstest]
#[case("v5.1")]
#[case("v6.0")]
fn a_complete_run_is_a_complete_submission(#[case] round: &'static str) {
    let home = Home::new(round);
    home.plant(&Planted::WHOLE);
    with_info(&home);
    let (tree, code) = home.export(&export(round, &["whole"], &COMPLETE));
    assert_eq!(code, 0, "{tree:#}");
    assert_eq!(tree["complete"], true);
    assert_eq!(tree["division"], "closed");
    let own = "closed/ACME";
    let system = "8xMI355X_2xEPYC_9575F";
    let results = format!("{own}/results/{system}/llama2-70b-99/Offline");
    let measurements = match round {
        "v5.1" => format!("{own}/measurements/{system}/llama2-70b-99/Offline"),
        _ => results.clone(),
    };
    assert_eq!(files(&tree), expected_files(round, own, system));
    // The system file has the run's facts and the submitter's.
    let read = |path: &str| fs::read_to_string(home.path("tree").join(path)).unwrap();
    let described: Value =
        serde_json::from_str(&read(&format!("{own}/systems/{system}.json"))).unwrap();
    for (field, value) in [
        ("submitter", "ACME"),
        ("division", "closed"),
        ("accelerators_per_node", "8"),
        ("accelerator_model_name", "AMD MI355X"),
        ("host_processor_model_name", "AMD EPYC 9575F 64-Core Processor"),
        ("cooling", "air"),
        ("hw_notes", ""),
    ] {
        assert_eq!(described[field], value, "{field}");
    }
    let software = described["other_software_stack"].as_str().unwrap();
    assert!(software.contains("example.com/llama2@sha256:0f1e"), "{software}");
    assert!(read(&format!("{results}/accuracy/accuracy.txt")).contains("\nhash="));
    assert_eq!(read(&format!("{results}/accuracy/mlperf_log_accuracy.json")).len(), 8199);
    assert!(read("README.md").contains("Results not verified by MLCommons Association."));
    assert!(read(&format!("{measurements}/user.conf")).contains("*.Offline.min_duration = 600000"));
}

/// `judge` gives the same results for the tree as for the run.
#[rstest]
#[case("v5.1")]
#[case("v6.0")]
fn the_exported_tree_is_judged_like_the_run(#[case] round: &'static str) {
    let home = Home::new(round);
    home.plant(&Planted::WHOLE);
    with_info(&home);
    let (tree, _) = home.export(&export(round, &["whole"], &COMPLETE));
    let judged = |target: &str| -> Vec<(String, String, String)> {
        let output = home.retrial(&["judge", target, "--output", "json"]);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut figures: Vec<_> = value["results"]
            .as_array()
            .unwrap_or_else(|| panic!("{value}"))
            .iter()
            .filter(|result| result["mode"] == "performance")
            .map(|result| {
                let word = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
                let rate = |name: &str| result["figures"][name]["value"].to_string();
                let name = if word("scenario") == "Offline" {
                    "tokens_per_second"
                } else {
                    "completed_tokens_per_second"
                };
                (word("scenario"), word("benchmark"), rate(name))
            })
            .collect();
        figures.sort();
        figures
    };
    let of_run = judged("whole");
    assert_eq!(of_run.len(), 2, "{of_run:?}");
    assert_eq!(judged("tree"), of_run, "{tree:#}");
}

/// Plants each scenario as a separate run, and one's accuracy as another.
fn plant_three_runs(home: &Home) {
    let offline = Planted { id: "one", scenarios: "offline", ..Planted::WHOLE };
    let server = Planted {
        id: "two",
        scenarios: "server",
        modes: "performance,compliance",
        ..Planted::WHOLE
    };
    let rest = Planted { id: "three", scenarios: "server", modes: "accuracy", ..Planted::WHOLE };
    for run in [&offline, &server, &rest] {
        home.plant(run);
    }
}

#[test]
fn several_runs_are_exported_into_one_tree() {
    let home = Home::new("v6.0");
    plant_three_runs(&home);
    with_info(&home);
    let (tree, code) = home.export(&export("v6.0", &["one", "two", "three"], &COMPLETE));
    assert_eq!(code, 0, "{tree:#}");
    assert_eq!(field_of(&tree, "results", "run"), ["one", "one", "one", "two", "three", "two"]);
}

#[test]
fn two_runs_of_one_result_are_a_conflict() {
    let home = Home::new("v6.0");
    home.plant(&Planted { id: "one", ..Planted::WHOLE });
    home.plant(&Planted { id: "two", scenarios: "server", ..Planted::WHOLE });
    let (message, code) = home.export(&export("v6.0", &["one", "two"], &[]));
    assert_eq!(code, 2);
    let message = message.as_str().unwrap();
    assert!(message.contains("llama2-70b-99 Server performance is in one and in two"), "{message}");
    assert!(!home.path("tree").exists());
}

#[test]
fn two_systems_are_exported_as_two_trees() {
    let home = Home::new("v6.0");
    home.plant(&Planted { id: "one", scenarios: "offline", ..Planted::WHOLE });
    home.plant(&Planted { id: "two", scenarios: "server", host: "mi300x-8", ..Planted::WHOLE });
    let (message, code) = home.export(&export("v6.0", &["one", "two"], &[]));
    assert_eq!(code, 2);
    assert!(
        message.as_str().unwrap().contains("different systems (processor: AMD EPYC 9575F"),
        "{message}"
    );
}

/// Nobody gets the best of several trials.
#[rstest]
#[case(&[1000.0, 1100.0, 900.0], 1, "the median of 3 trials")]
#[case(&[1000.0, 1100.0, 900.0, 1050.0], 1, "the worse of the middle two of 4 trials")]
fn the_median_trial_is_exported(
    #[case] trials: &[f64],
    #[case] expected: u64,
    #[case] reason: &str,
) {
    let home = Home::new("v6.0");
    home.plant(&Planted { scenarios: "offline", modes: "performance", trials, ..Planted::WHOLE });
    let (tree, code) = home.export(&export("v6.0", &["whole"], &[]));
    assert_eq!(code, 5, "{tree:#}");
    let result = &tree["results"][0];
    assert_eq!(result["trial"], expected, "{result}");
    assert_eq!(result["reason"], reason);
    let readme = "tree/closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99/Offline/README.md";
    let readme = fs::read_to_string(home.path(readme)).unwrap();
    assert_eq!(readme.matches(" tokens/s, valid").count(), trials.len(), "{readme}");
}

#[rstest]
#[case("v5.1", ("calibration.md", "--system-info"))]
#[case("v6.0", ("Server or Interactive", "measure it by a recipe that has it"))]
fn missing_items_are_reported_with_a_fix(
    #[case] round: &'static str,
    #[case] of_round: (&str, &str),
) {
    let home = Home::new(round);
    home.plant(&Planted { scenarios: "offline", modes: "performance", ..Planted::WHOLE });
    fs::write(home.path("info.yaml"), "system_type: datacenter\n").unwrap();
    let (tree, code) = home.export(&export(round, &["whole"], &["--system-info", "info.yaml"]));
    assert_eq!(code, 5, "{tree:#}");
    assert_eq!(tree["complete"], false);
    let named: Vec<String> = field_of(&tree, "missing", "item")
        .into_iter()
        .zip(field_of(&tree, "missing", "fix"))
        .map(|(item, advice)| format!("{item}: {advice}"))
        .collect();
    for (part, advice) in [
        of_round,
        ("the accuracy run", "--scenario offline --mode accuracy"),
        ("compliance test TEST06", "compliance"),
        ("cooling", "--system-info"),
        ("weight_data_types", "--system-info"),
        ("the submitter", "--submitter NAME (AMD published"),
    ] {
        let hits = named.iter().filter(|line| line.contains(part) && line.contains(advice));
        assert!(hits.count() >= 1, "{part}: {named:#?}");
    }
    assert!(!named.iter().any(|line| line.contains("system_type:")), "{named:#?}");
}

/// A result that violates a rule is never in closed: not by default, and not on request.
#[test]
fn closed_refuses_rule_violations() {
    let home = Home::new("v6.0");
    home.plant(&Planted { valid: false, ..Planted::WHOLE });
    let (message, code) = home.export(&export("v6.0", &["whole"], &["--division", "closed"]));
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("INVALID"), "{message}");
    let (tree, code) = home.export(&export("v6.0", &["whole"], &[]));
    assert_eq!(code, 1, "{tree:#}");
    assert_eq!(tree["division"], "open");
    assert!(tree["notes"].to_string().contains("open, not closed"), "{tree:#}");
    assert!(field_of(&tree, "violations", "rule").iter().any(|rule| rule.contains("INVALID")));
}

/// The layout's round rules, whatever the run's own was: another round's seeds are not its.
#[test]
fn runs_are_judged_by_the_round_of_the_layout() {
    let home = Home::new("v5.1");
    home.plant(&Planted::WHOLE);
    let (tree, code) = home.export(&export("v6.0", &["whole"], &[]));
    assert_eq!(code, 1, "{tree:#}");
    let broken = field_of(&tree, "violations", "rule");
    let seed = "1780908523862526354; required 2465351861681999779";
    assert!(broken.iter().any(|rule| rule.contains(seed)), "{broken:#?}");
    let (tree, code) = home.export(&export("v5.1", &["whole"], &["--replace"]));
    assert_eq!(code, 5, "{tree:#}");
}

#[test]
fn files_are_not_overwritten_without_replace() {
    let home = Home::new("v6.0");
    home.plant(&Planted::WHOLE);
    fs::create_dir(home.path("tree")).unwrap();
    fs::write(home.path("tree/README.md"), "mine").unwrap();
    let (message, code) = home.export(&export("v6.0", &["whole"], &[]));
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("it has README.md"), "{message}");
    assert_eq!(fs::read_to_string(home.path("tree/README.md")).unwrap(), "mine");
    let (_, code) = home.export(&export("v6.0", &["whole"], &["--replace"]));
    assert_eq!(code, 5);
    assert_ne!(fs::read_to_string(home.path("tree/README.md")).unwrap(), "mine");
}

/// Another name of the benchmark: an official one, and one that is none.
#[test]
fn a_benchmark_can_be_exported_under_another_name() {
    let home = Home::new("v6.0");
    home.plant(&Planted::WHOLE);
    let (tree, _) = home.export(&export("v6.0", &["whole"], &["--benchmark", "llama2-70b-99.9"]));
    assert!(files(&tree).iter().any(|file| file.contains("/llama2-70b-99.9/Offline/")));
    let (message, code) =
        home.export(&export("v6.0", &["whole"], &["--benchmark", "llama2-70b-98", "--replace"]));
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("did you mean `llama2-70b-99"), "{message}");
    let (message, code) = home.export(&["whole", "--layout", "v3.0"]);
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("available: v4.1, v5.0, v5.1, v6.0"), "{message}");
}
