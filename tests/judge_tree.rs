//! `retrial judge` on a submission tree: the small one of `examples/submission`, and what is wrong
//! with copies of it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "support/copy.rs"]
mod copy;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use copy::copy;
use serde_json::Value;
use tempfile::TempDir;

const BENCHMARK: &str = "closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99";
const SYSTEM: &str = "closed/Example/systems/8xEXAMPLE_2xCPU.json";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission")
}

/// A copy of the example that may be broken.
fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    copy(&example(), tree.path());
    tree
}

struct Said {
    code: i32,
    json: Value,
}

fn judge(directory: &Path, arguments: &[&str]) -> Said {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(directory)
        .args(["--output", "json"])
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_str(&text);
    Said {
        code: output.status.code().unwrap(),
        json: json.unwrap_or_else(|error| panic!("{error}: {text} {errors}")),
    }
}

impl Said {
    fn results(&self) -> &Vec<Value> {
        self.json["results"].as_array().expect("results")
    }

    fn result(&self, end: &str) -> &Value {
        let mut results = self.results().iter();
        let found = results.find(|one| one["path"].as_str().unwrap().ends_with(end));
        found.unwrap_or_else(|| panic!("no result of {end}"))
    }

    /// The rules of a result that were not kept.
    fn broken(&self, end: &str) -> Vec<String> {
        broken(&self.result(end)["rules"])
    }

    /// Those of the benchmark as a whole.
    fn broken_benchmark(&self) -> Vec<String> {
        broken(&self.json["benchmarks"][0]["rules"])
    }
}

fn broken(rules: &Value) -> Vec<String> {
    let rules = rules.as_array().unwrap().iter();
    rules
        .filter(|rule| rule["passed"] == false)
        .map(|rule| {
            let word = |name: &str| rule[name].as_str().unwrap().to_owned();
            format!("{}: {}", word("rule"), word("measured"))
        })
        .collect()
}

const OFFLINE: &str = "Offline/performance/run_1";
const SERVER: &str = "Server/performance/run_1";
const INTERACTIVE: &str = "Interactive/performance/run_1";

#[test]
fn a_tree_is_judged_by_its_round() {
    let said = judge(&example(), &[]);
    assert_eq!(said.code, 1, "Interactive lacks TEST06 and is too slow");
    assert_eq!(
        said.results().len(),
        8,
        "three performance, three accuracy, two tests"
    );
    let offline = said.result(OFFLINE);
    assert_eq!(offline["valid"], true, "{}", offline["sentence"]);
    assert_eq!(offline["round"], "v6.0");
    assert_eq!(offline["division"], "closed");
    assert_eq!(offline["submitter"], "Example");
    assert_eq!(offline["system"], "8xEXAMPLE_2xCPU");
    assert_eq!(offline["deciding"], "tokens_per_second");
    assert_eq!(offline["figures"]["tokens_per_second"]["value"], 11_800.5);
    assert_eq!(offline["figures"]["tokens_per_second"]["unit"], "tokens/s");
    let accuracy = said.result("Offline/accuracy");
    assert_eq!(accuracy["deciding"], "ROUGE1");
    assert_eq!(accuracy["valid"], true);
    assert_eq!(said.result(SERVER)["valid"], true);
    let interactive = said.result(INTERACTIVE);
    assert_eq!(
        (&interactive["scenario"], &interactive["valid"]),
        (&"Interactive".into(), &false.into())
    );
    let rules = said.broken(INTERACTIVE);
    assert!(rules.contains(&"TEST06: missing".to_owned()), "{rules:?}");
    let late = rules
        .iter()
        .any(|rule| rule.contains("first token") && rule.contains("612 ms"));
    assert!(late, "{rules:?}");
    assert_eq!(said.json["benchmarks"][0]["system_type"], "datacenter");
    assert_eq!(said.broken_benchmark(), [""; 0]);
    assert_eq!(said.json["counts"]["performance"], 3);
    assert!(
        said.json["notice"]
            .as_str()
            .unwrap()
            .contains("Unverified MLPerf v6.0")
    );
}

#[test]
fn any_folder_of_a_tree_is_judged() {
    for (folder, results) in [
        ("closed", 8),
        ("closed/Example", 8),
        ("closed/Example/results", 8),
        ("closed/Example/results/8xEXAMPLE_2xCPU", 8),
        (BENCHMARK, 8),
        (&format!("{BENCHMARK}/Offline"), 3),
        (&format!("{BENCHMARK}/Offline/performance"), 1),
        (&format!("{BENCHMARK}/Offline/performance/run_1"), 1),
        (&format!("{BENCHMARK}/Offline/accuracy"), 1),
        (&format!("{BENCHMARK}/Offline/TEST06"), 1),
    ] {
        let said = judge(&example().join(folder), &[]);
        assert_eq!(said.results().len(), results, "{folder}");
        let paths = said
            .results()
            .iter()
            .map(|one| one["path"].as_str().unwrap());
        assert!(
            paths.clone().all(|path| path.starts_with(BENCHMARK)),
            "{folder}"
        );
        let one = &said.results()[0];
        assert_eq!(
            (&one["round"], &one["system"]),
            (
                &if folder.ends_with("TEST06") || folder.ends_with("accuracy") {
                    one["round"].clone()
                } else {
                    "v6.0".into()
                },
                &"8xEXAMPLE_2xCPU".into()
            ),
            "{folder}"
        );
    }
}

#[test]
fn a_parent_of_trees_is_judged() {
    let tree = tempfile::tempdir().unwrap();
    copy(&example(), &tree.path().join("rounds/v6.0"));
    assert_eq!(judge(tree.path(), &[]).results().len(), 8);
}

#[test]
fn what_a_benchmark_lacks_is_told() {
    let tree = tree();
    let at = |path: &str| tree.path().join(path);
    fs::remove_dir_all(at(BENCHMARK).join("Offline")).unwrap();
    let said = judge(tree.path(), &[]);
    assert_eq!(
        said.broken_benchmark(),
        ["required scenario: Offline is missing"]
    );
    fs::write(
        at(SYSTEM),
        r#"{"system_type": "laptop", "division": "open", "submitter": "Somebody"}"#,
    )
    .unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark().join("\n");
    for part in ["laptop", "division: \"open\"", "Somebody"] {
        assert!(rules.contains(part), "{rules}");
    }
    fs::remove_file(at(SYSTEM)).unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark();
    assert_eq!(rules, [format!("{SYSTEM}: missing")]);
    fs::rename(at(BENCHMARK), at(BENCHMARK).with_file_name("llama2-71b")).unwrap();
    let rules = judge(tree.path(), &[]).broken_benchmark().join("\n");
    assert!(rules.contains("benchmark: llama2-71b"), "{rules}");
}

#[test]
fn files_that_are_missing_or_no_files_are_told() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join("Offline");
    let run = offline.join("performance/run_1");
    fs::remove_file(run.join("mlperf_log_detail.txt")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", run.join("mlperf_log_detail.txt")).unwrap();
    fs::remove_file(offline.join("accuracy/accuracy.txt")).unwrap();
    fs::create_dir(offline.join("accuracy/accuracy.txt")).unwrap();
    fs::write(
        offline.join("accuracy/mlperf_log_summary.txt"),
        b"\0\x01\x02",
    )
    .unwrap();
    let server = tree.path().join(BENCHMARK).join("Server/performance");
    fs::remove_dir_all(&server).unwrap();
    let said = judge(tree.path(), &[]);
    assert_eq!(said.code, 1);
    let rules = said.broken(OFFLINE).join("\n");
    assert!(
        rules.contains("mlperf_log_detail.txt") && rules.contains("it is a link"),
        "{rules}"
    );
    let rules = said.broken("Offline/accuracy").join("\n");
    assert!(
        rules.contains("accuracy.txt") && rules.contains("not a regular file"),
        "{rules}"
    );
    assert!(rules.contains("mlperf_log_summary.txt"), "{rules}");
    let rules = said.broken(SERVER);
    assert!(
        rules.contains(&"mlperf_log_summary.txt: missing".to_owned()),
        "{rules:?}"
    );
    assert_eq!(said.result(SERVER)["outcome"], "invalid");
}

#[test]
fn what_is_wrong_with_the_tree_itself_is_in_every_form() {
    let tree = tree();
    let mapping = tree.path().join("closed/Example/model_mapping.json");
    fs::write(mapping, "no JSON").unwrap();
    let said = judge(tree.path(), &[]);
    let faults = said.json["faults"].as_array().unwrap();
    assert_eq!(faults[0]["path"], "closed/Example/model_mapping.json");
    for (form, expected) in [
        ("junit", "closed/Example/model_mapping.json"),
        ("markdown", "## Submission tree"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["judge", "--output", form])
            .arg(tree.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{text}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn power_is_the_meters_mean_while_the_run_was_measured() {
    let tree = tree();
    let run = tree.path().join(BENCHMARK).join(OFFLINE);
    let detail = fs::read_to_string(run.join("mlperf_log_detail.txt")).unwrap();
    let moment = |key: &str| {
        let (_, rest) = detail
            .split_once(&format!(r#""{key}", "value": ""#))
            .unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let meter = |begin: &str, watts: &str| format!("Time,{begin},Watts,{watts},Volts,230.0\n");
    let (day, end) = (moment("power_begin"), moment("power_end"));
    let (hour, _) = end.rsplit_once(':').unwrap();
    let log = [
        meter(&day, "9000.0"),
        meter(&format!("{hour}:00.000"), "8000.0"),
        meter(&format!("{hour}:00.001"), "8100.0"),
        meter(&end, "9000.0"),
    ];
    fs::write(run.join("spl.txt"), log.concat()).unwrap();
    let said = judge(tree.path(), &[]);
    let power = &said.result(OFFLINE)["figures"]["average_power_w"];
    assert_eq!(power["unit"], "W");
    assert_eq!(power["value"], 8050.0);
    let lacks = said.broken_benchmark().join("\n");
    assert!(lacks.contains("ranging"), "{lacks}");

    fs::write(run.join("spl.txt"), meter(&day, "9000.0")).unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("1 samples, and none between"), "{broken}");
}

#[test]
fn the_log_of_a_performance_run_is_no_second_result() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join("Offline");
    for log in ["mlperf_log_summary.txt", "mlperf_log_detail.txt"] {
        fs::copy(
            offline.join("performance/run_1").join(log),
            offline.join("accuracy").join(log),
        )
        .unwrap();
    }
    let said = judge(tree.path(), &[]);
    assert_eq!(said.results().len(), 8);
    let accuracy = said.result("Offline/accuracy");
    assert_eq!(
        (&accuracy["mode"], &accuracy["deciding"]),
        (&"accuracy".into(), &"ROUGE1".into())
    );
    assert!(accuracy["figures"].get("tokens_per_second").is_none());
    let told = accuracy["rules"].as_array().unwrap().iter();
    assert!(
        told.into_iter()
            .any(|rule| rule["measured"] == "PerformanceOnly")
    );
}

#[test]
fn the_open_division_may_have_any_accuracy_and_names() {
    let tree = tree();
    let open = tree.path().join("open/Example");
    fs::create_dir(tree.path().join("open")).unwrap();
    fs::rename(tree.path().join("closed/Example"), &open).unwrap();
    let system = open.join("systems/8xEXAMPLE_2xCPU.json");
    let text = fs::read_to_string(&system)
        .unwrap()
        .replace("\"closed\"", "\"open\"");
    fs::write(&system, text).unwrap();
    let results = open.join("results/8xEXAMPLE_2xCPU");
    fs::rename(results.join("llama2-70b-99"), results.join("llama-pruned")).unwrap();
    fs::write(
        open.join("model_mapping.json"),
        r#"{"llama-pruned": "llama2-70b-99"}"#,
    )
    .unwrap();
    let accuracy = results.join("llama-pruned/Offline/accuracy/accuracy.txt");
    let text = fs::read_to_string(&accuracy)
        .unwrap()
        .replace("44.5371", "33.3");
    fs::write(&accuracy, text).unwrap();
    fs::remove_dir_all(results.join("llama-pruned/Offline/TEST06")).unwrap();
    let said = judge(tree.path(), &[]);
    assert_eq!(said.broken_benchmark(), [""; 0]);
    let offline = said.result(OFFLINE);
    assert_eq!(
        (&offline["valid"], &offline["benchmark"]),
        (&true.into(), &"llama-pruned".into()),
        "{offline}"
    );
    assert_eq!(offline["figures"]["tokens_per_second"]["value"], 11_800.5);
    assert_eq!(said.json["benchmarks"][0]["official"], "llama2-70b-99");
}

/// What an endpoint leaves in place of LoadGen's logs (v6.1), with figures that nobody measured.
#[test]
fn results_of_an_endpoint_are_judged() {
    let tree = tree();
    let results = tree.path().join("closed/Example/results/8xEXAMPLE_2xCPU");
    fs::remove_dir_all(results.join("llama2-70b-99")).unwrap();
    let scenario = results.join("deepseek-r1/Interactive");
    for folder in ["performance", "accuracy"] {
        fs::create_dir_all(scenario.join(folder)).unwrap();
    }
    let config = "type: online\nmodel_params:\n  streaming: 'on'\nsettings:\n  runtime:\n    min_duration_ms: 1500000\n    \
        n_samples_to_issue: 330000\n    scheduler_random_seed: 16159082839903944936\n    \
        dataloader_random_seed: 2747215439041700203\n  load_pattern:\n    type: poisson\n    target_qps: 170.0\n";
    fs::write(scenario.join("config.yaml"), config).unwrap();
    let summary = r#"{"n_samples_issued": 330000, "n_samples_completed": 330000, "n_samples_failed": 0,
        "duration_ns": 2077965287526, "complete": true,
        "ttft": {"early_stopping_percentiles": {"99.0": 484730193.0}},
        "tpot": {"early_stopping_percentiles": {"99.0": 12560416.4}},
        "latency": {"avg": 39897557014.6, "early_stopping_percentiles": {"99": 196907292356.0}},
        "output_sequence_lengths": {"avg": 3875.0}, "qps": 158.8, "tps": 615400.5}"#;
    fs::write(scenario.join("performance/result_summary.json"), summary).unwrap();
    let scores = r#"{"accuracy_scores": [{"dataset_name": "deepseek-r1", "score": 81.2, "unit_samples": 4388,
        "total_samples": 4388, "complete": true, "dataset_type": "accuracy", "output_sequence_lengths": {"avg": 3886.2}}]}"#;
    fs::write(scenario.join("accuracy/accuracy_results.json"), scores).unwrap();
    let said = judge(tree.path(), &[]);
    assert_eq!(said.results().len(), 2);
    let performance = said.result("Interactive/performance");
    assert_eq!(performance["round"], "v6.1");
    assert_eq!(performance["valid"], true, "{:#}", performance["rules"]);
    assert_eq!(performance["deciding"], "completed_tokens_per_second");
    assert_eq!(
        performance["figures"]["completed_tokens_per_second"]["value"],
        615_400.5
    );
    let accuracy = said.result("Interactive/accuracy");
    assert_eq!(
        (&accuracy["deciding"], &accuracy["valid"]),
        (&"exact_match".into(), &true.into()),
        "{accuracy:#}"
    );
    // Too late a first token, and a run that did not come to its end.
    let late = summary
        .replace("484730193.0", "1600000000.0")
        .replace("\"complete\": true", "\"complete\": false");
    fs::write(scenario.join("performance/result_summary.json"), late).unwrap();
    let rules = judge(tree.path(), &[]).broken("Interactive/performance");
    assert!(
        rules.iter().any(|rule| rule.contains("first token")),
        "{rules:?}"
    );
    assert!(rules.len() >= 2, "{rules:?}");
}

#[test]
fn results_are_compared_with_published_ones() {
    let table = example().join("summary_results.json");
    let table = table.to_str().unwrap();
    let said = judge(&example(), &["--reference", table]);
    let offline = said.result(OFFLINE);
    assert_eq!(offline["outcome"], "reproduced");
    assert_eq!(offline["references"][0]["value"], 11_812.3);
    assert_eq!(offline["references"][0]["source"], "6.0-9001");
    let ratio = offline["ratio"].as_f64().unwrap();
    assert!((ratio - 11_800.5 / 11_812.3).abs() < 1e-9);
    assert!(offline["bounds"]["lower"].as_f64().unwrap() < ratio);
    assert_eq!(said.result(SERVER)["outcome"], "not reproduced");
    // One of mine next to a vendor's row.
    let mine = example().join(BENCHMARK).join("Server");
    let said = judge(&mine, &["--reference", table, "--reference-id", "6.0-9002"]);
    assert_eq!(said.result(SERVER)["references"][0]["value"], 12_400.0);
    let said = judge(
        &mine,
        &["--reference", table, "--reference-system", "Example server"],
    );
    assert_eq!(said.result(SERVER)["references"][0]["value"], 12_400.0);
    // Another tree.
    let other = tree();
    let said = judge(&example(), &["--reference", other.path().to_str().unwrap()]);
    assert_eq!(said.result(OFFLINE)["ratio"], 1.0);
    // The same folder outside of any tree: nothing but the flags and the seeds tell what it is.
    let loose = tempfile::tempdir().unwrap();
    copy(
        &mine.join("performance/run_1"),
        &loose.path().join("Server"),
    );
    let flags = [
        "--benchmark",
        "llama2-70b-99",
        "--reference",
        table,
        "--reference-id",
        "6.0-9002",
    ];
    let home = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(loose.path())
        .args(["--output", "json"])
        .args(flags)
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&home.stdout).unwrap();
    let result = &said["results"][0];
    assert_eq!(result["round"], "v6.0", "{result}");
    assert_eq!(result["references"][0]["value"], 12_400.0, "{result}");
}

#[test]
fn what_cannot_be_used_says_so() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .arg("judge")
            .arg(example())
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    };
    let (code, said) = run(&["--round", "v9.9"]);
    assert_eq!(code, 2);
    assert!(said.contains("v9.9") && said.contains("v6.0"), "{said}");
    let (code, said) = run(&["--reference", "/dev/null"]);
    assert_eq!(code, 2, "{said}");
    let table = example().join("summary_results.json");
    let (code, said) = run(&[
        "--reference",
        table.to_str().unwrap(),
        "--reference-id",
        "1.0-0001",
    ]);
    assert_eq!(code, 2);
    assert!(said.contains("1.0-0001"), "{said}");
}

fn failed(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(directory)
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), errors)
}

#[test]
fn a_row_that_nothing_is_compared_with_is_an_error() {
    let published = example().join("summary_results.json");
    let published = published.to_str().unwrap();
    let server = example().join(BENCHMARK).join("Server");
    let of_offline = ["--reference", published, "--reference-id", "6.0-9001"];
    let (code, errors) = failed(&server, &of_offline);
    assert_eq!(code, 2, "{errors}");
    assert!(
        errors.contains("its row 6.0-9001 is of other benchmarks or scenarios"),
        "{errors}"
    );
    let of_server = ["--reference", published, "--reference-id", "6.0-9002"];
    assert_eq!(failed(&server, &of_server).0, 1, "not reproduced");
}

#[test]
fn results_of_another_system_are_compared_on_demand() {
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let results = example().join(BENCHMARK);
    let (code, errors) = failed(&results, &["--recipe", recipe]);
    assert_eq!(code, 2, "{errors}");
    assert!(
        errors.contains("system 8xEXAMPLE_2xCPU (recipe: "),
        "{errors}"
    );
    let said = judge(&results, &["--recipe", recipe, "--force"]);
    let qualifiers = said.result("Offline/performance")["qualifiers"].to_string();
    assert!(qualifiers.contains("modified"), "{qualifiers}");
    assert!(qualifiers.contains("8xEXAMPLE_2xCPU"), "{qualifiers}");
}

/// A test without logs of its own, as of v6.0, is looked at as in a tree.
#[test]
fn a_test_that_failed_is_found_without_a_tree() {
    let tree = tree();
    let verified = tree.path().join(BENCHMARK).join("Offline/TEST06");
    let verified = verified.join("verify_accuracy.txt");
    let text = fs::read_to_string(&verified).unwrap();
    let loose = tempfile::tempdir().unwrap();
    let recipe = ["--recipe", "mlperf-inference/v6.0/amd/llama2-70b-mi355x"];
    for word in ["True", "False"] {
        fs::write(&verified, text.replace("True", word)).unwrap();
        let results = loose.path().join(word);
        copy(&tree.path().join(BENCHMARK), &results);
        let said = judge(&results, &recipe);
        let found = said.broken("Offline/TEST06").join("\n");
        assert_eq!(found.contains("TEST06 first token: False"), word == "False");
        assert_eq!(said.result("Offline/TEST06")["valid"], word == "True");
    }
}

#[test]
fn most_results_decide_the_round() {
    let tree = tree();
    let seeds = [
        ("2465351861681999779", "1780908523862526354"),
        ("14276810075590677512", "14771362308971278857"),
        ("3936089224930324775", "18209322760996052031"),
    ];
    let first = tree.path().join(BENCHMARK).join(INTERACTIVE);
    for log in ["mlperf_log_summary.txt", "mlperf_log_detail.txt"] {
        let text = fs::read_to_string(first.join(log)).unwrap();
        let other = seeds
            .iter()
            .fold(text, |text, (own, other)| text.replace(own, other));
        fs::write(first.join(log), other).unwrap();
    }
    let said = judge(tree.path(), &[]);
    assert_eq!(said.result(OFFLINE)["round"], "v6.0");
    assert_eq!(said.result(OFFLINE)["valid"], true);
    let broken = said.broken(INTERACTIVE).join("\n");
    assert!(broken.contains("qsl_rng_seed"), "{broken}");
    let faults = said.json["faults"].to_string();
    assert!(
        faults.contains("several rounds: 2 results of v6.0, 1 result of v5.1"),
        "{faults}"
    );
}

#[test]
fn a_log_of_the_meter_has_its_sum() {
    let tree = tree();
    let performance = tree.path().join(BENCHMARK).join("Offline/performance");
    let detail = fs::read_to_string(performance.join("run_1/mlperf_log_detail.txt")).unwrap();
    let (_, rest) = detail.split_once(r#""power_begin", "value": ""#).unwrap();
    let (begin, _) = rest.split_once('"').unwrap();
    let (day, _) = begin.rsplit_once(':').unwrap();
    let log = format!("Time,{day}:59.000,Watts,8000.0,Volts,230.0\n");
    fs::write(performance.join("run_1/spl.txt"), log).unwrap();
    fs::create_dir(performance.join("power")).unwrap();
    let server = performance.join("power/server.json");
    let sum = "0000000000000000000000000000000000000000";
    fs::write(
        &server,
        format!(r#"{{"results": {{"run_1/spl.txt": "{sum}"}}}}"#),
    )
    .unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("run_1/spl.txt: SHA-1 "), "{broken}");
    fs::write(&server, r#"{"results": {}}"#).unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("run_1/spl.txt: not listed"), "{broken}");
}

#[test]
fn names_and_scenarios_that_the_round_does_not_have_are_told() {
    let warned = |said: &Said| {
        let rules = said.json["benchmarks"][0]["rules"]
            .as_array()
            .unwrap()
            .iter();
        let warnings = rules.filter(|rule| rule["warning"] == true);
        warnings
            .map(|rule| rule["measured"].to_string())
            .collect::<String>()
    };
    let closed = tree();
    let at = closed.path().join(BENCHMARK);
    fs::rename(&at, at.with_file_name("llama-own")).unwrap();
    let mapping = closed.path().join("closed/Example/model_mapping.json");
    fs::write(mapping, r#"{"llama-own": "llama2-70b-99"}"#).unwrap();
    let found = warned(&judge(closed.path(), &[]));
    assert!(
        found.contains("model_mapping.json calls llama2-70b-99"),
        "{found}"
    );

    let open = tree();
    fs::create_dir(open.path().join("open")).unwrap();
    let example = open.path().join("open/Example");
    fs::rename(open.path().join("closed/Example"), &example).unwrap();
    let benchmark = example.join("results/8xEXAMPLE_2xCPU/llama2-70b-99");
    fs::rename(benchmark.join("Interactive"), benchmark.join("MultiStream")).unwrap();
    let found = warned(&judge(open.path(), &[]));
    assert!(found.contains("MultiStream"), "{found}");
}
