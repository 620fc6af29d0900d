//! The files of one result: `LoadGen`'s logs as they are, accuracy with its hash, an audit's test.

use itertools::Itertools as _;

use super::builder::{ExportBuilder, trial_file_origin};
use super::choose::RepresentativeTrial;
use super::model::TreeFileContent;
use retrial_document::measures::format;
use retrial_results::evidence::folder::SUMMARY;

/// The log from which `MLCommons` publishes.
const DETAIL_LOG: &str = "mlperf_log_detail.txt";
/// LoadGen's log of the system's answers.
const ACCURACY_LOG: &str = "mlperf_log_accuracy.json";
/// The output of the accuracy script.
const ACCURACY_TEXT: &str = "accuracy.txt";
/// The largest file that the official checker accepts.
const MAX_LOG_BYTES: u64 = 50 << 20;
/// Folders of samples that belong to an accuracy log (Stable Diffusion XL, Wan).
const SAMPLE_FOLDERS: [&str; 2] = ["images/", "videos/"];

impl ExportBuilder<'_> {
    /// Adds a log as it is, or reports that it is missing or too large.
    fn add_log(&mut self, chosen: &RepresentativeTrial<'_>, name: &str, folder: &str) {
        let Some(size) = chosen.files.files.get(name) else {
            self.add_missing(folder, name, missing_log_fix(chosen));
            return;
        };
        if *size > MAX_LOG_BYTES {
            let size = format::format_bytes(*size);
            let item = format!("{name} of at most 50 MiB (it has {size})");
            let fix = "the checker accepts no larger file: log less, or for a shorter time";
            self.add_missing(folder, item, fix);
        }
        let content = TreeFileContent::Copy(trial_file_origin(chosen, name));
        self.add_file(format!("{folder}/{name}"), content);
    }

    /// Adds LoadGen's logs of a performance run.
    pub fn add_performance_logs(&mut self, chosen: &RepresentativeTrial<'_>, folder: &str) {
        self.add_log(chosen, SUMMARY, folder);
        self.add_log(chosen, DETAIL_LOG, folder);
    }

    /// Adds the logs of an accuracy run, and the output of the accuracy script.
    pub fn add_accuracy_files(&mut self, chosen: &RepresentativeTrial<'_>, folder: &str) {
        self.add_performance_logs(chosen, folder);
        if !chosen.files.files.contains_key(ACCURACY_LOG) {
            self.add_missing(folder, ACCURACY_LOG, missing_log_fix(chosen));
            return;
        }
        let log = trial_file_origin(chosen, ACCURACY_LOG);
        self.add_file(format!("{folder}/{ACCURACY_LOG}"), TreeFileContent::Truncated(log.clone()));
        let printed = chosen.files.printed.as_ref();
        let printed_accuracy = printed.filter(|printed| !printed.text.trim().is_empty());
        let path = format!("{folder}/{ACCURACY_TEXT}");
        let text = chosen.files.accuracy.as_ref().or_else(|| {
            let (printed, run) = (printed_accuracy?, &chosen.run.id);
            let note = format!("{path}: printed by step {} of run {run}", printed.step);
            self.export.notes.push(note);
            Some(&printed.text)
        });
        if let Some(text) = text.cloned() {
            self.add_file(path, TreeFileContent::Hashed { text, log });
        } else {
            let fix = "give the recipe's accuracy mode a `check:`: the benchmark's accuracy script";
            self.add_missing(folder, ACCURACY_TEXT, fix);
        }
        for name in chosen.files.files.keys() {
            if SAMPLE_FOLDERS.iter().any(|samples| name.starts_with(samples)) {
                self.add_log(chosen, name, folder);
            }
        }
    }

    /// Adds the files of an audit's test, which are `below` the folder of the trial.
    pub fn add_compliance_files(
        &mut self,
        chosen: &RepresentativeTrial<'_>,
        below: &str,
        test: &str,
        folder: &str,
    ) {
        let required = required_test_files(test);
        for name in required.iter().chain(&TEST_FILES).unique() {
            let joined_path = format!("{below}/{name}");
            let source = joined_path.trim_start_matches('/');
            if chosen.files.files.contains_key(source) {
                let log = trial_file_origin(chosen, source);
                let content = if name.ends_with(ACCURACY_LOG) {
                    TreeFileContent::Truncated(log)
                } else {
                    TreeFileContent::Copy(log)
                };
                self.add_file(format!("{folder}/{name}"), content);
            } else if required.contains(name) {
                let run = &chosen.run.id;
                let fix = format!("run {run} has none in its {test}: the test's scripts write it");
                self.add_missing(folder, *name, fix);
            }
        }
    }
}

fn missing_log_fix(chosen: &RepresentativeTrial<'_>) -> String {
    let run = &chosen.run.id;
    format!("run {run} has none: let LoadGen write it where `results:` collects")
}

/// The files that the official checker requires of a test.
fn required_test_files(test: &str) -> &'static [&'static str] {
    match test {
        "TEST01" => &[
            "verify_accuracy.txt",
            "verify_performance.txt",
            "accuracy/mlperf_log_accuracy.json",
            "accuracy/accuracy.txt",
            "performance/run_1/mlperf_log_summary.txt",
            "performance/run_1/mlperf_log_detail.txt",
        ],
        "TEST04" | "TEST05" => &[
            "verify_performance.txt",
            "performance/run_1/mlperf_log_summary.txt",
            "performance/run_1/mlperf_log_detail.txt",
        ],
        "TEST09" => &["verify_output_len.txt"],
        _ => &["verify_accuracy.txt"],
    }
}

/// The files that any test may have.
const TEST_FILES: [&str; 8] = [
    "verify_accuracy.txt",
    "verify_performance.txt",
    "accuracy/accuracy.txt",
    "accuracy/mlperf_log_accuracy.json",
    "accuracy/baseline_accuracy.txt",
    "accuracy/compliance_accuracy.txt",
    "performance/run_1/mlperf_log_summary.txt",
    "performance/run_1/mlperf_log_detail.txt",
];
