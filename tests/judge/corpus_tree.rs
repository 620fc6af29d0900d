//! The published tree of round v4.1, judged whole, against what `MLCommons`' own checker said of it;
//! and what that checker lets pass.
//!
//! The corpus is next to the repository in `../shared/corpus` and is too large to be part of it;
//! without it the tests say so and pass.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::copy::copy;
use crate::support::corpus::{shared, unpacked};
use retrial::app::catalog;
use retrial_recipe::model::{JudgeRules, Mode};
use retrial_results::evidence::folder;
use retrial_results::evidence::tree::{self, JudgeContext, JudgedBenchmark};
use retrial_results::verdict::{Outcome, ResultVerdict, RuleCheck};

/// Results that the checker rejected and we do not, by a part of their paths: how many, and why.
const EXPLAINED: [(&str, usize, &str); 4] = [
    (
        "/stable-diffusion-xl/",
        66,
        "it asks for the accuracy run's images beside accuracy.txt: a file that is no evidence of a figure",
    ),
    (
        "/H200-SXM-141GBx8_TRT_MaxQ/",
        13,
        "it asks for the power meter's logs, which no figure of these comes from",
    ),
    ("open/NeuralMagic/", 30, "it asks for a folder code/BENCHMARK, which is not in the corpus"),
    (
        "/1-node-2S-EMR-PyTorch/bert-99/",
        2,
        "it asks for TEST01's log of accuracy, which is not in the corpus",
    ),
];

fn judge(root: &Path, round: &str) -> Vec<JudgedBenchmark> {
    let rules = JudgeRules::default();
    let judge_context = JudgeContext {
        round: catalog::built_in_rounds().get("mlperf-inference", round),
        published: None,
        rules: &rules,
        require_accuracy: false,
    };
    let submissions = tree::find_submission_trees(root).unwrap().expect("a submission tree");
    let benchmarks = submissions.benchmarks.iter();
    benchmarks.map(|benchmark| tree::judge_benchmark(benchmark, &judge_context)).collect()
}

/// The results of one mode, by the folder of their scenario.
fn by_scenario(judged: &[JudgedBenchmark], mode: Mode) -> BTreeMap<String, &ResultVerdict> {
    let results = judged.iter().flat_map(|run| &run.verdict.results);
    results
        .filter(|result| result.mode == mode)
        .map(|result| {
            let end = if mode == Mode::Performance { "/performance/run_1" } else { "/accuracy" };
            (result.path.strip_suffix(end).unwrap().to_owned(), result)
        })
        .collect()
}

/// The violated rules.
fn broken(result: &ResultVerdict) -> Vec<&RuleCheck> {
    let broken = result.rules.iter().filter(|rule| !rule.passed);
    broken.filter(|rule| !is_for_want_of_accuracies(rule)).collect()
}

/// TEST01 whose answers differ passes by the accuracies of both runs, which the corpus lacks.
fn is_for_want_of_accuracies(rule: &RuleCheck) -> bool {
    rule.rule == "TEST01"
        && rule.measured.contains("baseline_accuracy.txt and compliance_accuracy.txt are missing")
}

#[test]
#[ignore = "needs the corpus"]
fn every_official_checker_row_is_reproduced() {
    let rows = shared("official-checker-v4.1.csv");
    let corpus = unpacked("mlperf-inference-results-v4.1.tar.xz");
    let root = corpus.path().join("v4.1");
    let judged = judge(&root, "v4.1");
    let performance = by_scenario(&judged, Mode::Performance);
    let accuracy = by_scenario(&judged, Mode::Accuracy);
    assert_eq!((performance.len(), accuracy.len()), (937, 937));

    let mut table = csv::Reader::from_path(rows).unwrap();
    let heads = table.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let (mut equal, mut rounded, mut power) = (0, 0, 0);
    let mut accepted = Vec::new();
    for row in table.records() {
        let row = row.unwrap();
        let field = |name: &str| &row[column(name)];
        if matches!(field("Units"), "Watts" | "millijoules") {
            // A power meter's figure: none of LoadGen's.
            power += 1;
            continue;
        }
        let location = field("Location");
        accepted.push(location.to_owned());
        let slack = half_digit(&root, performance[location]);
        let result = field("Result");
        is_official(location, performance[location], result, slack);
        match slack {
            Some(_) => rounded += 1,
            None => equal += 1,
        }
        is_official(location, accuracy[location], field("Accuracy"), None);
    }
    println!(
        "figures: {equal} rows equal by the detail log, {rounded} by the summary to its last digit, \
         {power} rows of power meters left out; accuracy: {} rows equal",
        equal + rounded
    );
    assert_eq!((equal, rounded, power), (737, 89, 16));

    let mut explained = BTreeMap::new();
    for location in performance.keys().filter(|location| !accepted.contains(location)) {
        let ours = broken(performance[location]).len() + broken(accuracy[location]).len();
        let reason = EXPLAINED.iter().find(|(part, ..)| location.contains(part));
        let (part, ..) = reason.unwrap_or_else(|| panic!("{location}: rejected, and not by us"));
        *explained.entry(*part).or_insert(0) += usize::from(ours == 0);
    }
    for (part, count, reason) in EXPLAINED {
        println!("{count} results of {part} that only the checker rejects: {reason}");
        assert_eq!(explained.remove(part), Some(count), "{part}");
    }
    let rejected = accepted.iter().flat_map(|location| {
        let both = [performance[location], accuracy[location]];
        both.map(|result| (location, broken(result)))
    });
    let without = performance.values().filter(|result| {
        let mut rules = result.rules.iter();
        rules.any(|rule| !rule.passed && is_for_want_of_accuracies(rule))
    });
    assert_eq!(without.count(), 54, "TEST01 without the accuracies of its runs");
    let rejected: Vec<_> = rejected.filter(|(_, rules)| !rules.is_empty()).collect();
    assert!(rejected.is_empty(), "only we reject these: {rejected:#?}");
}

/// A figure equals the checker's, or differs by less than the summary's last digit.
fn is_official(location: &str, result: &ResultVerdict, official: &str, slack: Option<f64>) {
    let figure = &result.figures[result.deciding.as_ref().unwrap()];
    let official: f64 = official.parse().unwrap();
    assert!(
        (figure.value - official).abs() <= 2e-5 * official + slack.unwrap_or_default(),
        "{location}: {} is not {official}",
        figure.value
    );
}

/// Half of the summary's last printed digit, where there is no detail log to read more of.
fn half_digit(root: &Path, result: &ResultVerdict) -> Option<f64> {
    let logs = folder::read_logs(root, Path::new(&result.path));
    let figure = logs.run.resolve_figure(result.deciding.as_ref()?)?;
    logs.run.detail.is_none().then_some(figure.half_digit)
}

/// A published Server result of Llama 2 70B, as a tree of its own.
const SERVER: &str = "closed/AMD/results/8xMI300X_2xEPYC-TURIN/llama2-70b-99/Server";

/// Copies what belongs to one scenario.
fn one_result(corpus: &Path) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let compliance = SERVER.replace("/results/", "/compliance/");
    let systems = "closed/AMD/systems".to_owned();
    for folder in [SERVER.to_owned(), compliance, systems] {
        copy(&corpus.join(&folder), &tree.path().join(&folder));
    }
    tree
}

/// Replaces a text that must be in a log of the performance run.
fn edit(scenario: &Path, log: &str, from: &str, to: &str) {
    let path: PathBuf = scenario.join("performance/run_1").join(log);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{log} has no {from}");
    fs::write(path, text.replace(from, to)).unwrap();
}

const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";

/// The performance result of the one scenario in a tree.
fn performance(tree: &Path, round: &str) -> ResultVerdict {
    let judged = judge(tree, round);
    let results = judged.iter().flat_map(|judged| &judged.verdict.results);
    let mut results = results.filter(|result| result.mode == Mode::Performance);
    let first = results.next().unwrap().clone();
    assert!(results.next().is_none());
    first
}

#[test]
#[ignore = "needs the corpus"]
fn errors_missed_by_the_official_checker_are_found() {
    let corpus = unpacked("mlperf-inference-results-v4.1.tar.xz");
    let corpus = corpus.path().join("v4.1");
    invalid(&corpus);
    errors(&corpus);
    interactive(&corpus);
}

/// It passes a language model's result regardless of LoadGen's own validity.
fn invalid(corpus: &Path) {
    let tree = one_result(corpus);
    let whole = performance(tree.path(), "v4.1");
    assert!(whole.valid, "{}", whole.sentence);

    let scenario = tree.path().join(SERVER);
    edit(&scenario, SUMMARY, "Result is : VALID", "Result is : INVALID");
    edit(&scenario, SUMMARY, "Min duration satisfied : Yes", "Min duration satisfied : NO");
    edit(
        &scenario,
        DETAIL,
        "\"result_validity\", \"value\": \"VALID\"",
        "\"result_validity\", \"value\": \"INVALID\"",
    );
    edit(
        &scenario,
        DETAIL,
        "\"result_min_duration_met\", \"value\": true",
        "\"result_min_duration_met\", \"value\": false",
    );
    let result = performance(tree.path(), "v4.1");
    assert_eq!((result.valid, result.outcome), (false, Outcome::Invalid));
    assert!(
        result.sentence.contains("INVALID, not satisfied: min duration"),
        "{}",
        result.sentence
    );
}

/// It ignores error lines unless configured otherwise.
fn errors(corpus: &Path) {
    let tree = one_result(corpus);
    let scenario = tree.path().join(SERVER);
    edit(
        &scenario,
        SUMMARY,
        "No errors encountered during test.",
        "1 ERROR encountered. See detailed log.",
    );
    let line = ":::MLLOG {\"key\": \"error_runtime\", \"value\": \"Ending early: Too many outstanding queries.\", \
        \"time_ms\": 600000.0, \"namespace\": \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", \
        \"metadata\": {\"is_error\": true, \"is_warning\": false, \"file\": \"loadgen.cc\", \"line_no\": 1, \"pid\": 1, \"tid\": 1}}\n";
    let path = scenario.join("performance/run_1").join(DETAIL);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text + line).unwrap();
    let result = performance(tree.path(), "v4.1");
    assert_eq!((result.valid, result.outcome), (false, Outcome::Invalid));
    assert!(result.sentence.contains("Too many outstanding queries"), "{}", result.sentence);
}

/// It judges Interactive by Server's limits.
fn interactive(corpus: &Path) {
    let tree = one_result(corpus);
    let server = tree.path().join(SERVER);
    // The same run as one of v5.1, by its seeds: it keeps Server's limits.
    let seeds = [
        ("3066443479025735752", "1780908523862526354"),
        ("10688027786191513374", "14771362308971278857"),
        ("14962580496156340209", "18209322760996052031"),
    ];
    for (old, new) in seeds {
        edit(&server, SUMMARY, old, new);
        edit(&server, DETAIL, old, new);
    }
    let ok = |result: &ResultVerdict, rule: &str| -> Vec<bool> {
        let rules = result.rules.iter();
        rules.filter(|check| check.rule.contains(rule)).map(|check| check.passed).collect()
    };
    let result = performance(tree.path(), "v5.1");
    assert_eq!(ok(&result, "first token,"), [true], "{:#?}", result.rules);
    // In a folder of Interactive, whose log says `Server` too, it does not.
    fs::rename(&server, server.with_file_name("Interactive")).unwrap();
    let compliance = tree.path().join(SERVER.replace("/results/", "/compliance/"));
    fs::rename(&compliance, compliance.with_file_name("Interactive")).unwrap();
    let result = performance(tree.path(), "v5.1");
    assert_eq!((result.scenario.as_str(), result.valid), ("Interactive", false));
    assert_eq!(ok(&result, "first token,"), [false], "{:#?}", result.rules);
}
