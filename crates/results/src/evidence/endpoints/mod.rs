//! The results of an endpoint in a scenario's folder, and as a trial of a measurement.

mod trial;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;
use serde_json::{Map, Value};

use super::folder;
use retrial_mlperf::endpoints::{
    EndpointAccuracy, EndpointPerformance, ParseConfigError, parse_config,
};
use retrial_mlperf::rounds::InferenceRules;
use retrial_mlperf::submission::{ParseObjectError, parse_object};
use retrial_mlperf::submission_layout::{ACCURACY_FOLDER, PERFORMANCE_RUN};
use retrial_readings::Figure;
use retrial_store::{StoreError, open};
pub use trial::read_trial;

/// The file names of a scenario's configuration; one of them exists.
const CONFIG_FILES: [&str; 3] = ["config.yaml", "config.yml", "performance/run_1/config.yaml"];
/// The results of its performance run; some submitters have a folder of the run there, as LoadGen's logs do.
const SUMMARY_FILES: [&str; 2] =
    ["performance/result_summary.json", "performance/run_1/result_summary.json"];
/// The results of its accuracy run.
const ACCURACY_RESULTS_FILES: [&str; 2] =
    ["accuracy/accuracy_results.json", "accuracy/run_1/accuracy_results.json"];

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
    let above =
        runs.flat_map(|run| run.ancestors().skip(1).take(2).map(Path::to_owned).collect_vec());
    above.unique().filter(|relative| is_endpoint_result(&directory.join(relative))).collect()
}

fn is_output_name(name: &OsStr) -> bool {
    let mut outputs = SUMMARY_FILES.iter().chain(&ACCURACY_RESULTS_FILES).map(Path::new);
    outputs.any(|file| file.file_name() == Some(name))
}

/// Returns whether a folder holds results of an endpoint.
pub fn has_results(folder: &Path) -> bool {
    performance_file(folder).is_some() || accuracy_file(folder).is_some()
}

/// Returns the path of the results of a performance run below a scenario's folder.
pub(crate) fn performance_file(folder: &Path) -> Option<&'static str> {
    existing_file(folder, &SUMMARY_FILES)
}

/// Returns the path of the results of an accuracy run below a scenario's folder.
pub(crate) fn accuracy_file(folder: &Path) -> Option<&'static str> {
    existing_file(folder, &ACCURACY_RESULTS_FILES)
}

fn existing_file(folder: &Path, names: &[&'static str]) -> Option<&'static str> {
    let is_file = |name: &&&str| {
        std::fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| metadata.is_file())
    };
    names.iter().find(is_file).copied()
}

/// Returns the performance run of a scenario's folder.
///
/// # Errors
/// A file cannot be read.
pub fn read_performance(folder: &Path) -> Result<EndpointPerformance, EndpointFileError> {
    let configured = read_config(folder)?;
    let summary = read_json_object(folder, &SUMMARY_FILES)?;
    Ok(EndpointPerformance::from_config_and_summary(&configured, &summary))
}

/// Returns the accuracy run of a scenario's folder.
///
/// # Errors
/// A file cannot be read.
pub fn read_accuracy(folder: &Path) -> Result<EndpointAccuracy, EndpointFileError> {
    read_json_object(folder, &ACCURACY_RESULTS_FILES)
        .map(|results| EndpointAccuracy::from_json(&results))
}

/// Returns the figure by which a run is published by the rules of its round, with its name.
pub fn published_figure(
    run: &EndpointPerformance,
    rules: &InferenceRules,
) -> (String, Option<Figure>) {
    let metric = run.published_metric(&rules.metric).published_name();
    // Rates keep their value: what is published as queries is logged as samples.
    let unit = || rules.metric.unit.clone().into();
    let figure = run.resolve_figure(&metric).map(|figure| Figure { unit: unit(), ..figure });
    (metric, figure)
}

fn read_config(folder: &Path) -> Result<Map<String, Value>, EndpointFileError> {
    let (name, text) = read_text(folder, &CONFIG_FILES)?;
    parse_config(&text).map_err(|source| EndpointFileError::Config { name, source })
}

fn read_json_object(
    folder: &Path,
    names: &[&'static str],
) -> Result<Map<String, Value>, EndpointFileError> {
    let (name, text) = read_text(folder, names)?;
    parse_object(&text).map_err(|source| EndpointFileError::Results { name, source })
}

/// Reads the first of these files that exists. The error is that of the name that the rules use, which is the first.
fn read_text(
    folder: &Path,
    names: &[&'static str],
) -> Result<(&'static str, String), EndpointFileError> {
    let name = existing_file(folder, names).or(names.first().copied()).unwrap_or_default();
    open::read_text_beneath(folder, Path::new(name), MAX_FILE_BYTES)
        .map(|text| (name, text))
        .map_err(|source| EndpointFileError::Store { name, source })
}
