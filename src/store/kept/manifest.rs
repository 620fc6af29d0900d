//! What is in a kept directory: made when it is published, compared when it is taken over.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::dir_handle::Directory;
use crate::store::error::StoreError;
use crate::store::run_directory::write_atomically;

/// Bytes read at once.
const BLOCK: usize = 1 << 20;

/// A file that must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Relative to the directory.
    pub name: String,
    /// Bytes.
    pub size: Option<u64>,
    /// Hexadecimal, lower case.
    pub sha256: Option<String>,
}

/// What is in a kept directory, and where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What filled it.
    #[serde(flatten)]
    pub filled: Filled,
    /// Its files.
    pub files: BTreeMap<String, FileEntry>,
    /// Links in it, and where they lead. They are kept, never followed.
    pub links: BTreeMap<String, String>,
}

/// What filled a kept directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filled {
    /// The recipe.
    pub recipe: String,
    /// The run.
    pub run: String,
    /// The image's id.
    pub image: String,
    /// Commits of the models that were there, by the recipe's names.
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
    /// When it was changed last, nanoseconds since 1970.
    pub modified: i64,
    /// Hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Looks through a directory, byte by byte.
    ///
    /// # Errors
    /// Where it cannot be read, or `stop` is set meanwhile.
    pub fn make(content: &Path, filled: Filled, stop: &AtomicBool) -> Result<Self, StoreError> {
        let found = walk(content)?;
        let names: Vec<&String> = found.files.keys().collect();
        let hashes = hash_all(content, &names, stop)?;
        let entry = |(name, (size, modified)): (&String, &(u64, i64))| {
            let sha256 = hashes.get(name).cloned().unwrap_or_default();
            let (size, modified) = (*size, *modified);
            let entry = FileEntry {
                size,
                modified,
                sha256,
            };
            (name.clone(), entry)
        };
        let files = found.files.iter().map(entry).collect();
        Ok(Self {
            filled,
            files,
            links: found.links,
        })
    }

    /// Bytes in all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.size).sum()
    }

    /// The first file that is not as it must be.
    #[must_use]
    pub fn lacks(&self, wanted: &[Wanted]) -> Option<String> {
        wanted.iter().find_map(|wanted| {
            let name = &wanted.name;
            let Some(file) = self.files.get(name) else {
                let link = self.links.contains_key(name);
                return Some(if link {
                    format!("{name} is a link, not a file")
                } else {
                    format!("{name} is not there")
                });
            };
            if let Some(size) = wanted.size.filter(|size| *size != file.size) {
                return Some(format!(
                    "{name} has {} bytes; the recipe says {size}",
                    file.size
                ));
            }
            let hash = wanted.sha256.as_ref();
            hash.filter(|hash| **hash != file.sha256).map(|hash| {
                let found = &file.sha256;
                format!("{name} has the SHA-256 {found}; the recipe says {hash}")
            })
        })
    }

    /// Compares a directory with what it was: why it is not whole, if it is not, and the manifest
    /// with new times where only those had changed.
    pub(super) fn compare(
        &self,
        content: &Path,
        thorough: bool,
        stop: &AtomicBool,
    ) -> Result<(Option<String>, Option<Self>), StoreError> {
        if !content.is_dir() {
            return Ok((Some("its content is gone".to_owned()), None));
        }
        let found = walk(content)?;
        let mut doubtful = Vec::new();
        for (name, file) in &self.files {
            let Some((size, modified)) = found.files.get(name) else {
                return Ok((Some(format!("{name} is gone")), None));
            };
            if *size != file.size {
                let because = format!("{name} has {size} bytes; it had {}", file.size);
                return Ok((Some(because), None));
            }
            if thorough || *modified != file.modified {
                doubtful.push(name);
            }
        }
        if let Some(name) = found
            .files
            .keys()
            .find(|name| !self.files.contains_key(*name))
        {
            return Ok((Some(format!("{name} was not there")), None));
        }
        if self.links != found.links {
            return Ok((Some("its links are not what they were".to_owned()), None));
        }
        let hashes = hash_all(content, &doubtful, stop)?;
        let mut touched = None;
        for (name, hash) in hashes {
            if self.files.get(&name).is_none_or(|file| file.sha256 != hash) {
                let because = format!("the content of {name} is not what it was");
                return Ok((Some(because), None));
            }
            let new = touched.get_or_insert_with(|| self.clone());
            if let (Some(file), Some((_, modified))) =
                (new.files.get_mut(&name), found.files.get(&name))
            {
                file.modified = *modified;
            }
        }
        Ok((None, touched))
    }

    /// Reads one; none where it is missing or torn.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let text = serde_json::to_vec(self).map_err(|error| StoreError::Unusable {
            path: path.to_owned(),
            because: error.to_string(),
        })?;
        write_atomically(path, &text)
    }
}

/// What lies in a directory.
#[derive(Default)]
struct Found {
    /// Size and time of change.
    files: BTreeMap<String, (u64, i64)>,
    links: BTreeMap<String, String>,
}

fn walk(content: &Path) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        let path = content.join(&directory);
        for entry in fs::read_dir(&path).map_err(StoreError::io("read", &path))? {
            let entry = entry.map_err(StoreError::io("read", &path))?;
            let relative = directory.join(entry.file_name());
            let status = fs::symlink_metadata(entry.path())
                .map_err(StoreError::io("read", &entry.path()))?;
            let Some(name) = relative.to_str().map(str::to_owned) else {
                return Err(StoreError::Unusable {
                    path: entry.path(),
                    because: "its name is not UTF-8".to_owned(),
                });
            };
            if status.is_dir() {
                directories.push(relative);
            } else if status.is_symlink() {
                let to =
                    fs::read_link(entry.path()).map_err(StoreError::io("read", &entry.path()))?;
                found.links.insert(name, to.to_string_lossy().into_owned());
            } else if status.is_file() {
                found.files.insert(name, (status.len(), modified(&status)));
            }
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
    let next = AtomicUsize::new(0);
    let hashes = Mutex::new(Ok(BTreeMap::new()));
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let hash = hash(&directory, name, stop);
            let mut hashes = hashes
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            match (&mut *hashes, hash) {
                (Ok(hashes), Ok(hash)) => {
                    hashes.insert((*name).clone(), hash);
                }
                (Ok(_), Err(error)) => {
                    *hashes = Err(error);
                    return;
                }
                (Err(_), _) => return,
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..workers.min(names.len()) {
            scope.spawn(work);
        }
        work();
    });
    hashes
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
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
