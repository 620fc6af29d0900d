//! The results of an endpoint in a scenario's folder, and as trials of a measurement.

mod measurement;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;
use serde_json::{Map, Value};

use super::folder;
pub use measurement::{add_to_evidence, read_trial};
use retrial_mlperf::endpoints::{EndpointAccuracy, EndpointPerformance, config};
use retrial_mlperf::submission::object;
use retrial_store::open;

/// The file names of a scenario's configuration; one of them exists.
pub const CONFIGS: [&str; 2] = ["config.yaml", "config.yml"];
/// The results of its performance run.
pub const SUMMARY: &str = "performance/result_summary.json";
/// The results of its accuracy run.
pub const ACCURACY: &str = "accuracy/accuracy_results.json";

/// The largest of these files that is read: real ones have 15 kB.
const CAP: u64 = 8 << 20;

/// Returns whether a folder holds results of an endpoint, and not of `LoadGen`: accuracy scripts leave an
/// `accuracy_results.json` next to `LoadGen`'s logs, too.
pub fn is_result(folder: &Path) -> bool {
    let has_logs = ["", "performance/run_1", "accuracy"].iter().any(|run| {
        let logs = [folder::SUMMARY, folder::DETAIL].map(|log| folder.join(run).join(log));
        logs.iter()
            .any(|log| std::fs::symlink_metadata(log).is_ok())
    });
    !has_logs && is_there(folder)
}

/// Returns the folders with results of an endpoint in or below a directory, sorted.
pub fn find_all(directory: &Path) -> Vec<PathBuf> {
    let runs = folder::find(directory, folder::DEEP, is_output).into_iter();
    let folders = runs.filter_map(|run| Some(run.parent()?.to_owned()));
    let folders = folders.dedup();
    folders
        .filter(|relative| is_result(&directory.join(relative)))
        .collect()
}

fn is_output(name: &OsStr) -> bool {
    let outputs = [SUMMARY, ACCURACY].map(Path::new);
    outputs.iter().any(|file| file.file_name() == Some(name))
}

/// Returns whether a folder holds results of an endpoint.
pub fn is_there(folder: &Path) -> bool {
    let is_file = |name: &str| {
        std::fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| metadata.is_file())
    };
    is_file(SUMMARY) || is_file(ACCURACY)
}

/// Returns the performance run of a scenario's folder.
///
/// # Errors
/// If a file cannot be read: the file, and why.
pub fn performance(folder: &Path) -> Result<EndpointPerformance, String> {
    let configured = configured(folder)?;
    let summary = json(folder, SUMMARY)?;
    Ok(EndpointPerformance::read(&configured, &summary))
}

/// Returns the accuracy run of a scenario's folder.
///
/// # Errors
/// If a file cannot be read: the file, and why.
pub fn accuracy(folder: &Path) -> Result<EndpointAccuracy, String> {
    json(folder, ACCURACY).map(|results| EndpointAccuracy::read(&results))
}

fn configured(folder: &Path) -> Result<Map<String, Value>, String> {
    let mut first_error = None;
    for name in CONFIGS {
        match open::read_text_beneath(folder, Path::new(name), CAP) {
            Ok(text) => return config(&text).map_err(|reason| format!("{name}: {reason}")),
            Err(error) => {
                drop(first_error.get_or_insert(format!("{name}: {}", error.reason_without_path())))
            }
        }
    }
    Err(first_error.unwrap_or_default())
}

fn json(folder: &Path, name: &str) -> Result<Map<String, Value>, String> {
    let text = open::read_text_beneath(folder, Path::new(name), CAP);
    let text = text.map_err(|error| format!("{name}: {}", error.reason_without_path()))?;
    object(&text).map_err(|reason| format!("{name}: {reason}"))
}
