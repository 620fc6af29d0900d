//! Cached directories: populated once, and mounted by later runs.
//!
//! ```text
//! <cache>/directories/<key>/<name>/current/content/        the view of containers
//!                                 /current/manifest.json   its files, with their hashes
//!                                 /stage-<run>/content/    being populated
//!                                 /old-<n>/                invalid, and perhaps still in use
//! <cache>/directories/.locks/<key>@<name>                  held while one is checked or populated
//! ```
//!
//! `current` appears by one rename, after everything below it was synced: it is complete or absent,
//! even after a power failure. A cache mount has no list of its files, and `taken.json` in place of
//! `manifest.json` while a run writes to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::error::StoreError;
use super::files::{remove_directory, rename_synced, set_mode, write_atomically};
use super::home::user_directory;
use super::lock::{FileLock, LockAttempt};
use retrial_recipe::model::CachedFile;

mod list;
mod manifest;
mod mount;

pub use list::{CacheUsage, list};
pub use manifest::{Manifest, Origin};

/// One cached directory: its key in the recipe and its name below that.
#[derive(Debug, Clone)]
pub struct CacheEntry {
    root: PathBuf,
    key: String,
    name: String,
}

/// The state of a cached directory.
#[derive(Debug)]
pub enum CacheState {
    /// It does not exist.
    Missing,
    /// Its files are unchanged since it was populated.
    Valid(Manifest),
    /// It is invalid: the reason.
    Invalid(String),
}

impl CacheEntry {
    /// The directory `name` of a key, below a cache.
    pub fn new(cache: &Path, key: &str, name: &str) -> Self {
        Self {
            root: root(cache),
            key: key.to_owned(),
            name: name.to_owned(),
        }
    }

    fn path(&self) -> PathBuf {
        self.root.join(&self.key).join(&self.name)
    }

    fn current(&self) -> PathBuf {
        self.path().join("current")
    }

    /// `key/name`: its unique name.
    pub fn label(&self) -> String {
        format!("{}/{}", self.key, self.name)
    }

    /// Its path without links, by which every container that mounts it is labelled: entries of
    /// several caches may have the same key and name.
    pub fn identity(&self) -> String {
        identity(&self.path())
    }

    /// The directory that containers mount, once it is populated.
    pub fn content(&self) -> PathBuf {
        self.current().join("content")
    }

    /// Tries to take the lock, and writes this process and its work into it.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn lock(&self, work: &str) -> Result<LockAttempt, StoreError> {
        let locks = self.root.join(".locks");
        fs::create_dir_all(&locks).map_err(StoreError::io("create", &locks))?;
        set_mode(&self.root, 0o700)?;
        let path = locks.join(format!("{}@{}", self.key, self.name));
        FileLock::attempt(&path, work)
    }

    /// Checks that it exists and is unchanged: sizes and times, and the content of files whose times changed,
    /// or of all if `thorough`. Only the holder of the lock may.
    ///
    /// # Errors
    /// If it cannot be read, or `stop` is set meanwhile.
    pub fn check(
        &self,
        required: &[(String, CachedFile)],
        writable: bool,
        thorough: bool,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        if !self.current().exists() {
            return Ok(CacheState::Missing);
        }
        let path = self.current().join("manifest.json");
        let Some(manifest) = Manifest::read(&path) else {
            return self.adopt(required, &path, stop);
        };
        if let Some(reason) = manifest.mismatch(required) {
            return Ok(CacheState::Invalid(reason));
        }
        if !self.content().is_dir() {
            return Ok(CacheState::Invalid("its content is missing".to_owned()));
        }
        if writable {
            // Steps may write to it: its content is not verified.
            return Ok(CacheState::Valid(manifest));
        }
        manifest.verify(&path, &self.content(), thorough, stop)
    }

    /// A directory without a manifest, populated by a shell plan, is valid if the recipe lists its files.
    fn adopt(
        &self,
        required: &[(String, CachedFile)],
        path: &Path,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        if required.is_empty() || required.iter().any(|(_, file)| file.sha256.is_none()) {
            return Ok(CacheState::Invalid("its manifest is missing".to_owned()));
        }
        let origin = Origin {
            run: "no run of ours".to_owned(),
            ..Origin::default()
        };
        let manifest = Manifest::make(&self.content(), origin, stop)?;
        if let Some(reason) = manifest.mismatch(required) {
            return Ok(CacheState::Invalid(reason));
        }
        manifest.write(path)?;
        Ok(CacheState::Valid(manifest))
    }

    /// Removes invalid copies, unless a container has the directory mounted, and the stages of runs other than
    /// `runs`. Files that we may not remove are left: `clean --cached` lists their size.
    pub fn remove_stale(&self, runs: &[String], in_use: bool) {
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let stage = name.strip_prefix("stage-");
            let abandoned = stage.is_some_and(|run| runs.iter().all(|active| active != run));
            if abandoned || name.starts_with("old") && !in_use {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Renames an invalid directory. It is not removed: a benchmark may be reading it.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn set_aside(&self) -> Result<(), StoreError> {
        move_aside(&self.current())
    }

    /// The directory in which a run populates it.
    pub fn stage(&self, run: &str) -> Stage {
        Stage {
            path: self.path().join(format!("stage-{run}")),
        }
    }

    /// Publishes a directory that a run populated, for later runs.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn publish(&self, stage: &Stage, manifest: &Manifest) -> Result<(), StoreError> {
        manifest.write(&stage.path.join("manifest.json"))?;
        rename_synced(&stage.path, &self.current())
    }
}

/// A cached directory that is being populated.
#[derive(Debug, Clone)]
pub struct Stage {
    path: PathBuf,
}

impl Stage {
    /// The directory that the populating step mounts.
    pub fn content(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Creates it empty: removes the files of an earlier attempt.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn begin(&self) -> Result<(), StoreError> {
        if self.discard().is_err() {
            // Another user's files, of a container that ended abnormally.
            move_aside(&self.path)?;
        }
        let content = self.content();
        fs::create_dir_all(&content).map_err(StoreError::io("create", &content))?;
        // Any user of the container writes to it.
        set_mode(&content, 0o777)
    }

    /// Marks it: its command succeeded, so that only checking and publishing remain.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn mark_populated(&self) -> Result<(), StoreError> {
        write_atomically(&self.path.join("populated"), b"")
    }

    /// Returns whether [`Self::mark_populated`] was called.
    pub fn is_populated(&self) -> bool {
        self.path.join("populated").exists()
    }

    /// Removes it.
    ///
    /// # Errors
    /// If something in it is not ours to remove.
    pub fn discard(&self) -> Result<(), StoreError> {
        remove_directory(&self.path)?;
        // Leave no empty directories.
        let _ = self.path.parent().map(fs::remove_dir);
        Ok(())
    }
}

/// Renames a directory to the first free `old-N`.
fn move_aside(path: &Path) -> Result<(), StoreError> {
    let mut free = (1..10_000).map(|number| path.with_file_name(format!("old-{number}")));
    let aside = free.find(|path| !path.exists());
    let aside = aside.unwrap_or_else(|| path.with_file_name("old"));
    fs::rename(path, &aside).map_err(StoreError::io("rename", path))
}

fn identity(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

fn root(cache: &Path) -> PathBuf {
    cache.join("directories")
}

/// The default cache: `$XDG_CACHE_HOME/retrial`, else `~/.cache/retrial`.
pub fn standard_cache() -> PathBuf {
    user_directory("XDG_CACHE_HOME", ".cache").join("retrial")
}
