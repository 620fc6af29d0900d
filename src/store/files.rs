//! Files that a crash cannot leave half written, and directories for their owner alone.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use super::error::StoreError;

/// Writes a file beside its place, syncs it and renames it.
///
/// # Errors
/// Where the disk takes no more.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = File::create(&part).map_err(StoreError::io("create", &part))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("write", &part))?;
    fs::rename(&part, path).map_err(StoreError::io("rename", path))
}

/// Gives a directory its name once everything in it is on the disk: after a crash of the host,
/// too, what has the name is whole.
///
/// # Errors
/// Where the disk takes no more.
pub fn rename_synced(part: &Path, target: &Path) -> Result<(), StoreError> {
    let sync = |path: &Path, all: bool| {
        let directory = File::open(path).map_err(StoreError::io("open", path))?;
        if all {
            rustix::fs::syncfs(&directory).map_err(StoreError::io("sync", path))
        } else {
            directory.sync_all().map_err(StoreError::io("sync", path))
        }
    };
    sync(part, true)?;
    fs::rename(part, target).map_err(StoreError::io("rename", part))?;
    target.parent().map_or(Ok(()), |parent| sync(parent, false))
}

/// The mode of directories that only their owner can enter.
pub const PRIVATE: u32 = 0o700;

/// Creates a directory that only its owner can enter, and such parents, where they do not exist.
///
/// # Errors
/// If it cannot be created.
pub fn create_private(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE)
        .create(path)
        .map_err(StoreError::io("create", path))
}

/// Gives a file or directory rights, whatever the process's umask is.
///
/// # Errors
/// Where it is not ours.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(StoreError::io("change the permissions of", path))
}

/// Removes a directory and what is in it; one that is not there is no error.
///
/// # Errors
/// Where something in it belongs to somebody else.
pub fn remove_directory(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
