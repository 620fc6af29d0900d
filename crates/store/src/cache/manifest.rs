//! The manifest of a cached directory: created when it is published, verified when it is reused.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::dir_handle::Directory;
use crate::error::StoreError;
use crate::files::write_atomically;
use retrial_recipe::model::CachedFile;

use super::CacheState;

/// Bytes read at once.
const BLOCK: usize = 1 << 20;

/// The content and the origin of a cached directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Its origin.
    #[serde(flatten)]
    pub origin: Origin,
    /// Runs write to it, so that its files are not listed: a cache mount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written_by_runs: bool,
    /// Its files.
    pub files: BTreeMap<String, FileEntry>,
    /// Its links and their targets; never followed.
    pub links: BTreeMap<String, String>,
}

/// The origin of a cached directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The recipe.
    pub recipe: String,
    /// The run.
    pub run: String,
    /// The image's id.
    pub image: String,
    /// Commits of the models that were present, by the recipe's names.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// When.
    pub at: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Bytes.
    pub size: u64,
    /// Time of its last change, nanoseconds since 1970.
    pub modified: i64,
    /// Hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Lists a directory and hashes its files.
    ///
    /// # Errors
    /// If it cannot be read, or `stop` is set meanwhile.
    pub fn make(content: &Path, origin: Origin, stop: &AtomicBool) -> Result<Self, StoreError> {
        let mut manifest = list(content)?;
        let hashes = hash_all(content, &manifest.files.keys().collect::<Vec<_>>(), stop)?;
        for (file, hash) in manifest.files.values_mut().zip(hashes.into_values()) {
            file.sha256 = hash;
        }
        Ok(Self { origin, ..manifest })
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.size).sum()
    }

    /// The first file that differs from the recipe's list.
    pub fn mismatch(&self, required: &[(String, CachedFile)]) -> Option<String> {
        required.iter().find_map(|(name, required)| {
            let Some(file) = self.files.get(name) else {
                return Some(if self.links.contains_key(name) {
                    format!("{name} is a link, not a file")
                } else {
                    format!("{name} is missing")
                });
            };
            if let Some(size) = required.size.filter(|size| *size != file.size) {
                let actual = file.size;
                return Some(format!(
                    "{name} has {actual} bytes; the recipe requires {size}"
                ));
            }
            let hash = required.sha256.as_ref();
            hash.filter(|hash| **hash != file.sha256).map(|hash| {
                let actual = &file.sha256;
                format!("{name} has the SHA-256 {actual}; the recipe requires {hash}")
            })
        })
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
        let actual = list(content)?;
        if let Some(reason) = self.difference(&actual) {
            return Ok(CacheState::Invalid(reason));
        }
        let is_doubtful = |(name, file): &(&String, &FileEntry)| {
            thorough || actual.files[*name].modified != file.modified
        };
        let doubtful = self.files.iter().filter(is_doubtful);
        let doubtful: Vec<&String> = doubtful.map(|(name, _)| name).collect();
        let hashes = hash_all(content, &doubtful, stop)?;
        let is_touched = !hashes.is_empty();
        for (name, hash) in hashes {
            if self.files[&name].sha256 != hash {
                let reason = format!("the content of {name} changed");
                return Ok(CacheState::Invalid(reason));
            }
            let modified = actual.files[&name].modified;
            self.files
                .entry(name)
                .and_modify(|file| file.modified = modified);
        }
        if is_touched {
            self.write(path)?;
        }
        Ok(CacheState::Valid(self))
    }

    /// How names, sizes and links differ from those of a directory, if they do.
    fn difference(&self, actual: &Self) -> Option<String> {
        let changed = self
            .files
            .iter()
            .find_map(|(name, file)| match actual.files.get(name) {
                None => Some(format!("{name} is missing")),
                Some(now) if now.size != file.size => Some(format!(
                    "{name} has {} bytes; it had {}",
                    now.size, file.size
                )),
                Some(_) => None,
            });
        let mut names = actual.files.keys();
        let added = names.find(|name| !self.files.contains_key(*name));
        changed
            .or_else(|| Some(format!("{} was added", added?)))
            .or_else(|| (self.links != actual.links).then(|| "its links changed".to_owned()))
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

/// The files (without hashes) and links of a directory.
fn list(content: &Path) -> Result<Manifest, StoreError> {
    let mut found = Manifest::default();
    for entry in WalkDir::new(content).min_depth(1) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(content).to_owned();
            StoreError::io("read", &path)(error)
        })?;
        let path = entry.path();
        let relative = path.strip_prefix(content).unwrap_or(path);
        let Some(name) = relative.to_str().map(str::to_owned) else {
            return Err(StoreError::unusable(path, "its name is not UTF-8"));
        };
        if entry.path_is_symlink() {
            let to = fs::read_link(path).map_err(StoreError::io("read", path))?;
            found.links.insert(name, to.to_string_lossy().into_owned());
        } else if entry.file_type().is_file() {
            let status = fs::symlink_metadata(path).map_err(StoreError::io("read", path))?;
            let file = FileEntry {
                size: status.len(),
                modified: modified(&status),
                sha256: String::new(),
            };
            found.files.insert(name, file);
        }
    }
    Ok(found)
}

fn modified(status: &Metadata) -> i64 {
    status
        .mtime()
        .saturating_mul(1_000_000_000)
        .saturating_add(status.mtime_nsec())
}

/// SHA-256 of files, on every core.
fn hash_all(
    content: &Path,
    names: &[&String],
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>, StoreError> {
    let directory = Directory::open(content)?;
    names
        .par_iter()
        .map(|name| Ok(((*name).clone(), hash(&directory, name, stop)?)))
        .collect()
}

fn hash(directory: &Directory, name: &str, stop: &AtomicBool) -> Result<String, StoreError> {
    let mut file = directory.file(Path::new(name))?;
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        if stop.load(Ordering::Relaxed) {
            let source = std::io::Error::from(std::io::ErrorKind::Interrupted);
            return Err(StoreError::io("read", Path::new(name))(source));
        }
        let count = file
            .read(&mut block)
            .map_err(StoreError::io("read", Path::new(name)))?;
        if count == 0 {
            return Ok(hex::encode(digest.finalize()));
        }
        digest.update(&block[..count]);
    }
}
