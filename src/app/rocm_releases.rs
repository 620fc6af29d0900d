//! The user's own table of ROCm's releases: `rocm-releases.yaml` next to `config.yaml`.

use std::io::ErrorKind;
use std::path::Path;

use crate::app::failure::Failure;
use retrial_rocm::ReleaseTable;
use retrial_store::StoreError;

const FILE: &str = "rocm-releases.yaml";

/// Returns the built-in table with the user's additions; none where the directory has no such file.
///
/// # Errors
/// The file cannot be read, or is no table of releases.
pub fn read_rocm_releases(directory: &Path) -> Result<Option<ReleaseTable>, Failure> {
    let path = directory.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(StoreError::io("read", &path)(error).into()),
    };
    let table = ReleaseTable::with_additions(&text).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Failure::usage(message)
            .with_help("docs/hosts.md, \"ROCm's release\", has an example of this file")
    })?;
    Ok(Some(table))
}
