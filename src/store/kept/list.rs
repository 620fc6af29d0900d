//! What is kept, and how much room it takes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use crate::store::error::StoreError;

/// One directory below a key.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The recipe's name for it.
    pub key: String,
    /// `key/name`
    pub label: String,
    /// What it is, where it is whole.
    pub manifest: Option<Manifest>,
    /// Bytes on disk, with what is being filled and what was not whole.
    pub bytes: u64,
    path: PathBuf,
}

impl Kept {
    /// Removes it.
    ///
    /// # Errors
    /// Where something in it is not ours to remove.
    pub fn remove(&self) -> Result<(), StoreError> {
        // First its name: half of it is never taken for the whole.
        let current = self.path.join("current");
        let gone = self.path.join("gone");
        if current.exists() {
            fs::rename(&current, &gone).map_err(StoreError::io("rename", &current))?;
        }
        fs::remove_dir_all(&self.path).map_err(StoreError::io("remove", &self.path))?;
        // The key's directory goes with its last one.
        let _ = self.path.parent().map(fs::remove_dir);
        Ok(())
    }
}

/// Everything that is kept below a cache, by name.
#[must_use]
pub fn list(cache: &Path) -> Vec<Kept> {
    let mut all = Vec::new();
    for (key, directory) in directories(&super::root(cache)) {
        if key.starts_with('.') {
            continue;
        }
        for (name, path) in directories(&directory) {
            all.push(Kept {
                label: format!("{key}/{name}"),
                key: key.clone(),
                manifest: Manifest::read(&path.join("current/manifest.json")),
                bytes: size(&path),
                path,
            });
        }
    }
    all.sort_by(|one, other| one.label.cmp(&other.label));
    all
}

fn directories(path: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect()
}

/// Bytes on disk below a directory; links are not followed.
fn size(path: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        match fs::symlink_metadata(entry.path()) {
            Ok(status) if status.is_dir() => bytes += size(&entry.path()),
            Ok(status) => bytes += status.blocks() * 512,
            Err(_) => {}
        }
    }
    bytes
}
