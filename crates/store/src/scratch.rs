//! A directory on this machine's own disk for files that its engine must access while a run is executed: a
//! shared file system may deny root access to its users' directories.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files::{PRIVATE_DIRECTORY_MODE, create_private_directory, set_mode};
use super::run_directory::RunDirectory;

/// The default location of such directories: `/tmp/retrial-UID`.
pub fn default_location() -> PathBuf {
    PathBuf::from(format!("/tmp/retrial-{}", rustix::process::getuid().as_raw()))
}

/// Creates the directory of a run below `scratch`, which only this user can access.
///
/// # Errors
/// If it cannot be created, or `scratch` is another user's.
pub fn create_run_scratch(scratch: &Path, run: &RunDirectory) -> Result<RunDirectory, StoreError> {
    create_private_directory(scratch)?;
    let status = fs::symlink_metadata(scratch).map_err(StoreError::io("open", scratch))?;
    if !status.is_dir() || status.uid() != rustix::process::getuid().as_raw() {
        let reason = "it belongs to another user; choose another directory: `scratch:` of the site, or RETRIAL_SCRATCH";
        return Err(StoreError::unusable(scratch, reason));
    }
    set_mode(scratch, PRIVATE_DIRECTORY_MODE)?;
    let local = RunDirectory::from_path(scratch.join(run.id()));
    create_private_directory(local.path())?;
    local.create_layout()?;
    Ok(local)
}
