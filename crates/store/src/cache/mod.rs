//! Cached directories: populated once, and mounted by later runs.
//!
//! ```text
//! <cache>/directories/<key>/<name>/current/content/        the view of containers
//!                                 /current/identity        its whole identity
//!                                 /current/manifest.json   its files, with their hashes
//!                                 /stage-<run>/…           being populated
//!                                 /old-<n>/                invalid, and perhaps still in use
//! <cache>/directories/.locks/<key>@<name>                  held while one is checked or populated
//! ```
//!
//! An identity is a SHA-256 of everything that decides the content. A directory's name is a part of it, and which
//! directory a run takes is decided by the whole: two that would have the same name have different ones.
//!
//! `current` appears by one rename, after everything below it was synced: it is complete or absent,
//! even after a power failure. A cache mount has no list of its files, and `taken.json` in place of
//! `manifest.json` while a run writes to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::error::StoreError;
use super::files::{rename_synced, set_mode};
use super::home::user_directory;
use super::lock::{FileLock, LockAttempt};
use retrial_plan::cached_directory::short_identity;
use retrial_recipe::model::CachedFile;

mod entries;
mod list;
mod manifest;
mod mount;
mod stage;

pub use list::{CacheUsage, list_cached_directories};
pub use manifest::{CacheManifest, CacheOrigin};
pub use stage::CacheStagingDirectory;

/// A cached directory: its key in the recipe and its name below that.
#[derive(Debug, Clone)]
pub struct CacheEntry {
    root: PathBuf,
    key: String,
    name: String,
    identity: String,
}

#[derive(Debug)]
pub enum CacheState {
    Missing,
    /// Its files are unchanged since it was populated.
    Valid(CacheManifest),
    /// It is invalid: the reason.
    Invalid(String),
}

impl CacheEntry {
    /// Returns the directory of an identity: the first of its names that no other identity has.
    pub fn find(cache: &Path, key: &str, identity: &str) -> Self {
        let mut name = short_identity(identity).to_owned();
        let mut number = 1;
        loop {
            let entry = Self::with_name(cache, key, &name, identity);
            if entry.has_own_identity() {
                return entry;
            }
            number += 1;
            name = format!("{}-{number}", short_identity(identity));
        }
    }

    /// Returns the directory `name` of a key, below a cache, for an identity.
    pub fn with_name(cache: &Path, key: &str, name: &str, identity: &str) -> Self {
        Self {
            root: directories_root(cache),
            key: key.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
        }
    }

    fn path(&self) -> PathBuf {
        self.root.join(&self.key).join(&self.name)
    }

    fn current(&self) -> PathBuf {
        self.path().join("current")
    }

    /// Returns its name, below that of its key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `key/name`, its unique name.
    pub fn label(&self) -> String {
        format!("{}/{}", self.key, self.name)
    }

    /// Its path without links, by which every container that mounts it is labelled: entries of
    /// several caches may have the same key and name.
    pub fn location(&self) -> String {
        canonical_path_text(&self.path())
    }

    /// Returns the directory that containers mount, once it is populated.
    pub fn content_directory(&self) -> PathBuf {
        self.current().join("content")
    }

    /// Returns whether it has this identity, or does not exist yet.
    pub fn has_own_identity(&self) -> bool {
        let actual = fs::read_to_string(self.current().join(IDENTITY_FILE));
        match actual {
            Ok(actual) => actual.trim_end() == self.identity,
            Err(_) => fs::symlink_metadata(self.current()).is_err(),
        }
    }

    /// Tries to acquire the lock, and writes this process and its work into it.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn try_lock(&self, work: &str) -> Result<LockAttempt, StoreError> {
        let locks = self.root.join(".locks");
        fs::create_dir_all(&locks).map_err(StoreError::io("create", &locks))?;
        set_mode(&self.root, 0o700)?;
        let path = locks.join(format!("{}@{}", self.key, self.name));
        FileLock::try_acquire(&path, work)
    }

    /// Checks that it exists and is unchanged: names, types, sizes and times of change, and the content of files whose
    /// times changed, or of all if `thorough`. Only the holder of the lock may.
    ///
    /// # Errors
    /// If it cannot be read, or `stop` is set meanwhile.
    pub fn check_state(
        &self,
        required: &[(String, CachedFile)],
        writable: bool,
        thorough: bool,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        if fs::symlink_metadata(self.current()).is_err() {
            return Ok(CacheState::Missing);
        }
        if !is_directory(&self.current()) || !is_directory(&self.content_directory()) {
            return Ok(CacheState::Invalid("it is not a directory".to_owned()));
        }
        let path = self.current().join("manifest.json");
        let Some(manifest) = CacheManifest::read(&path) else {
            return Ok(CacheState::Invalid("its manifest is missing".to_owned()));
        };
        if let Some(reason) = manifest.find_mismatch(required) {
            return Ok(CacheState::Invalid(reason));
        }
        if writable {
            // Steps may write to it: its content is not verified.
            return Ok(CacheState::Valid(manifest));
        }
        manifest.verify(&path, &self.content_directory(), thorough, stop)
    }

    /// Removes invalid copies, unless a container has the directory mounted, and the stages of runs other than
    /// `runs`. Files that we may not remove are left: `clean --cached` lists their size.
    pub fn remove_stale(&self, runs: &[String], in_use: bool) {
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let file_name = entry.file_name();
            let name = file_name.to_string_lossy();
            let stage = name.strip_prefix("stage-");
            let abandoned = stage.is_some_and(|run| runs.iter().all(|active| active != run));
            if abandoned || name.starts_with("old") && !in_use {
                // What is left is listed: see above.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Renames an invalid directory. It is not removed: a benchmark may be reading it.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn move_current_aside(&self) -> Result<(), StoreError> {
        move_aside(&self.current())
    }

    /// Returns the directory in which a run populates it.
    pub fn stage_for_run(&self, run: &str) -> CacheStagingDirectory {
        CacheStagingDirectory::new(self.path().join(format!("stage-{run}")), &self.identity)
    }

    /// Publishes a directory that a run populated, for later runs.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn publish(
        &self,
        stage: &CacheStagingDirectory,
        manifest: &CacheManifest,
    ) -> Result<(), StoreError> {
        manifest.write(&stage.path().join("manifest.json"))?;
        rename_synced(stage.path(), &self.current())
    }
}

/// The file with the whole identity of a directory.
const IDENTITY_FILE: &str = "identity";

/// Renames a directory to the first free `old-N`.
fn move_aside(path: &Path) -> Result<(), StoreError> {
    let mut free = (1..10_000).map(|number| path.with_file_name(format!("old-{number}")));
    let free_name = free.find(|path| !path.exists());
    let aside = free_name.unwrap_or_else(|| path.with_file_name("old"));
    fs::rename(path, &aside).map_err(StoreError::io("rename", path))
}

/// Returns whether it is a directory, not a link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn canonical_path_text(path: &Path) -> String {
    let real_path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real_path.display().to_string()
}

fn directories_root(cache: &Path) -> PathBuf {
    cache.join("directories")
}

/// Returns the default cache: `$XDG_CACHE_HOME/retrial`, else `~/.cache/retrial`.
pub fn standard_cache() -> PathBuf {
    user_directory("XDG_CACHE_HOME", ".cache").join("retrial")
}
