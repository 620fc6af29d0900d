//! Atomic file writes, and directories that only their owner can access.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::panic::resume_unwind;
use std::path::Path;

use serde::Serialize;
use tempfile::NamedTempFile;

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
    persist(write_synced(path, bytes)?, path)
}

/// Writes several files, each as [`write_atomically`]. They are synced together, which takes as long as one, and
/// renamed in order: if the last one exists, all do.
///
/// # Errors
/// If the disk is full.
pub fn write_all_atomically(files: &[(&Path, &[u8])]) -> Result<(), StoreError> {
    let written: Vec<NamedTempFile> = std::thread::scope(|scope| {
        let writers: Vec<_> =
            files.iter().map(|(path, bytes)| scope.spawn(|| write_synced(path, bytes))).collect();
        let written = writers
            .into_iter()
            .map(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)));
        written.collect::<Result<_, _>>()
    })?;
    written.into_iter().zip(files).try_for_each(|(file, (path, _))| persist(file, path))
}

/// Returns the names of a directory's entries, sorted; none if there is no such directory.
///
/// # Errors
/// If it cannot be read.
pub fn list_directory(path: &Path) -> Result<Vec<OsString>, StoreError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(StoreError::io("read", path))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    let mut names = names.map_err(StoreError::io("read", path))?;
    names.sort_unstable();
    Ok(names)
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

/// Creates a temporary file next to a target, with a name that nobody else has, and the permissions of any new file.
///
/// # Errors
/// If the directory is missing or full.
pub fn create_temporary(target: &Path) -> Result<NamedTempFile, StoreError> {
    let mut builder = tempfile::Builder::new();
    let name = target.file_name().unwrap_or_default();
    let named = builder.prefix(name).suffix(".part").permissions(Permissions::from_mode(0o666));
    named.tempfile_in(parent_directory(target)).map_err(StoreError::io("create", target))
}

fn write_synced(target: &Path, bytes: &[u8]) -> Result<NamedTempFile, StoreError> {
    let mut part = create_temporary(target)?;
    let file = part.as_file_mut();
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("write", target))?;
    Ok(part)
}

fn persist(part: NamedTempFile, target: &Path) -> Result<(), StoreError> {
    part.persist(target).map(drop).map_err(|failed| StoreError::io("rename", target)(failed.error))
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
