//! Results of a tree compared with published ones.

use super::*;

#[test]
fn results_are_compared_with_published_ones() {
    let table = example().join("summary_results.json");
    let table = table.to_str().unwrap();
    let judgement = judge(&example(), &["--reference", table]);
    let offline = judgement.result(OFFLINE);
    assert_eq!(offline["outcome"], "reproduced");
    assert_eq!(offline["references"][0]["value"], 11_812.3);
    assert_eq!(offline["references"][0]["source"], "6.0-9001");
    let ratio = offline["ratio"].as_f64().unwrap();
    assert!((ratio - 11_800.5 / 11_812.3).abs() < 1e-9);
    assert!(offline["bounds"]["lower"].as_f64().unwrap() < ratio);
    assert_eq!(judgement.result(SERVER)["outcome"], "not reproduced");
    // One of mine next to a vendor's row.
    let mine = example().join(BENCHMARK).join("Server");
    let judgement = judge(&mine, &["--reference", table, "--reference-id", "6.0-9002"]);
    assert_eq!(judgement.result(SERVER)["references"][0]["value"], 12_400.0);
    let judgement = judge(&mine, &["--reference", table, "--reference-system", "Example server"]);
    assert_eq!(judgement.result(SERVER)["references"][0]["value"], 12_400.0);
    // Another tree.
    let other = tree();
    let judgement = judge(&example(), &["--reference", other.path().to_str().unwrap()]);
    assert_eq!(judgement.result(OFFLINE)["ratio"], 1.0);
    // The same folder outside of any tree: only the flags and the seeds identify it.
    let loose = tempfile::tempdir().unwrap();
    copy(&mine.join("performance/run_1"), &loose.path().join("Server"));
    let flags =
        ["--benchmark", "llama2-70b-99", "--reference", table, "--reference-id", "6.0-9002"];
    let home = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("judge")
        .arg(loose.path())
        .args(["--output", "json"])
        .args(flags)
        .output()
        .unwrap();
    let verdict: Value = serde_json::from_slice(&home.stdout).unwrap();
    let result = &verdict["results"][0];
    assert_eq!(result["round"], "v6.0", "{result}");
    assert_eq!(result["references"][0]["value"], 12_400.0, "{result}");
}

#[test]
fn unusable_references_are_refused() {
    let run = |arguments: &[&str]| failed(&example(), arguments);
    let (code, stderr) = run(&["--round", "v9.9"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("v9.9") && stderr.contains("v6.0"), "{stderr}");
    let (code, stderr) = run(&["--reference", "/dev/null"]);
    assert_eq!(code, 2, "{stderr}");
    let table = example().join("summary_results.json");
    let (code, stderr) =
        run(&["--reference", table.to_str().unwrap(), "--reference-id", "1.0-0001"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("1.0-0001"), "{stderr}");
}

#[test]
fn an_unmatched_reference_row_is_an_error() {
    let published = example().join("summary_results.json");
    let published = published.to_str().unwrap();
    let server = example().join(BENCHMARK).join("Server");
    let of_offline = ["--reference", published, "--reference-id", "6.0-9001"];
    let (code, errors) = failed(&server, &of_offline);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("its row 6.0-9001 is of other benchmarks or scenarios"), "{errors}");
    let of_server = ["--reference", published, "--reference-id", "6.0-9002"];
    assert_eq!(failed(&server, &of_server).0, 1, "not reproduced");
}

#[test]
fn results_of_another_system_are_compared_on_demand() {
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let results = example().join(BENCHMARK);
    let (code, errors) = failed(&results, &["--recipe", recipe]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("system 8xEXAMPLE_2xCPU (recipe: "), "{errors}");
    let judgement = judge(&results, &["--recipe", recipe, "--force"]);
    let qualifiers = judgement.result("Offline/performance")["qualifiers"].to_string();
    assert!(qualifiers.contains("modified"), "{qualifiers}");
    assert!(qualifiers.contains("8xEXAMPLE_2xCPU"), "{qualifiers}");
}

#[test]
fn a_tree_is_compared_with_its_own_table() {
    let (home, _) = judge_text(&example().join(BENCHMARK).join("Offline"), &[]);
    assert!(home.contains("0.999 of 11,812.3"), "{home}");
    assert!(home.contains("1 result compared with summary_results.json, 1 reproduced"), "{home}");
    // The option names another.
    let other = tree();
    let other_table = other.path().join("other.json");
    let table = std::fs::read_to_string(other.path().join("summary_results.json")).unwrap();
    std::fs::write(&other_table, table.replace("11812.3", "23600")).unwrap();
    let reference = ["--reference", other_table.to_str().unwrap()];
    let (text, _) = judge_text(other.path(), &reference);
    assert!(text.contains("0.500 of 23,600"), "{text}");
    assert!(text.contains("2 results compared with other.json, 0 reproduced"), "{text}");
    assert_eq!(judge(other.path(), &reference).json["reference"], "other.json");
    let (markdown, _) = judge_text(other.path(), &["--output", "markdown"]);
    assert!(markdown.contains("Compared with summary_results.json."), "{markdown}");
}

#[test]
fn a_table_that_cannot_be_used_stops_no_judgement() {
    let tree = tree();
    std::fs::write(tree.path().join("summary_results.json"), "{").unwrap();
    let (text, errors) = judge_text(tree.path(), &[]);
    assert!(text.contains("measured") && !text.contains("compared"), "{text}");
    assert!(errors.contains("results are not compared with published figures: "), "{errors}");
    assert!(errors.contains("summary_results.json: it is neither JSON nor CSV"), "{errors}");
    std::fs::remove_file(tree.path().join("summary_results.json")).unwrap();
    let (text, errors) = judge_text(tree.path(), &[]);
    assert!(!text.contains("compared") && errors.is_empty(), "{text}{errors}");
}
