//! `retrial judge` on a tree of training results: the small one of `examples/training`, and what is
//! wrong with copies of it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

const RESULT: &str = "Example/results/56xEXAMPLE/llama31_405b";
const SYSTEM: &str = "Example/systems/56xEXAMPLE.json";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/training")
}

/// A copy of the first result of the example.
fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    for folder in [RESULT, "Example/systems"] {
        fs::create_dir_all(tree.path().join(folder)).unwrap();
    }
    for entry in fs::read_dir(example().join(RESULT)).unwrap() {
        let name = entry.unwrap().file_name();
        let at = Path::new(RESULT).join(name);
        fs::copy(example().join(&at), tree.path().join(at)).unwrap();
    }
    fs::copy(example().join(SYSTEM), tree.path().join(SYSTEM)).unwrap();
    tree
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(directory)
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap()
}

/// The exit code, and the output as JSON.
fn judge(directory: &Path, arguments: &[&str]) -> (i32, Value) {
    let output = run(directory, &[arguments, &["--output", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let json =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {errors}"));
    (output.status.code().unwrap(), json)
}

/// The violated rules of results and benchmarks.
fn violated(json: &Value) -> Vec<String> {
    let list_of = |kind: &str| json[kind].as_array().unwrap().clone();
    let all = list_of("results").into_iter().chain(list_of("benchmarks"));
    let rules = all.flat_map(|item| item["rules"].as_array().unwrap().clone());
    let failed = rules.filter(|rule| rule["passed"] == false);
    let text = |rule: &Value, name: &str| rule[name].as_str().unwrap().to_owned();
    failed
        .map(|rule| {
            format!(
                "{}: {}; {}",
                text(&rule, "rule"),
                text(&rule, "measured"),
                text(&rule, "required")
            )
        })
        .collect()
}

fn time(json: &Value) -> f64 {
    json["results"][0]["figures"]["time_to_train"]["value"].as_f64().unwrap()
}

#[test]
fn logs_of_a_benchmark_are_combined_into_one_score() {
    let tree = tree();
    for folder in ["", "Example", "Example/results", "Example/results/56xEXAMPLE", RESULT] {
        let (code, json) = judge(&tree.path().join(folder), &[]);
        assert_eq!(code, 0, "{folder}: {:?}", violated(&json));
        let result = &json["results"][0];
        assert_eq!(result["round"], "v5.1");
        assert_eq!(result["division"], "closed");
        assert_eq!(result["submitter"], "Example");
        assert_eq!(result["trials"].as_array().unwrap().len(), 3);
        // MLCommons' summary of the published result: 147.1554426065163.
        assert!((time(&json) - 147.155_442_606_516_3).abs() < 1e-9);
    }
}

#[test]
fn the_whole_example_is_judged() {
    let (code, json) = judge(&example(), &[]);
    assert_eq!(code, 1);
    let violated = violated(&json);
    assert_eq!(violated.len(), 3, "{violated:#?}");
    assert_eq!(json["counts"]["performance_valid"], 1);
    let reference = example().join("published.json");
    let reference = ["--reference", reference.to_str().unwrap()];
    let (_, json) = judge(&example().join(RESULT), &reference);
    assert_eq!(json["counts"]["compared"], 1);
    let (_, json) = judge(&example().join(RESULT), &["--reference", example().to_str().unwrap()]);
    assert!((json["results"][0]["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9);
}

fn edit(tree: &TempDir, file: &str, change: impl Fn(&str) -> String) {
    let path = tree.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    let changed = change(&text);
    assert_ne!(text, changed, "{file}");
    fs::write(path, changed).unwrap();
}

/// One file of the result is changed; the report names it.
#[rstest]
#[case("scaling.json", "1.02", "0.92", "scaling.json: 0.922556; at least 1.02256")]
#[case("scaling.json", "scaling_factor", "factor", "scaling.json: no scaling_factor")]
#[case("scaling.json", "{", "", "scaling.json: it is not JSON")]
#[case(
    "result_0.txt",
    "\"llama31_405b\"",
    "\"llama31_8b\"",
    "result_0.txt: submission_benchmark: llama31_8b; llama31_405b, as its folder"
)]
#[case(
    "result_0.txt",
    "\"closed\"",
    "\"open\"",
    "result_0.txt: submission_division: open; closed, as its system's description"
)]
#[case("result_2.txt", "\"status\": \"success\"", "\"status\": \"aborted\"", "")]
fn a_changed_file_of_a_result_is_reported(
    #[case] file: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] rule: &str,
) {
    let tree = tree();
    edit(&tree, &format!("{RESULT}/{file}"), |text| text.replace(from, to));
    let (code, json) = judge(tree.path(), &[]);
    let violated = violated(&json);
    if rule.is_empty() {
        // One run may fail, and is named.
        assert_eq!(code, 0, "{violated:#?}");
        let fault = &json["faults"][0];
        assert!(fault["path"].as_str().unwrap().ends_with(file));
        assert_eq!(fault["actual"], "the run did not converge");
    } else {
        assert_eq!(code, 1);
        assert!(violated.iter().any(|broken| broken.starts_with(rule)), "{violated:#?}");
    }
}

/// A rule of a training log names its lines: an auditor looks them up.
#[test]
fn a_violated_rule_of_a_log_has_its_lines() {
    let tree = tree();
    let log = format!("{RESULT}/result_1.txt");
    edit(&tree, &log, |text| {
        text.replace("\"status\": \"success\"", "\"status\": \"success\", \"samples_count\": 1")
    });
    let check = |name: &str, part: &str| {
        let (code, json) = judge(tree.path(), &[]);
        assert_eq!(code, 1);
        let rules = json["results"][0]["rules"].as_array().unwrap();
        let text = fs::read_to_string(tree.path().join(&log)).unwrap();
        let position = 1 + text.lines().position(|line| line.contains(part)).unwrap();
        let rule = rules.iter().find(|rule| rule["rule"] == format!("result_1.txt: {name}"));
        let lines = rule.unwrap_or_else(|| panic!("{rules:#?}"))["lines"].as_array().unwrap();
        let is_named = |line: &&Value| line["line"] == position && line["file"] == log;
        assert!(lines.iter().any(|line| is_named(&line)), "{lines:#?}");
    };
    check("samples_count", "\"run_stop\"");
    edit(&tree, &log, |text| text.replacen(":::MLLOG {", ":::MLLOG {{", 1));
    check("lines", ":::MLLOG {{");
}

/// A rule about several logs names a line of each: what both state, and the last where something is missing.
#[test]
fn a_rule_across_logs_names_a_line_of_each() {
    let places = |tree: &TempDir, rule: &str| {
        let (_, json) = judge(tree.path(), &[]);
        let rules = json["results"][0]["rules"].as_array().unwrap();
        let rule = rules.iter().find(|one| one["rule"] == rule && one["passed"] == false);
        let lines = rule.unwrap_or_else(|| panic!("{rules:#?}"))["lines"].as_array().unwrap();
        let places = lines.iter().map(|line| {
            let file = line["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            format!("{file}:{}", line["line"])
        });
        places.collect::<Vec<_>>()
    };
    let copied = tree();
    let at = |name: &str| copied.path().join(RESULT).join(name);
    fs::copy(at("result_0.txt"), at("result_2.txt")).unwrap();
    let text = fs::read_to_string(at("result_0.txt")).unwrap();
    let line_of = |part: &str| 1 + text.lines().position(|line| line.contains(part)).unwrap();
    let both = |line: usize| [format!("result_0.txt:{line}"), format!("result_2.txt:{line}")];
    assert_eq!(places(&copied, "runs"), both(line_of("\"run_start\"")));
    assert_eq!(places(&copied, "result_2.txt: seed"), both(line_of("\"seed\"")));
    let output = run(copied.path(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("({})", both(line_of("\"run_start\"")).join(", "))), "{words}");
    let without = tree();
    edit(&without, &format!("{RESULT}/result_1.txt"), |text| {
        let lines = text.lines().filter(|line| !line.contains("\"seed\""));
        lines.collect::<Vec<_>>().join("\n")
    });
    let edited = fs::read_to_string(without.path().join(RESULT).join("result_1.txt")).unwrap();
    let last = edited.lines().count();
    assert_eq!(places(&without, "result_1.txt: seed"), [format!("result_1.txt:{last}")]);
}

/// Whatever a line that cannot be read stated, it is one violation.
#[test]
fn a_damaged_line_of_a_log_is_one_violation() {
    for part in
        ["\"seed\"", "\"eval_accuracy\"", "\"global_batch_size\"", "\"run_start\"", "\"run_stop\""]
    {
        let tree = tree();
        edit(&tree, &format!("{RESULT}/result_0.txt"), |text| {
            let line = text.lines().rfind(|line| line.contains(part)).unwrap();
            text.replace(line, line.strip_suffix('}').unwrap())
        });
        let (code, json) = judge(tree.path(), &[]);
        let expected = "result_0.txt: lines: 1 line cannot be read; JSON after :::MLLOG";
        assert_eq!((code, &violated(&json)[..]), (1, &[expected.to_owned()][..]), "{part}");
    }
}

#[test]
fn a_system_is_described() {
    let rule = |from: &str, to: &str| {
        let tree = tree();
        edit(&tree, SYSTEM, |text| text.replace(from, to));
        let (code, json) = judge(tree.path(), &[]);
        assert_eq!(code, 1);
        violated(&json).remove(0)
    };
    assert!(rule("\"framework\"", "\"work\"").contains("no framework"));
    assert!(rule("Preview", "soon").starts_with("system's status: \"soon\""));
    assert!(
        rule("\"submitter\": \"Example\"", "\"submitter\": \"Other\"")
            .contains("\"Example\", as its folder")
    );
    assert!(rule("\"closed\"", "\"half\"").contains("division \"half\"; closed or open"));
    let tree = tree();
    fs::remove_file(tree.path().join(SYSTEM)).unwrap();
    let (_, json) = judge(tree.path(), &[]);
    assert!(violated(&json)[0].contains("missing; a description of the system"));
}

#[test]
fn rounds_are_detected_or_specified() {
    let tree = tree();
    let (code, json) = judge(tree.path(), &["--round", "6.0"]);
    assert_eq!((code, &json["results"][0]["round"]), (0, &Value::from("v6.0")));
    let output = run(tree.path(), &["--round", "v4.1"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors.contains("no rules of MLPerf Training v4.1; known: v5.0, v5.1, v6.0, v6.1"),
        "{errors}"
    );
    // A benchmark that no round has determines none.
    let (old, new) =
        (tree.path().join(RESULT), tree.path().join("Example/results/56xEXAMPLE/gpt3"));
    fs::rename(old, new).unwrap();
    let output = run(tree.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--round ROUND"));
    let (code, json) = judge(tree.path(), &["--round", "v5.1"]);
    assert_eq!(code, 1);
    assert!(violated(&json)[0].starts_with("benchmark: gpt3; one of round v5.1: dlrm_dcnv2"));
    // The path of a results repository determines it.
    let named = tempfile::tempdir().unwrap();
    let at = named.path().join("training_results_v6.0");
    fs::rename(tree.path().join("Example"), named.path().join("Example")).unwrap();
    fs::create_dir(&at).unwrap();
    fs::rename(named.path().join("Example"), at.join("Example")).unwrap();
    let (_, json) = judge(&at, &[]);
    assert_eq!(json["benchmarks"][0]["round"], "v6.0");
}

/// The logs of a benchmark that the newest round has, newer than any round.
#[test]
fn logs_of_a_later_round_are_judged_by_the_newest_with_a_note() {
    let tree = tree();
    let flux1 = tree.path().join("Example/results/56xEXAMPLE/flux1");
    fs::rename(tree.path().join(RESULT), &flux1).unwrap();
    for entry in fs::read_dir(&flux1).unwrap() {
        let path = entry.unwrap().path();
        // October 2025 becomes December 2028.
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"time_ms\": 17", "\"time_ms\": 18")).unwrap();
    }
    let (code, json) = judge(tree.path(), &[]);
    assert_eq!(code, 1);
    assert_eq!(json["results"][0]["round"], "v6.1");
    let faults = json["faults"].as_array().unwrap().iter();
    let noted: Vec<String> = faults.map(|fault| fault["actual"].to_string()).collect();
    assert!(
        noted
            .iter()
            .any(|actual| actual.contains("and the submissions of v6.1 ended on 2026-12-31")),
        "{noted:?}"
    );
    // A log of the round itself has no such note.
    let (_, json) = judge(&example(), &["--round", "v6.1"]);
    assert!(!json["faults"].to_string().contains("ended on"), "{json:#}");
}

#[test]
fn two_systems_with_the_same_runs_are_reported() {
    let tree = tree();
    let other = tree.path().join("Example/results/64xEXAMPLE/llama31_405b");
    fs::create_dir_all(&other).unwrap();
    for log in ["result_0.txt", "result_1.txt", "result_2.txt"] {
        fs::copy(tree.path().join(RESULT).join(log), other.join(log)).unwrap();
    }
    let system = fs::read_to_string(tree.path().join(SYSTEM)).unwrap();
    fs::write(tree.path().join("Example/systems/64xEXAMPLE.json"), system).unwrap();
    let (code, json) = judge(tree.path(), &[]);
    assert_eq!(code, 0);
    let fault = &json["faults"][0];
    assert_eq!(fault["path"], "Example/results/64xEXAMPLE/llama31_405b/result_0.txt");
    assert_eq!(
        fault["actual"],
        format!("the same run as {RESULT}/result_0.txt; so are 2 more of its runs")
    );
}

#[test]
fn hostile_files_are_reported() {
    let tree = tree();
    let log = tree.path().join(RESULT).join("result_1.txt");
    fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &log).unwrap();
    let (code, json) = judge(tree.path(), &[]);
    assert_eq!(code, 1);
    assert!(violated(&json).iter().any(|broken| broken.starts_with("logs: 2; 3")));
    fs::remove_file(&log).unwrap();
    fs::write(
        &log,
        [b":::MLLOG {".as_slice(), vec![0xff; 100_000].as_slice(), b"\n:::MLLOG [[[["].concat(),
    )
    .unwrap();
    let (code, json) = judge(tree.path(), &[]);
    assert_eq!(code, 1);
    let violated = violated(&json);
    assert!(
        violated.iter().any(|broken| broken.starts_with("result_1.txt: lines: 2 lines cannot")),
        "{violated:#?}"
    );
}

/// Throughput is no event of MLCommons': AMD's program prints it, others do not.
#[test]
fn own_figures_are_not_required_of_other_submitters() {
    let logs = tempfile::tempdir().unwrap();
    let write = |number: u32, tracked: &str| {
        let event = |time: u32, key: &str, value: &str, metadata: &str| {
            format!(
                ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}\n"
            )
        };
        let stop = 1_000_000 + 590_000 + number * 100;
        let log = event(1, "global_batch_size", "8", "")
            + &event(1_000_000, "run_start", "null", "")
            + tracked
            + &event(stop - 1, "eval_accuracy", "0.92", "\"samples_count\": 3072")
            + &event(stop, "run_stop", "null", "\"status\": \"success\"");
        fs::write(logs.path().join(format!("result_{number}.txt")), log).unwrap();
    };
    (0..10).for_each(|number| write(number, ""));
    let recipe = ["--recipe", "mlperf-training/v5.1/amd/llama2-70b-lora"];
    let output = run(logs.path(), &recipe);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("throughput: no log has it"), "{text}");
    // Some have it: the others are incomplete.
    write(3, "{\"throughput\": 5.9}\n");
    let output = run(logs.path(), &recipe);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("throughput is missing"), "{text}");
}

#[test]
fn logs_of_another_system_are_compared_with_a_recipe_on_demand() {
    let tree = tree();
    let results = tree.path().join(RESULT);
    let recipe = ["--recipe", "mlperf-training/v5.1/amd/llama31-8b"];
    let refused = run(&results, &recipe);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    for difference in [
        "benchmark llama31_405b (recipe: llama31_8b)",
        "system 56xEXAMPLE (recipe: ",
        "accelerators 448 (recipe: 8)",
        "--force",
    ] {
        assert!(errors.contains(difference), "{errors}");
    }
    let (_, forced) = judge(&results, &[&recipe[..], &["--force"]].concat());
    let qualifiers = forced["results"][0]["qualifiers"].to_string();
    assert!(qualifiers.contains("modified"), "{qualifiers}");
}
