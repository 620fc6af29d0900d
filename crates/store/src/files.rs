//! Atomic file writes, and directories that only their owner can access.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::StoreError;

/// The directory of a file: `.` for a bare name.
pub fn parent_directory(file: &Path) -> &Path {
    let stated_parent = file.parent();
    let parent = stated_parent.filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Writes a temporary file next to the target, syncs it and renames it.
///
/// # Errors
/// If the disk is full.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_synced(&part_path(path), bytes)?;
    rename_part(path)
}

/// Writes several files, each as [`write_atomically`]. They are synced together, which takes as long as one, and
/// renamed in order: if the last one exists, all do.
///
/// # Errors
/// If the disk is full.
pub fn write_all_atomically(files: &[(&Path, &[u8])]) -> Result<(), StoreError> {
    std::thread::scope(|scope| {
        let writers: Vec<_> = files
            .iter()
            .map(|(path, bytes)| scope.spawn(|| write_synced(&part_path(path), bytes)))
            .collect();
        writers
            .into_iter()
            .try_for_each(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    files.iter().try_for_each(|(path, _)| rename_part(path))
}

/// Returns the content of a JSON file, indented.
///
/// # Errors
/// If the value has no JSON form.
pub fn to_json_text<T: Serialize>(path: &Path, value: &T) -> Result<String, StoreError> {
    let mut text = serde_json::to_string_pretty(value).map_err(StoreError::json(path))?;
    text.push('\n');
    Ok(text)
}

fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn write_synced(part: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = File::create(part).map_err(StoreError::io("create", part))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(StoreError::io("write", part))
}

fn rename_part(path: &Path) -> Result<(), StoreError> {
    fs::rename(part_path(path), path).map_err(StoreError::io("rename", path))
}

/// Renames a directory after syncing everything in it: even after a crash of the host, a directory with the
/// name is complete.
///
/// # Errors
/// If the disk is full.
pub fn rename_synced(part: &Path, target: &Path) -> Result<(), StoreError> {
    sync_file_system(part)?;
    fs::rename(part, target).map_err(StoreError::io("rename", part))?;
    let Some(parent) = target.parent() else {
        return Ok(());
    };
    File::open(parent)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::io("sync", parent))
}

/// Syncs everything on the file system of a directory.
///
/// # Errors
/// If the disk fails.
pub fn sync_file_system(directory: &Path) -> Result<(), StoreError> {
    File::open(directory)
        .and_then(|held| Ok(rustix::fs::syncfs(held)?))
        .map_err(StoreError::io("sync", directory))
}

/// The mode of directories that only their owner can access.
pub const PRIVATE_DIRECTORY_MODE: u32 = 0o700;

/// Creates a directory that only its owner can access, with its missing parents.
///
/// # Errors
/// If it cannot be created.
pub fn create_private_directory(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_DIRECTORY_MODE)
        .create(path)
        .map_err(StoreError::io("create", path))
}

/// Sets the mode of a file or directory, regardless of the umask.
///
/// # Errors
/// If it is not ours.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(StoreError::io("change the permissions of", path))
}

/// Removes a directory and its content; a missing one is not an error.
///
/// # Errors
/// If something in it belongs to another user.
pub fn remove_directory(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
