//! Reads JSON files of an unpacked bundle.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use retrial_bundle::canonical::{JsonFile, parse_canonical};
use retrial_store::open::read_text_beneath;
use retrial_store::{RunDirectory, StoreError};

/// The largest file that is read, bytes.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// The reason why a file of a bundle cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceFileError {
    /// Missing, no regular file, or too large.
    #[error("{name}: {}", source.reason_without_path())]
    Store {
        /// Its path below the run's directory.
        name: &'static str,
        source: StoreError,
    },
    /// Not the JSON that this version reads.
    #[error("{name}: {source}")]
    Json {
        /// Its path below the run's directory.
        name: &'static str,
        source: serde_json::Error,
    },
}

/// Reads a JSON file of a run.
///
/// # Errors
/// If it is missing, or not what the program reads.
pub fn read_canonical<T: Serialize + DeserializeOwned>(
    run: &RunDirectory,
    name: &'static str,
) -> Result<JsonFile<T>, EvidenceFileError> {
    let text = read_text_beneath(run.path(), Path::new(name), MAX_JSON_BYTES)
        .map_err(|source| EvidenceFileError::Store { name, source })?;
    let file = parse_canonical(&text).map_err(|source| EvidenceFileError::Json { name, source })?;
    Ok(JsonFile { problem: file.problem.map(|problem| format!("{name}: {problem}")), ..file })
}
