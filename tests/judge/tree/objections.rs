//! The objections of an auditor to a submission tree.

use super::*;

fn report(tree: &Path, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
    let command = command.current_dir(tree).args(["report", ".", "--as", "objections"]);
    command.args(arguments).env("RETRIAL_HOME", home.path()).output().unwrap()
}

fn objections(tree: &Path, arguments: &[&str]) -> String {
    let output = report(tree, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The number of the line that has a text, in a file.
fn line_of(file: &Path, text: &str) -> usize {
    let log = fs::read_to_string(file).unwrap();
    1 + log.lines().position(|line| line.contains(text)).unwrap()
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(file, text.replace(from, to)).unwrap();
}

#[test]
fn each_result_has_its_rules_with_the_lines_of_evidence() {
    let tree = tree();
    let text = objections(tree.path(), &[]);
    let server = tree.path().join(BENCHMARK).join("Server/performance/run_1/mlperf_log_detail.txt");
    let published = "10,950.2 tokens/s; summary_results.json lists 12,400 (6.0-9002)";
    let same_run = "is of the same run as Interactive/performance/run_1/mlperf_log_detail.txt";
    for (rule, entry) in
        [(published, "result_completed_tokens_per_second"), (same_run, "test_datetime")]
    {
        let (_, rest) = text.split_once(rule).unwrap_or_else(|| panic!("{rule}: {text}"));
        let line = format!("line {}: `:::MLLOG {{\"key\": \"{entry}\"", line_of(&server, entry));
        let mut following = rest.lines().take(3);
        assert!(following.any(|found| found.contains(&line)), "{line}: {text}");
    }
    let offline = tree.path().join(BENCHMARK).join(OFFLINE).join("mlperf_log_detail.txt");
    replace(
        &offline,
        r#""effective_min_duration_ms", "value": 600000"#,
        r#""effective_min_duration_ms", "value": 5000"#,
    );
    let accuracy = tree.path().join(BENCHMARK).join("Server/accuracy/accuracy.txt");
    replace(&accuracy, "44.5402", "4.5402");
    let text = objections(tree.path(), &[]);
    let (_, offline_section) = text.split_once("8xEXAMPLE_2xCPU · Offline\n").unwrap();
    let (offline_section, _) = offline_section.split_once("\n## ").unwrap();
    let line = line_of(&offline, "effective_min_duration_ms");
    for part in [
        "- **submitted:** 11,800.5 tokens/s",
        "- **outcome:** performance invalid, accuracy measured, TEST06 measured",
        "- **rules:** v6.0, llama2-70b-99, Offline",
        "**performance: min_duration:** 5 s; the rule requires at least 600 s",
        &format!(
            "  - in: `{BENCHMARK}/{OFFLINE}/mlperf_log_detail.txt`\n  - line {line}: `:::MLLOG"
        ),
    ] {
        assert!(offline_section.contains(part), "{part}: {offline_section}");
    }
    let (_, server) = text.split_once("8xEXAMPLE_2xCPU · Server\n").unwrap();
    let line = line_of(&accuracy, "4.5402");
    for part in [
        "**accuracy: ROUGE1:** 4.5402; the rule requires at least 43.9869",
        &format!("  - in: `{BENCHMARK}/Server/accuracy/accuracy.txt`\n  - line {line}: `"),
        "Warnings (no rule is violated)",
    ] {
        assert!(server.contains(part), "{part}: {server}");
    }
    for part in [
        "# Objections to .\n",
        "- *compared with*: summary_results.json",
        "- *rules*: mlperf-inference v6.0",
        "inference_rules.adoc",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_missing_file_is_one_violation() {
    let tree = tree();
    let folder = tree.path().join(BENCHMARK).join("Offline");
    fs::remove_file(folder.join("accuracy/accuracy.txt")).unwrap();
    let text = objections(&folder, &[]);
    assert!(text.contains("**1 violated rule** in"), "{text}");
    let item = format!(
        "- **accuracy: accuracy.txt:** it is missing; the rule requires what the benchmark's accuracy script prints\n  - in: `{BENCHMARK}/Offline/accuracy`\n  - not checked: "
    );
    assert!(text.contains(&item), "{text}");
    for figure in ["ROUGE1", "ROUGE2", "ROUGEL", "TOKENS_PER_SAMPLE"] {
        assert_eq!(text.matches(figure).count(), 1, "{figure}: {text}");
    }
}

/// Whatever else is wrong with a result, its figure differs from the published one.
#[test]
fn a_figure_that_differs_is_objected_to_also_where_the_accuracy_is_missing() {
    let tree = tree();
    let published = "10,950.2 tokens/s; summary_results.json lists 12,400 (6.0-9002)";
    assert!(objections(tree.path(), &[]).contains(published));
    fs::remove_file(tree.path().join(BENCHMARK).join("Server/accuracy/accuracy.txt")).unwrap();
    let text = objections(tree.path(), &[]);
    let (_, rest) = text.split_once(published).unwrap_or_else(|| panic!("{text}"));
    let mut following = rest.lines().take(3);
    assert!(following.any(|line| line.contains("result_completed_tokens_per_second")), "{text}");
}

#[test]
fn objections_are_to_what_was_selected() {
    let tree = tree();
    let text = objections(tree.path(), &["--scenario", "Server"]);
    assert!(text.contains("· Server\n") && !text.contains("· Interactive\n"), "{text}");
    let none = report(tree.path(), &["--outcome", "failed"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no result in . is failed"));
}

#[test]
fn a_missing_test_is_objected_to_where_it_should_be() {
    let tree = tree();
    let text = objections(tree.path(), &[]);
    let place = format!(
        "TEST06:** missing; this benchmark requires it\n  - in: `{BENCHMARK}/Interactive/TEST06`"
    );
    assert!(text.contains(&place), "{text}");
}

/// LoadGen's own words name the log that has them.
#[test]
fn a_log_that_says_invalid_is_quoted_once() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join(OFFLINE).join("mlperf_log_detail.txt");
    replace(
        &offline,
        r#""result_validity", "value": "VALID""#,
        r#""result_validity", "value": "INVALID""#,
    );
    let text = objections(tree.path(), &[]);
    let reason = "LoadGen's result:** the detail log reports INVALID, but the summary reports VALID; the rule requires VALID";
    assert!(text.contains(reason), "{text}");
    let line = format!("line {}: `", line_of(&offline, "result_validity"));
    assert!(text.contains(&line), "{text}");
}

#[test]
fn logs_that_disagree_are_quoted_where_they_do() {
    let tree = tree();
    let folder = tree.path().join(BENCHMARK).join("Server/performance/run_1");
    let detail = folder.join("mlperf_log_detail.txt");
    replace(
        &detail,
        "\"result_completed_tokens_per_second\", \"value\": 10950.2",
        "\"result_completed_tokens_per_second\", \"value\": 12950.2",
    );
    let text = objections(tree.path(), &[]);
    let (_, rest) = text.split_once("the summary and detail log disagree").unwrap();
    let (rest, _) = rest.split_once("- **").unwrap();
    let line = line_of(&detail, "result_completed_tokens_per_second");
    assert!(rest.contains(&format!("line {line}: ")), "{rest}");
    let line = line_of(&folder.join("mlperf_log_summary.txt"), "Completed tokens per second");
    assert!(rest.contains(&format!("line {line}: `Completed tokens")), "{rest}");
    assert!(!rest.contains("Result is"), "{rest}");
}

#[test]
fn a_relation_that_does_not_hold_is_no_rule_of_the_round() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join(OFFLINE).join("mlperf_log_detail.txt");
    replace(
        &offline,
        r#""result_samples_per_second", "value": 41.7"#,
        r#""result_samples_per_second", "value": 61.7"#,
    );
    let text = objections(tree.path(), &[]);
    assert!(text.contains("the logs of an unmodified LoadGen have"), "{text}");
    let line = line_of(&offline, "result_samples_per_second");
    assert!(text.contains(&format!("line {line}: ")), "{text}");
    let judged = judge(tree.path(), &[]);
    let rules = judged.result(OFFLINE)["rules"].as_array().unwrap();
    let relation = rules.iter().find(|rule| rule["kind"] == "relation").unwrap();
    assert_eq!(
        relation["lines"][0]["file"],
        format!("{BENCHMARK}/{OFFLINE}/mlperf_log_detail.txt")
    );
    let (text, _) = judge_text(tree.path(), &["--outcome", "invalid"]);
    assert!(text.contains("(mlperf_log_detail.txt:"), "{text}");
}

#[test]
fn nothing_to_object_to_is_said() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join("Offline");
    let text = objections(&offline, &[]);
    assert!(text.contains("**nothing to object to** in 1 performance result"), "{text}");
    assert!(text.contains("no rule is violated, and there is no warning"), "{text}");
    assert!(!text.contains("##"), "{text}");
    let page = tree.path().join("page.html");
    let output = report(&offline, &["--to", page.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read_to_string(page).unwrap().contains("nothing to object to"));
}

#[test]
fn objections_need_a_tree_and_a_format_with_sections() {
    let tree = tree();
    let refusal = |directory: &Path, arguments: &[&str]| {
        let output = report(directory, arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap()
    };
    let other = tempfile::tempdir().unwrap();
    assert!(refusal(other.path(), &[]).contains("needs a submission tree: . is none"));
    let format = refusal(tree.path(), &["--output", "csv"]);
    assert!(format.contains("objections are written as Markdown, HTML or text"), "{format}");
    assert!(refusal(tree.path(), &["--all"]).contains("--all"), "conflict");
}
