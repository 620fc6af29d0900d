//! The cached directories and the disk space that they take.

use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::CacheManifest;
use crate::error::StoreError;
use crate::remove::freed_bytes;

/// A cached directory and its size.
#[derive(Debug, Clone)]
pub struct CacheUsage {
    /// The recipe's name for it.
    pub key: String,
    /// The entry as `clean --cached` names it, `key/name`.
    pub label: String,
    /// Its manifest, if it is complete.
    pub manifest: Option<CacheManifest>,
    /// Bytes on disk, including stages and invalid copies.
    pub bytes: u64,
    path: PathBuf,
}

impl CacheUsage {
    /// Its path without links, as in the labels of containers that mount it.
    pub fn location(&self) -> String {
        super::canonical_path_text(&self.path)
    }

    /// Removes the cached directory, with its stages and invalid copies.
    ///
    /// # Errors
    /// If something in it is not ours to remove.
    pub fn remove(&self) -> Result<(), StoreError> {
        // Renamed first, so that a partial one never counts as complete.
        let current = self.path.join("current");
        let removed = self.path.join("gone");
        if current.exists() {
            fs::rename(&current, &removed).map_err(StoreError::io("rename", &current))?;
        }
        fs::remove_dir_all(&self.path).map_err(StoreError::io("remove", &self.path))?;
        // The key's directory goes with its last one.
        let _ = self.path.parent().map(fs::remove_dir);
        Ok(())
    }
}

/// Every cached directory, sorted by name.
pub fn list_cached_directories(cache: &Path) -> Vec<CacheUsage> {
    let mut all = Vec::new();
    for (key, directory) in list_directories(&super::directories_root(cache)) {
        if key.starts_with('.') {
            continue;
        }
        for (name, path) in list_directories(&directory) {
            all.push(CacheUsage {
                label: format!("{key}/{name}"),
                key: key.clone(),
                manifest: CacheManifest::read(&path.join("current/manifest.json")),
                bytes: freed_bytes(&path),
                path,
            });
        }
    }
    all.sort_by(|left, right| left.label.cmp(&right.label));
    all
}

fn list_directories(path: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect()
}
