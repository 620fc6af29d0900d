//! A cached directory while a run populates it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::entries::normalize_modes;
use super::manifest::{CacheManifest, CacheOrigin};
use super::{CacheState, IDENTITY_FILE, move_aside};
use crate::error::StoreError;
use crate::files::{remove_directory, set_mode, write_atomically};
use retrial_recipe::model::CachedFile;

/// A cached directory that is being populated.
#[derive(Debug, Clone)]
pub struct CacheStagingDirectory {
    path: PathBuf,
    identity: String,
}

impl CacheStagingDirectory {
    pub(super) fn new(path: PathBuf, identity: &str) -> Self {
        Self { path, identity: identity.to_owned() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that the populating step mounts.
    pub fn content_directory(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Creates it empty: removes the files of an earlier attempt.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn create_empty(&self) -> Result<(), StoreError> {
        if self.discard().is_err() {
            // Another user's files, of a container that ended abnormally.
            move_aside(&self.path)?;
        }
        let content = self.content_directory();
        fs::create_dir_all(&content).map_err(StoreError::io("create", &content))?;
        let identity = format!("{}\n", self.identity);
        write_atomically(&self.path.join(IDENTITY_FILE), identity.as_bytes())?;
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

    /// Examines the files that a command created: valid with their manifest, or invalid. They get the modes of cached
    /// files first: everybody may read them, and write to them if `writable`.
    ///
    /// # Errors
    /// If they cannot be read, or `stop` is set meanwhile.
    pub fn check_content(
        &self,
        required: &[(String, CachedFile)],
        writable: bool,
        origin: CacheOrigin,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        normalize_modes(&self.content_directory(), writable)?;
        CacheManifest::create(&self.content_directory(), required, origin, stop)
    }

    /// Removes the stage with its content.
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
