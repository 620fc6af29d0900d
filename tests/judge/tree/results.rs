//! Kinds of results in a tree: with a power meter, of an endpoint, of the open division.

use super::*;

#[test]
fn power_is_the_meter_mean_during_the_run() {
    let tree = tree();
    let run = tree.path().join(BENCHMARK).join(OFFLINE);
    let detail = fs::read_to_string(run.join("mlperf_log_detail.txt")).unwrap();
    let moment = |key: &str| {
        let (_, rest) = detail.split_once(&format!(r#""{key}", "value": ""#)).unwrap();
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
    let judgement = judge(tree.path(), &[]);
    let power = &judgement.result(OFFLINE)["figures"]["average_power_w"];
    assert_eq!(power["unit"], "W");
    assert_eq!(power["value"], 8050.0);
    let lacks = judgement.broken_benchmark().join("\n");
    assert!(lacks.contains("ranging"), "{lacks}");

    fs::write(run.join("spl.txt"), meter(&day, "9000.0")).unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("1 samples, and none between"), "{broken}");
}

#[test]
fn a_performance_log_in_accuracy_is_not_a_second_result() {
    let tree = tree();
    let offline = tree.path().join(BENCHMARK).join("Offline");
    for log in ["mlperf_log_summary.txt", "mlperf_log_detail.txt"] {
        fs::copy(offline.join("performance/run_1").join(log), offline.join("accuracy").join(log))
            .unwrap();
    }
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.results().len(), 8);
    let accuracy = judgement.result("Offline/accuracy");
    assert_eq!((&accuracy["mode"], &accuracy["deciding"]), (&"accuracy".into(), &"ROUGE1".into()));
    assert!(accuracy["figures"].get("tokens_per_second").is_none());
    let rules = accuracy["rules"].as_array().unwrap().iter();
    assert!(rules.into_iter().any(|rule| rule["measured"] == "PerformanceOnly"));
}

#[test]
fn the_open_division_allows_any_accuracy_and_names() {
    let tree = tree();
    let open = tree.path().join("open/Example");
    fs::create_dir(tree.path().join("open")).unwrap();
    fs::rename(tree.path().join("closed/Example"), &open).unwrap();
    let system = open.join("systems/8xEXAMPLE_2xCPU.json");
    let text = fs::read_to_string(&system).unwrap().replace("\"closed\"", "\"open\"");
    fs::write(&system, text).unwrap();
    let results = open.join("results/8xEXAMPLE_2xCPU");
    fs::rename(results.join("llama2-70b-99"), results.join("llama-pruned")).unwrap();
    fs::write(open.join("model_mapping.json"), r#"{"llama-pruned": "llama2-70b-99"}"#).unwrap();
    let accuracy = results.join("llama-pruned/Offline/accuracy/accuracy.txt");
    let text = fs::read_to_string(&accuracy).unwrap().replace("44.5371", "33.3");
    fs::write(&accuracy, text).unwrap();
    fs::remove_dir_all(results.join("llama-pruned/Offline/TEST06")).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.broken_benchmark(), [""; 0]);
    let offline = judgement.result(OFFLINE);
    assert_eq!(
        (&offline["valid"], &offline["benchmark"]),
        (&true.into(), &"llama-pruned".into()),
        "{offline}"
    );
    assert_eq!(offline["figures"]["tokens_per_second"]["value"], 11_800.5);
    assert_eq!(judgement.json["benchmarks"][0]["official"], "llama2-70b-99");
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
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.results().len(), 2);
    let performance = judgement.result("Interactive/performance");
    assert_eq!(performance["round"], "v6.1");
    assert_eq!(performance["valid"], true, "{:#}", performance["rules"]);
    assert_eq!(performance["deciding"], "completed_tokens_per_second");
    assert_eq!(performance["figures"]["completed_tokens_per_second"]["value"], 615_400.5);
    let accuracy = judgement.result("Interactive/accuracy");
    assert_eq!(
        (&accuracy["deciding"], &accuracy["valid"]),
        (&"exact_match".into(), &true.into()),
        "{accuracy:#}"
    );
    // Copies of the run, in another scenario and on another system.
    copy(&scenario, &results.join("deepseek-r1/Server"));
    let another = results.with_file_name("another/deepseek-r1/Interactive");
    copy(&scenario, &another);
    let faster = summary.replace("615400.5", "615500.5");
    fs::write(another.join("performance/result_summary.json"), faster).unwrap();
    let judgement = judge(tree.path(), &[]);
    let server = judgement.result("8xEXAMPLE_2xCPU/deepseek-r1/Server/performance");
    let copied = "is of the same run as Interactive/performance/result_summary.json";
    assert!(server["rules"].to_string().contains(copied), "{server:#}");
    let faults = judgement.json["faults"].to_string();
    let copied = "the same run as closed/Example/results/8xEXAMPLE_2xCPU/deepseek-r1/Interactive/performance/result_summary.json";
    assert!(faults.contains(copied), "{faults}");
    for copied in [&results.join("deepseek-r1/Server"), results.with_file_name("another").as_path()]
    {
        fs::remove_dir_all(copied).unwrap();
    }
    // Too late a first token, and a run that did not come to its end.
    let late = summary
        .replace("484730193.0", "1600000000.0")
        .replace("\"complete\": true", "\"complete\": false");
    fs::write(scenario.join("performance/result_summary.json"), late).unwrap();
    let rules = judge(tree.path(), &[]).broken("Interactive/performance");
    assert!(rules.iter().any(|rule| rule.contains("first token")), "{rules:?}");
    assert!(rules.len() >= 2, "{rules:?}");
}

/// The files of a video benchmark's endpoint: it needs no `user.conf`, and the client's own test of caching.
#[test]
fn an_endpoint_needs_its_own_files_and_tests() {
    let tree = tree();
    let results = tree.path().join("closed/Example/results/8xEXAMPLE_2xCPU");
    let old = results.join("llama2-70b-99/Offline");
    let scenario = results.join("wan-2.2-t2v-a14b/Offline");
    for folder in ["performance", "accuracy", "audit"] {
        fs::create_dir_all(scenario.join(folder)).unwrap();
    }
    for file in ["README.md", "measurements.json"] {
        fs::copy(old.join(file), scenario.join(file)).unwrap();
    }
    fs::remove_dir_all(results.join("llama2-70b-99")).unwrap();
    let config = "type: offline\nsettings:\n  runtime:\n    min_duration_ms: 600000\n    \
        scheduler_random_seed: 16159082839903944936\n    dataloader_random_seed: 2747215439041700203\n";
    fs::write(scenario.join("config.yaml"), config).unwrap();
    let summary = r#"{"n_samples_issued": 144, "n_samples_completed": 144, "n_samples_failed": 0,
        "duration_ns": 712345678901, "complete": true}"#;
    fs::write(scenario.join("performance/result_summary.json"), summary).unwrap();
    let scores =
        r#"{"accuracy_scores": [{"score": 70.1, "total_samples": 248, "complete": true}]}"#;
    fs::write(scenario.join("accuracy/accuracy_results.json"), scores).unwrap();
    let broken = |judgement: &Judgement| judgement.broken("Offline/performance").join("\n");

    let judgement = judge(tree.path(), &[]);
    assert!(!judgement.broken_benchmark().join("\n").contains("user.conf"));
    let missing = "audit/audit_output_caching_test.json is missing";
    assert!(broken(&judgement).contains(missing), "{}", broken(&judgement));

    let audit = scenario.join("audit/audit_output_caching_test.json");
    fs::write(&audit, r#"{"test": "output_caching_test", "passed": false}"#).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert!(broken(&judgement).contains("did not pass"), "{}", broken(&judgement));

    fs::write(&audit, r#"{"test": "output_caching_test", "passed": true}"#).unwrap();
    assert_eq!(broken(&judge(tree.path(), &[])), "");

    // LoadGen measures the others.
    fs::rename(results.join("wan-2.2-t2v-a14b"), results.join("llama2-70b-99.9")).unwrap();
    let judgement = judge(tree.path(), &["--round", "v6.1"]);
    let refused = broken(&judgement);
    assert!(refused.contains("LoadGen's logs: an endpoint's results"), "{refused}");
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
        let judgement = judge(&results, &recipe);
        let rules = judgement.broken("Offline/TEST06").join("\n");
        assert_eq!(rules.contains("TEST06 first token: False"), word == "False");
        assert_eq!(judgement.result("Offline/TEST06")["valid"], word == "True");
    }
}

#[test]
fn power_meter_logs_are_checked_by_hash() {
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
    fs::write(&server, format!(r#"{{"results": {{"run_1/spl.txt": "{sum}"}}}}"#)).unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("run_1/spl.txt: SHA-1 "), "{broken}");
    fs::write(&server, r#"{"results": {}}"#).unwrap();
    let broken = judge(tree.path(), &[]).broken(OFFLINE).join("\n");
    assert!(broken.contains("run_1/spl.txt: not listed"), "{broken}");
}

/// The example with other seeds in all of its logs.
fn with_seeds(seed: &str) -> TempDir {
    let tree = tree();
    fs::remove_dir_all(tree.path().join(BENCHMARK).join("Interactive")).unwrap();
    for run in ["performance/run_1", "accuracy"] {
        for scenario in ["Offline", "Server"] {
            for log in ["mlperf_log_summary.txt", "mlperf_log_detail.txt"] {
                let path = tree.path().join(BENCHMARK).join(scenario).join(run).join(log);
                let text = fs::read_to_string(&path).unwrap();
                let seeds = ["2465351861681999779", "14276810075590677512", "3936089224930324775"];
                let text = seeds.iter().fold(text, |text, own| text.replace(own, seed));
                fs::write(path, text).unwrap();
            }
        }
    }
    tree
}

#[test]
fn results_of_no_known_round_are_not_judged() {
    let tree = with_seeds("1234");
    fs::remove_file(tree.path().join("summary_results.json")).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.code, 5, "{}", judgement.json);
    for result in judgement.results() {
        let sentence = result["sentence"].as_str().unwrap();
        assert_eq!(result["outcome"], "inconclusive", "{sentence}");
        assert_eq!(result["valid"], false, "{sentence}");
        assert!(sentence.contains("not judged: its seeds are of no known round"));
        assert!(sentence.contains("--round ROUND"), "{sentence}");
    }
    assert_eq!(judgement.json["counts"]["performance_valid"], 0);
    assert_eq!(judgement.json["counts"]["accuracy_valid"], 0);
    // By a named round they violate its seeds.
    let judgement = judge(tree.path(), &["--round", "v6.0"]);
    assert_eq!(judgement.code, 1);
    let broken = judgement.broken(OFFLINE).join("\n");
    assert!(broken.contains("qsl_rng_seed: 1234"), "{broken}");
}

#[test]
fn a_folder_outside_of_a_tree_is_not_judged_without_a_known_round() {
    let tree = with_seeds("1234");
    let folder = tempfile::tempdir().unwrap();
    let run = tree.path().join(BENCHMARK).join("Offline/performance/run_1");
    copy(&run, folder.path());
    let judgement = judge(folder.path(), &["--benchmark", "llama2-70b-99"]);
    assert_eq!(judgement.code, 5, "{}", judgement.json);
    let sentence = judgement.json.to_string();
    assert!(sentence.contains("validity not judged: its seeds"), "{sentence}");
}

#[test]
fn the_names_of_folders_are_selected() {
    let tree = tree();
    let other = tree.path().join(BENCHMARK).with_file_name("mixtral-8x7b");
    copy(&tree.path().join(BENCHMARK), &other);
    let paths = |arguments: &[&str]| -> Vec<String> {
        let judgement = judge(tree.path(), arguments);
        let results = judgement.results().iter();
        results.map(|result| result["path"].as_str().unwrap().to_owned()).collect()
    };
    let selected = paths(&["--benchmark", "llama2-70b-99", "--division", "closed"]);
    assert_eq!(selected.len(), 8, "{selected:?}");
    assert!(selected.iter().all(|path| path.contains(BENCHMARK)), "{selected:?}");
    let selected = paths(&["--scenario", "Offline"]);
    assert_eq!(selected.len(), 6, "{selected:?}");
    assert!(selected.iter().all(|path| path.contains("/Offline/")), "{selected:?}");
    let in_part = |arguments: &[&str]| {
        judge(tree.path(), arguments).json["counts"]["benchmarks_in_part"].as_u64()
    };
    assert_eq!((in_part(&["--scenario", "Offline"]), in_part(&[])), (Some(2), Some(0)));
    for (option, value, choice) in [
        ("--benchmark", "resnet", "mixtral-8x7b"),
        ("--division", "open", "closed"),
        ("--scenario", "SingleStream", "Interactive"),
    ] {
        let (code, stderr) = failed(tree.path(), &[option, value]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(&format!("\"{value}\" in this submission tree")), "{stderr}");
        assert!(stderr.contains(choice), "{stderr}");
    }
}

#[test]
fn a_folder_of_runs_is_none_of_logs() {
    let home = tempfile::tempdir().unwrap();
    for run in ["runs/a-1", "runs/b-2"] {
        let run = home.path().join(run);
        copy(&example().join(BENCHMARK).join(OFFLINE), &run.join("results/Offline"));
        fs::write(run.join("plan.json"), "{}").unwrap();
    }
    let runs = home.path().join("runs");
    let copied = tempfile::tempdir().unwrap();
    copy(&runs, copied.path());
    let list = format!("retrial --home {} runs", home.path().display());
    let import = format!("retrial runs import {}/*", copied.path().display());
    for (folder, command) in [(home.path(), &list), (&runs, &list), (copied.path(), &import)] {
        let (code, stderr) = failed(folder, &[]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("holds 2 runs of Retrial"), "{stderr}");
        assert!(stderr.contains("a-1") && stderr.contains(command.as_str()), "{stderr}");
    }
}

#[test]
fn results_of_other_suites_are_named_and_refused() {
    for (path, suite) in [
        ("closed/A/results/Thor/bevformer/SingleStream/performance/run_1", "MLPerf Automotive"),
        ("closed/A/results/SD8/mobileBERT/SingleStream/log_performance", "MLPerf Mobile"),
        ("closed/A/results/NUCLEO/kws/performance", "MLPerf Tiny"),
        ("closed/A/results/AI400/training/unet3d/run", "MLPerf Storage"),
        ("Closed/A/results/AI400/unet3d-h100/runs", "MLPerf Storage"),
    ] {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join(path)).unwrap();
        let root = tree.path().to_str().unwrap();
        for arguments in [vec!["judge", root], vec!["list", "--results", root]] {
            let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
                .args(&arguments)
                .env("RETRIAL_HOME", tree.path().join("home"))
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            let sentence = format!("is a result of {suite}, which has rules of its own");
            assert!(errors.contains(&sentence), "{arguments:?}: {errors}");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        }
    }
}

/// One value is what `judge`, its exit code and every report say.
#[test]
fn a_rule_of_the_whole_benchmark_is_in_the_headline() {
    let tree = tree();
    fs::remove_dir_all(tree.path().join(BENCHMARK).join("Offline")).unwrap();
    // What else is wrong with the example.
    fs::remove_dir_all(tree.path().join(BENCHMARK).join("Interactive")).unwrap();
    let judgement = judge(tree.path(), &[]);
    assert_eq!(judgement.code, 1);
    assert!(judgement.results().iter().all(|result| result["valid"] == true));
    for form in ["text", "markdown", "html"] {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["report", "--output", form, "--to"])
            .arg(tree.path().join(format!("report.{form}")))
            .arg(tree.path().join(BENCHMARK))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(tree.path().join(format!("report.{form}"))).unwrap();
        assert!(text.contains("of the whole benchmark"), "{text}");
        assert!(!text.contains("Valid, and nothing"), "{text}");
    }
}

#[test]
fn results_are_selected_by_their_outcome() {
    let all = judge(&example(), &[]);
    let some = judge(&example(), &["--outcome", "invalid"]);
    assert_eq!((some.code, &some.json["counts"]), (all.code, &all.json["counts"]));
    let outcomes = some.results().iter().map(|result| result["outcome"].as_str().unwrap());
    assert!(!some.results().is_empty() && outcomes.clone().all(|outcome| outcome == "invalid"));
    assert!(some.results().len() < all.results().len());
    let none = judge(&example(), &["--outcome", "inconclusive,failed"]);
    assert_eq!((none.code, none.results().len()), (1, 0));
    let text = |outcome: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
        let output = command.arg("judge").arg(example()).args(["--outcome", outcome]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let invalid = text("invalid");
    assert!(invalid.contains("Interactive") && !invalid.contains("Offline  "), "{invalid}");
    assert!(!text("failed").contains("Interactive"), "{}", text("failed"));
    assert!(text("failed,inconclusive").contains("no result is failed or inconclusive"));
    let report = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
        let command = command.args(["report", "--output", "markdown"]).arg(example());
        command.args(arguments).output().unwrap()
    };
    let only = String::from_utf8(report(&["--outcome", "invalid"]).stdout).unwrap();
    assert!(only.contains("| Interactive |") && !only.contains("| Offline |"), "{only}");
    let none = report(&["--outcome", "failed"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("is failed"), "{none:?}");
    for selection in ["--scenario=Offline", "--benchmark=llama2-70b-99", "--division=closed"] {
        let output = report(&[selection]);
        let text = String::from_utf8_lossy(&output.stdout);
        let is_whole = text.contains("| Interactive |");
        assert!(output.status.success() && text.contains("| Offline |"), "{selection}: {output:?}");
        assert_eq!(is_whole, !selection.ends_with("Offline"), "{selection}: {text}");
    }
    let none = report(&["--division=open"]);
    assert!(none.status.code() == Some(2) && none.stdout.is_empty(), "{none:?}");
    let of_history = report(&["--gpu", "MI355X"]);
    assert!(String::from_utf8_lossy(&of_history.stderr).contains("--all"), "{of_history:?}");
}
