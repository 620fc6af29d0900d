//! The results of an endpoint in a scenario's folder, and as trials of a measurement.

mod measurement;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;
use serde_json::{Map, Value};

use super::folder;
pub use measurement::{add_endpoint_evidence, read_trial};
use retrial_mlperf::endpoints::{
    EndpointAccuracy, EndpointPerformance, ParseConfigError, parse_config,
};
use retrial_mlperf::submission::{ParseObjectError, parse_object};
use retrial_mlperf::submission_layout::{ACCURACY_FOLDER, PERFORMANCE_RUN};
use retrial_store::{StoreError, open};

/// The file names of a scenario's configuration; one of them exists.
pub const CONFIG_FILES: [&str; 2] = ["config.yaml", "config.yml"];
/// The results of its performance run.
pub const SUMMARY_FILE: &str = "performance/result_summary.json";
/// The results of its accuracy run.
pub const ACCURACY_RESULTS_FILE: &str = "accuracy/accuracy_results.json";

/// The largest of these files that is read: real ones have 15 kB.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// The reason why a file of an endpoint's results cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointFileError {
    /// Missing, no regular file, or too large.
    #[error("{name}: {}", source.reason_without_path())]
    Store {
        /// Its path below the scenario's folder.
        name: &'static str,
        source: StoreError,
    },
    /// No configuration in YAML.
    #[error("{name}: {source}")]
    Config {
        /// Its path below the scenario's folder.
        name: &'static str,
        source: ParseConfigError,
    },
    /// No JSON object.
    #[error("{name}: {source}")]
    Results {
        /// Its path below the scenario's folder.
        name: &'static str,
        source: ParseObjectError,
    },
}

/// Returns whether a folder holds results of an endpoint, and not of `LoadGen`: accuracy scripts leave an
/// `accuracy_results.json` next to `LoadGen`'s logs, too.
pub fn is_endpoint_result(folder: &Path) -> bool {
    let has_logs = ["", PERFORMANCE_RUN, ACCURACY_FOLDER].iter().any(|run| {
        let logs = [folder::SUMMARY, folder::DETAIL].map(|log| folder.join(run).join(log));
        logs.iter().any(|log| std::fs::symlink_metadata(log).is_ok())
    });
    !has_logs && has_results(folder)
}

/// Returns the folders with results of an endpoint in or below a directory, sorted.
pub fn find_result_folders(directory: &Path) -> Vec<PathBuf> {
    let runs =
        folder::find_folders_with(directory, folder::MAX_SEARCH_DEPTH, is_output_name).into_iter();
    let run_folders = runs.filter_map(|run| Some(run.parent()?.to_owned()));
    let folders = run_folders.dedup();
    folders.filter(|relative| is_endpoint_result(&directory.join(relative))).collect()
}

fn is_output_name(name: &OsStr) -> bool {
    let outputs = [SUMMARY_FILE, ACCURACY_RESULTS_FILE].map(Path::new);
    outputs.iter().any(|file| file.file_name() == Some(name))
}

/// Returns whether a folder holds results of an endpoint.
pub fn has_results(folder: &Path) -> bool {
    let is_file = |name: &str| {
        std::fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| metadata.is_file())
    };
    is_file(SUMMARY_FILE) || is_file(ACCURACY_RESULTS_FILE)
}

/// Returns the performance run of a scenario's folder.
///
/// # Errors
/// A file cannot be read.
pub fn read_performance(folder: &Path) -> Result<EndpointPerformance, EndpointFileError> {
    let configured = read_config(folder)?;
    let summary = read_json_object(folder, SUMMARY_FILE)?;
    Ok(EndpointPerformance::from_config_and_summary(&configured, &summary))
}

/// Returns the accuracy run of a scenario's folder.
///
/// # Errors
/// A file cannot be read.
pub fn read_accuracy(folder: &Path) -> Result<EndpointAccuracy, EndpointFileError> {
    read_json_object(folder, ACCURACY_RESULTS_FILE)
        .map(|results| EndpointAccuracy::from_json(&results))
}

/// The error is that of the name that the rules use.
fn read_config(folder: &Path) -> Result<Map<String, Value>, EndpointFileError> {
    let [usual, other] = CONFIG_FILES;
    let (name, text) = match read_text(folder, usual) {
        Ok(text) => (usual, text),
        Err(missing) => match read_text(folder, other) {
            Ok(text) => (other, text),
            Err(_) => return Err(missing),
        },
    };
    parse_config(&text).map_err(|source| EndpointFileError::Config { name, source })
}

fn read_json_object(
    folder: &Path,
    name: &'static str,
) -> Result<Map<String, Value>, EndpointFileError> {
    let text = read_text(folder, name)?;
    parse_object(&text).map_err(|source| EndpointFileError::Results { name, source })
}

fn read_text(folder: &Path, name: &'static str) -> Result<String, EndpointFileError> {
    open::read_text_beneath(folder, Path::new(name), MAX_FILE_BYTES)
        .map_err(|source| EndpointFileError::Store { name, source })
}
