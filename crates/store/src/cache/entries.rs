//! The entries of a cached directory: which may be in it, and with which modes. Everything is looked at without
//! following links. Files are only read elsewhere.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::error::StoreError;
use crate::files::set_mode;

/// The largest list of extended attributes that the kernel returns, bytes.
const MAX_ATTRIBUTE_LIST_BYTES: usize = 1 << 16;

/// A file of a cached directory, by which changes are detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFingerprint {
    /// The file's size, bytes.
    pub size: u64,
    /// Time of its last change, also of its attributes, nanoseconds since 1970.
    pub changed: i64,
    /// The permission bits of its mode.
    pub mode: u32,
    /// The SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

#[derive(Default)]
pub(super) struct DirectoryContent {
    /// The files by path, without hashes.
    pub files: BTreeMap<String, FileFingerprint>,
    /// Directories and their modes.
    pub directories: BTreeMap<String, u32>,
    /// Links and their targets.
    pub links: BTreeMap<String, String>,
    /// The first entry that may not be in a cached directory, and the reason.
    pub refused: Option<String>,
}

/// Lists the entries of a directory by type, without following links.
pub(super) fn list_entries(content: &Path) -> Result<DirectoryContent, StoreError> {
    let mut found = DirectoryContent::default();
    for walked in WalkDir::new(content).min_depth(1) {
        let entry = walked.map_err(|error| {
            let path = error.path().unwrap_or(content).to_owned();
            StoreError::io("read", &path)(error)
        })?;
        let path = entry.path();
        let relative = path.strip_prefix(content).unwrap_or(path);
        let Some(name) = relative.to_str().map(str::to_owned) else {
            let name = relative.display();
            let refused = &mut found.refused;
            refused.get_or_insert_with(|| format!("the name {name} is not UTF-8"));
            continue;
        };
        let status = fs::symlink_metadata(path).map_err(StoreError::io("read", path))?;
        if let Some(reason) = refusal_reason(path, &status) {
            let refused = &mut found.refused;
            refused.get_or_insert_with(|| format!("{name} {reason}"));
        }
        let mode = status.mode() & 0o7777;
        if status.is_symlink() {
            let to = fs::read_link(path).map_err(StoreError::io("read", path))?;
            found.links.insert(name, to.to_string_lossy().into_owned());
        } else if status.is_dir() {
            found.directories.insert(name, mode);
        } else {
            let file = FileFingerprint {
                size: status.len(),
                changed: change_time_ns(&status),
                mode,
                sha256: String::new(),
            };
            found.files.insert(name, file);
        }
    }
    Ok(found)
}

/// Returns why a cached directory may not have an entry: nobody else may change it, and it gives programs only its
/// content.
fn refusal_reason(path: &Path, status: &Metadata) -> Option<String> {
    let kind = status.file_type();
    if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
        let kind = match kind {
            kind if kind.is_fifo() => "a pipe",
            kind if kind.is_socket() => "a socket",
            _ => "a device",
        };
        return Some(format!("is {kind}"));
    }
    let ours = rustix::process::getuid().as_raw();
    if status.uid() != ours && status.uid() != 0 {
        return Some(format!("belongs to another user ({})", status.uid()));
    }
    if kind.is_symlink() {
        return None;
    }
    if status.mode() & 0o6000 != 0 {
        return Some("runs as its owner (set-user-ID or set-group-ID)".to_owned());
    }
    let attribute = refused_attributes(path).into_iter().next()?;
    Some(format!("has the extended attribute {attribute}"))
}

/// The extended attributes that give an entry rights, or hold more than its content. Those of the system itself
/// (labels of `SELinux`, access lists) are not among them.
fn refused_attributes(path: &Path) -> Vec<String> {
    let mut name_buffer = vec![0; MAX_ATTRIBUTE_LIST_BYTES];
    let length = match rustix::fs::llistxattr(path, &mut name_buffer) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => 0,
        Err(_) => return vec!["(unreadable)".to_owned()],
    };
    let names = name_buffer[..length].split(|byte| *byte == 0);
    let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
    let is_refused = |name: &String| name.starts_with("user.") || name == "security.capability";
    names.filter(is_refused).collect()
}

/// Sets the modes of cached files on all entries of ours, without attributes that [`list_entries`] refuses: directories
/// and files that everybody may read, and change if `writable`. Entries of other users stay as they are, for [`list_entries`].
pub(super) fn normalize_modes(content: &Path, writable: bool) -> Result<(), StoreError> {
    let ours = rustix::process::getuid().as_raw();
    let mut left: Vec<PathBuf> = vec![content.to_owned()];
    while let Some(path) = left.pop() {
        let status = fs::symlink_metadata(&path).map_err(StoreError::io("read", &path))?;
        let kind = status.file_type();
        if kind.is_symlink() || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        let is_program = kind.is_dir() || status.mode() & 0o111 != 0;
        let mode = match (is_program, writable) {
            (true, false) => 0o755,
            (true, true) => 0o777,
            (false, false) => 0o644,
            (false, true) => 0o666,
        };
        if status.uid() == ours {
            if status.mode() & 0o7777 != mode {
                set_mode(&path, mode)?;
            }
            for name in refused_attributes(&path) {
                // One that stays is refused with its name when the directory is used.
                let _ = rustix::fs::lremovexattr(&path, name.as_str());
            }
        }
        if kind.is_dir() {
            let entries = fs::read_dir(&path).map_err(StoreError::io("read", &path))?;
            for entry in entries {
                left.push(entry.map_err(StoreError::io("read", &path))?.path());
            }
        }
    }
    Ok(())
}

/// Time of the last change of a file's content or attributes, nanoseconds since 1970. Unlike that of its content it
/// cannot be set.
fn change_time_ns(status: &Metadata) -> i64 {
    let seconds = status.ctime().saturating_mul(1_000_000_000);
    seconds.saturating_add(status.ctime_nsec())
}
