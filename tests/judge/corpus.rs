//! Every published summary of round v4.1, and 45 runs of our own, against what is known of them.
//!
//! The corpora are next to the repository in `../shared/corpus` and are too large to be part of it;
//! without them the tests say so and pass.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::corpus::unpacked;
use retrial_mlperf::loadgen::summary::Completeness;
use retrial_mlperf::loadgen::{
    LoadgenRun, ResultStatus, TestMode, TestScenario, Validity, detail, published_metric, summary,
};

const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";

/// Every directory below `root` that holds a summary.
fn results(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        if directory.join(SUMMARY).is_file() {
            found.push(directory.clone());
        }
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        open.extend(
            entries.filter(|entry| entry.file_type().unwrap().is_dir()).map(|entry| entry.path()),
        );
    }
    found.sort();
    found
}

fn read(directory: &Path) -> LoadgenRun {
    let text = fs::read(directory.join(SUMMARY)).unwrap();
    let summary = summary::parse_summary_bytes(&text);
    let summary = summary.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let detail =
        fs::read(directory.join(DETAIL)).ok().map(|bytes| detail::parse_detail_log(&bytes));
    LoadgenRun { summary: Some(summary), detail }
}

#[test]
#[ignore = "needs the corpus"]
fn published_v41_summaries_agree_with_their_detail_logs() {
    let corpus = unpacked("mlperf-inference-results-v4.1.tar.xz");
    let directories = results(corpus.path());
    assert_eq!(directories.len(), 3217);
    let (mut performance, mut misplaced, mut pairs, mut compared, mut rounded) = (0, 0, 0, 0, 0);
    for directory in &directories {
        let shown = directory.strip_prefix(corpus.path()).unwrap().display();
        let run = read(directory);
        let summary = run.summary.as_ref().unwrap();
        assert_eq!(summary.completeness, Completeness::Whole, "{shown}: {:?}", summary.missing);
        assert!(summary.unread.is_empty(), "{shown}: {:?}", summary.unread);
        let validity = run.validity();
        assert_eq!(validity.verdict, Validity::Valid, "{shown}: {:?}", validity.reasons);
        if run.mode() == Some(TestMode::Performance) {
            performance += 1;
            misplaced += i32::from(directory.ends_with("accuracy"));
            let tokens = summary.figures.keys().any(|name| name.ends_with("tokens_per_second"));
            let metric = published_metric(run.scenario().unwrap(), tokens);
            assert!(run.figure(metric).is_some(), "{shown}: no {metric}");
        }
        let Some(detail) = &run.detail else {
            continue;
        };
        pairs += 1;
        let (same, different) = agree(summary, detail, &shown.to_string());
        compared += same + different;
        rounded += different;
        if run.mode() == Some(TestMode::Performance) {
            assert_eq!(
                summary.early_stopping.nonempty_blocks().count(),
                detail_blocks(summary, detail),
                "{shown}"
            );
        }
    }
    println!(
        "{performance} performance summaries, {pairs} detail logs, {compared} figures compared, {rounded} differ by rounding"
    );
    // Two performance summaries of v4.1 are in folders of accuracy: the log decides the mode.
    assert_eq!((performance, misplaced, pairs), (2281, 2, 2641));
}

/// Asserts that a summary agrees with its detail log. Returns how many figures are equal, and how many differ by
/// rounding.
fn agree(
    summary: &summary::LoadgenSummary,
    detail: &retrial_mlperf::loadgen::LoadgenDetail,
    shown: &str,
) -> (i32, i32) {
    let (mut same, mut different) = (0, 0);
    assert_eq!((detail.malformed, detail.foreign, detail.tests), (0, 0, 1), "{shown}");
    assert!(detail.is_complete() && detail.started_at.is_some(), "{shown}");
    assert!(detail.measured_ms.is_some_and(|ms| ms >= 0), "{shown}");
    assert_eq!(
        (summary.errors, summary.warnings),
        (Some(detail.errors), Some(detail.warnings)),
        "{shown}"
    );
    for (name, figure) in &summary.figures {
        let is_estimate = name.contains("early_stopping_p");
        let Some(logged) = detail.figures.get(name) else {
            assert!(is_estimate, "{shown}: {name} is not in the detail log");
            continue;
        };
        let difference = (figure.value - logged.value).abs();
        assert!(difference <= figure.half_digit + 2e-5 * logged.value.abs(), "{shown}: {name}");
        if difference > 0.0 {
            different += 1;
        } else {
            same += 1;
        }
    }
    (same, different)
}

/// The early-stopping blocks that both logs have, with the same text.
fn detail_blocks(
    summary: &summary::LoadgenSummary,
    detail: &retrial_mlperf::loadgen::LoadgenDetail,
) -> usize {
    let of_summary: BTreeMap<_, _> = summary.early_stopping.nonempty_blocks().collect();
    detail
        .early_stopping
        .nonempty_blocks()
        .filter(|(name, stop)| {
            of_summary.get(name).is_some_and(|ours| {
                ours.estimates == stop.estimates && ours.successful == stop.successful
            })
        })
        .count()
}

/// The last line of each case: two cases were run twice, and their files are the second run's.
fn run_log(text: &str) -> BTreeMap<String, (Option<ResultStatus>, u64, u64)> {
    let mut cases = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains(" rc=")) {
        let case = line.split_whitespace().next().unwrap();
        let sentences: Vec<&str> = line.split('\'').skip(1).step_by(2).collect();
        let count = |phrase: &str| {
            let sentence = sentences.iter().find(|sentence| sentence.contains(phrase)).unwrap();
            sentence.split(' ').next().unwrap().parse().unwrap_or(0)
        };
        let result = sentences.iter().find_map(|sentence| sentence.strip_prefix("Result is : "));
        let result = result.map(|word| word.parse::<ResultStatus>().unwrap());
        let errors = if sentences.iter().any(|sentence| sentence.starts_with("No errors")) {
            0
        } else {
            count("ERROR")
        };
        cases.insert(case.to_owned(), (result, count("warning"), errors));
    }
    cases
}

#[test]
#[ignore = "needs the corpus"]
fn our_own_runs_have_the_verdicts_of_their_run_log() {
    let samples = unpacked("loadgen-samples.tar.xz");
    let log = find(samples.path(), "RUN.log").expect("RUN.log");
    let root = log.parent().unwrap();
    let cases = run_log(&fs::read_to_string(&log).unwrap());
    let directories = results(root);
    assert_eq!((cases.len(), directories.len()), (45, 45));
    let (mut valid, mut invalid) = (0, 0);
    for directory in directories {
        let case = directory.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let (result, warnings, errors) = cases[&case];
        let run = read(&directory);
        let (summary, detail) = (run.summary.as_ref().unwrap(), run.detail.as_ref().unwrap());
        assert!(summary.unread.is_empty(), "{case}: {:?}", summary.unread);
        assert_eq!((summary.result, detail.result), (result, result), "{case}");
        assert_eq!((summary.warnings, summary.errors), (Some(warnings), Some(errors)), "{case}");
        assert_eq!((detail.warnings, detail.errors), (warnings, errors), "{case}");
        assert_eq!(run.figure_disagreements(), [], "{case}");
        let expected = if result == Some(ResultStatus::Invalid) || errors > 0 {
            invalid += 1;
            Validity::Invalid
        } else {
            valid += 1;
            Validity::Valid
        };
        let validity = run.validity();
        assert_eq!(validity.verdict, expected, "{case}: {validity:?}");
        assert_eq!(validity.reasons.is_empty(), expected == Validity::Valid, "{case}");
        let alone = LoadgenRun { detail: None, ..run.clone() };
        assert_eq!(alone.validity().verdict, expected, "{case}, by its summary alone");
        let alone = LoadgenRun { summary: None, ..run.clone() };
        assert_eq!(alone.validity().verdict, expected, "{case}, by its detail log alone");
        let word = case.split('/').next().unwrap().split('_').next().unwrap();
        if let Some(scenario) = TestScenario::from_word(word) {
            assert_eq!(run.scenario(), Some(scenario), "{case}");
        }
        let accuracy = case.ends_with("/accuracy");
        assert_eq!(run.mode() == Some(TestMode::Accuracy), accuracy, "{case}");
        assert!(run.started_at().is_some(), "{case}");
    }
    println!("{valid} valid, {invalid} invalid");
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let here = entries.iter().find(|path| path.file_name().is_some_and(|file| file == name));
    here.cloned()
        .or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}
