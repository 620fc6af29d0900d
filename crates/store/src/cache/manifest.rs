//! The manifest of a cached directory: created when it is published, verified when it is reused.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dir_handle::DirHandle;
use crate::error::StoreError;
use crate::files::write_atomically;
use retrial_plan::cached_directory::lists_all_hashes;
use retrial_recipe::model::CachedFile;

use super::CacheState;
use super::entries::{DirectoryContent, FileFingerprint, list_entries};

const READ_BLOCK_BYTES: usize = 1 << 20;

/// The content and the origin of a cached directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheManifest {
    /// The run, recipe and image that populated it.
    #[serde(flatten)]
    pub origin: CacheOrigin,
    /// Runs write to it, so that its files are not listed: a cache mount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written_by_runs: bool,
    /// The files by path.
    pub files: BTreeMap<String, FileFingerprint>,
    /// Its directories and their modes.
    pub directories: BTreeMap<String, u32>,
    /// Its links and their targets; never followed.
    pub links: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheOrigin {
    /// The name or path of the recipe.
    pub recipe: String,
    /// The id of the run.
    pub run: String,
    /// The id of the image whose container populated it.
    pub image: String,
    /// Commits of the models that were present, by the recipe's names.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// The date on which it was populated: `2026-11-23`.
    pub at: String,
}

impl CacheManifest {
    /// Lists a directory and hashes its files: valid if they are those that the recipe requires, and all of them may
    /// be cached.
    ///
    /// # Errors
    /// If it cannot be read, or `stop` is set meanwhile.
    pub(super) fn create(
        content: &Path,
        required: &[(String, CachedFile)],
        origin: CacheOrigin,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        let found = list_entries(content)?;
        if let Some(reason) = found.refused {
            return Ok(CacheState::Invalid(reason));
        }
        let mut manifest = Self {
            origin,
            written_by_runs: false,
            files: found.files,
            directories: found.directories,
            links: found.links,
        };
        let hashes = hash_files(content, &manifest.files.keys().collect::<Vec<_>>(), stop)?;
        for (file, hash) in manifest.files.values_mut().zip(hashes.into_values()) {
            file.sha256 = hash;
        }
        Ok(match manifest.find_mismatch(required) {
            Some(reason) => CacheState::Invalid(reason),
            None => CacheState::Valid(manifest),
        })
    }

    pub fn total_bytes(&self) -> u64 {
        self.files.values().map(|file| file.size).sum()
    }

    /// The first difference from the recipe's list: a file of it, or anything else if the list is complete.
    pub(super) fn find_mismatch(&self, required: &[(String, CachedFile)]) -> Option<String> {
        let unlisted = || self.find_unlisted(required);
        let listed = required.iter().find_map(|(name, required)| {
            let Some(file) = self.files.get(name) else {
                return Some(if self.links.contains_key(name) {
                    format!("{name} is a link, not a file")
                } else {
                    format!("{name} is missing")
                });
            };
            if let Some(size) = required.size.filter(|size| *size != file.size) {
                let actual = file.size;
                return Some(format!("{name} has {actual} bytes; the recipe requires {size}"));
            }
            let hash = required.sha256.as_ref();
            hash.filter(|hash| **hash != file.sha256).map(|hash| {
                let actual = &file.sha256;
                format!("{name} has the SHA-256 {actual}; the recipe requires {hash}")
            })
        });
        listed.or_else(unlisted)
    }

    /// The first entry that a complete list does not name.
    fn find_unlisted(&self, required: &[(String, CachedFile)]) -> Option<String> {
        let is_listed = |name: &&String| required.iter().any(|(listed, _)| listed == *name);
        let is_above = |name: &&String| {
            let mut listed = required.iter().map(|(listed, _)| Path::new(listed));
            listed.any(|listed| listed.starts_with(name))
        };
        let mut files = self.files.keys().chain(self.links.keys());
        let file = files.find(|name| !is_listed(name));
        let unlisted_entry = file.or_else(|| self.directories.keys().find(|name| !is_above(name)));
        let other = unlisted_entry.filter(|_| lists_all_hashes(required))?;
        Some(format!("the recipe does not list {other}"))
    }

    /// Compares a directory with this manifest. If only times changed, they are updated in the manifest's own
    /// `path`.
    pub(super) fn verify(
        mut self,
        path: &Path,
        content: &Path,
        thorough: bool,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        let mut found = list_entries(content)?;
        let refused = found.refused.take();
        if let Some(reason) = refused.or_else(|| self.find_difference(&found)) {
            return Ok(CacheState::Invalid(reason));
        }
        let is_doubtful = |(name, file): &(&String, &FileFingerprint)| {
            thorough || found.files[*name].changed != file.changed
        };
        let doubtful_entries = self.files.iter().filter(is_doubtful);
        let doubtful: Vec<&String> = doubtful_entries.map(|(name, _)| name).collect();
        let hashes = hash_files(content, &doubtful, stop)?;
        let is_touched = !hashes.is_empty();
        for (name, hash) in hashes {
            if self.files[&name].sha256 != hash {
                let reason = format!("the content of {name} changed");
                return Ok(CacheState::Invalid(reason));
            }
            let changed = found.files[&name].changed;
            self.files.entry(name).and_modify(|file| file.changed = changed);
        }
        if is_touched {
            self.write(path)?;
        }
        Ok(CacheState::Valid(self))
    }

    /// How names, types, sizes, modes and links differ from those of a directory, if they do.
    fn find_difference(&self, actual: &DirectoryContent) -> Option<String> {
        let changed = self.files.iter().find_map(|(name, file)| {
            let Some(now) = actual.files.get(name) else {
                return Some(format!("{name} is missing"));
            };
            if now.size != file.size {
                let (now, before) = (now.size, file.size);
                return Some(format!("{name} has {now} bytes; it had {before}"));
            }
            (now.mode != file.mode).then(|| format!("the mode of {name} changed"))
        });
        let mut names = actual.files.keys();
        let added = names.find(|name| !self.files.contains_key(*name));
        changed
            .or_else(|| Some(format!("{} was added", added?)))
            .or_else(|| (self.links != actual.links).then(|| "its links changed".to_owned()))
            .or_else(|| {
                let is_changed = self.directories != actual.directories;
                is_changed.then(|| "its directories changed".to_owned())
            })
    }

    /// Reads a manifest; none if it is missing or truncated.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let text = serde_json::to_vec(self).map_err(StoreError::json(path))?;
        write_atomically(path, &text)
    }
}

/// SHA-256 of files, on every core.
fn hash_files(
    content: &Path,
    names: &[&String],
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>, StoreError> {
    let directory = DirHandle::open(content)?;
    names.par_iter().map(|name| Ok(((*name).clone(), hash_file(&directory, name, stop)?))).collect()
}

fn hash_file(directory: &DirHandle, name: &str, stop: &AtomicBool) -> Result<String, StoreError> {
    let mut file = directory.open_file(Path::new(name))?;
    let mut digest = Sha256::new();
    let mut block = vec![0; READ_BLOCK_BYTES];
    loop {
        if stop.load(Ordering::Relaxed) {
            let source = std::io::Error::from(std::io::ErrorKind::Interrupted);
            return Err(StoreError::io("read", Path::new(name))(source));
        }
        let count = file.read(&mut block).map_err(StoreError::io("read", Path::new(name)))?;
        if count == 0 {
            return Ok(hex::encode(digest.finalize()));
        }
        digest.update(&block[..count]);
    }
}
