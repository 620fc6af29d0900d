//! The files of a submission that have no figure and are required anyway. A missing one is reported for the
//! benchmark: the evidence of the others still counts.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::submission::ScenarioFolder;
use crate::evidence::folder::{entry_names, is_not_found};
use crate::verdict::RuleCheck;
use retrial_document::measures::format;
use retrial_mlperf::rounds::SubmissionLayout;
use retrial_mlperf::submission::{self, ParseObjectError};
use retrial_mlperf::submission_layout::MEASUREMENTS_FILE;
use retrial_store::{StoreError, open};

/// The largest description that is read: real ones have 1 to 3 kB.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The most missing files that are named.
const MAX_NAMED_FILES: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile(pub PathBuf);

/// Returns the files next to a scenario's logs: how it was configured and run, and what was measured. An
/// endpoint is configured by `config.yaml`, and has no `user.conf` of LoadGen.
pub(crate) fn check_place_files(
    place: &ScenarioFolder,
    of_endpoint: bool,
) -> (Vec<MissingFile>, Vec<RuleCheck>) {
    let folder = place.measurements_path();
    let at = place.submitter.root.join(&folder);
    let names: Vec<String> = entry_names(&at, |_| true).collect();
    let mut missing = Vec::new();
    let settings = (!of_endpoint).then_some("user.conf");
    for name in settings.into_iter().chain(["README.md"]) {
        if !names.iter().any(|there| there == name) {
            missing.push(MissingFile(folder.join(name)));
        }
    }
    let ours = |name: &&String| {
        let is_description =
            name.starts_with(&place.system) && Path::new(name).extension() == Some("json".as_ref());
        name.as_str() == MEASUREMENTS_FILE
            || place.submitter.layout == SubmissionLayout::Separate && is_description
    };
    let Some(name) = names.iter().find(ours) else {
        missing.push(MissingFile(folder.join(MEASUREMENTS_FILE)));
        return (missing, Vec::new());
    };
    let file = folder.join(name);
    let checks = match read_object(&place.submitter.root, &file) {
        Ok(object) => submission::check_measurements(&object),
        Err(error) => {
            vec![RuleCheck::violation("measurements", error.to_string(), "a JSON object")]
        }
    };
    let with_folder = |mut check: RuleCheck| {
        check.rule = format!("{}: {}", place.folder, check.rule);
        check
    };
    (missing, checks.into_iter().map(with_folder).collect())
}

/// The reason why a description cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    #[error("missing")]
    Missing,
    /// No regular file, or too large.
    #[error(transparent)]
    Store(StoreError),
    /// No JSON object.
    #[error(transparent)]
    Parse(#[from] ParseObjectError),
}

/// Reads a JSON object that describes a system or a measurement.
///
/// # Errors
/// It is missing, or cannot be read as one.
pub(crate) fn read_object(
    root: &Path,
    file: &Path,
) -> Result<Map<String, Value>, DescriptionError> {
    let text = open::read_text_beneath(root, file, MAX_FILE_BYTES).map_err(|error| {
        if is_not_found(&error) {
            DescriptionError::Missing
        } else {
            DescriptionError::Store(error)
        }
    })?;
    Ok(submission::parse_object(&text)?)
}

/// Reads a system's description.
///
/// # Errors
/// The rule that it violates: where it is missing, or cannot be read as one.
pub(crate) fn read_system_description(
    root: &Path,
    file: &Path,
) -> Result<Map<String, Value>, Box<RuleCheck>> {
    let required = "a description of the system";
    let failed = |error: DescriptionError| {
        Box::new(RuleCheck::violation(file.display().to_string(), error.to_string(), required))
    };
    read_object(root, file).map_err(failed)
}

/// Checks that no file of a benchmark is missing, as one rule.
pub(crate) fn check_missing_files(missing: &[MissingFile], benchmark: &Path) -> Option<RuleCheck> {
    let relative_names = missing.iter().map(|MissingFile(path)| {
        let below = path.strip_prefix(benchmark).unwrap_or(path);
        below.display().to_string()
    });
    let names: Vec<String> = relative_names.collect();
    (!names.is_empty()).then(|| {
        let measured = format!("missing: {}", format::join_first(&names, MAX_NAMED_FILES));
        RuleCheck::violation("files", measured, "every file of a submission")
    })
}

/// Adds the files of a run that are not there, unless none is: there is no result then, which is a rule of its own.
pub(crate) fn add_missing_files(
    root: &Path,
    folder: &Path,
    names: &[&str],
    missing: &mut Vec<MissingFile>,
) {
    let is_file = |name: &&&str| {
        let metadata = std::fs::symlink_metadata(root.join(folder).join(name));
        metadata.is_ok_and(|metadata| metadata.is_file())
    };
    let (there, absent): (Vec<&&str>, Vec<&&str>) = names.iter().partition(is_file);
    if !there.is_empty() {
        missing.extend(absent.into_iter().map(|name| MissingFile(folder.join(name))));
    }
}
