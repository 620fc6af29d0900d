//! Directories that are filled once and kept for later runs, below the cache:
//!
//! ```text
//! <cache>/kept/<key>/<name>/current/content/        what containers see
//!                          /current/manifest.json   what it is, file by file
//!                          /stage-<run>/content/    being filled
//!                          /old-<n>/                not whole any more, and perhaps still in use
//! <cache>/kept/.locks/<key>@<name>                  held while one is looked at or filled
//! ```
//!
//! `current` appears by one rename, after everything below it was synced: it is there whole or
//! not at all, whenever the power goes.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::error::StoreError;
use super::run_directory::{rename_synced, set_mode, write_atomically};

mod list;
mod manifest;

pub use list::{Kept, list};
pub use manifest::{Filled, Manifest, Wanted};

/// Where one directory is kept.
#[derive(Debug, Clone)]
pub struct KeptPlace {
    root: PathBuf,
    key: String,
    name: String,
}

/// How a kept directory stands.
#[derive(Debug)]
pub enum CacheState {
    /// Nothing is kept.
    Missing,
    /// It is whole.
    Whole(Manifest),
    /// It is not: why.
    Broken(String),
}

/// Held while a kept directory is looked at or filled. The kernel's: it ends with the process.
#[derive(Debug)]
pub struct KeptLock {
    _file: File,
}

impl KeptPlace {
    /// The directory `name` of a key, below a cache.
    #[must_use]
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

    /// `key/name`: how it is told apart from others.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}/{}", self.key, self.name)
    }

    /// What containers see, once it is there.
    #[must_use]
    pub fn content(&self) -> PathBuf {
        self.current().join("content")
    }

    /// Takes the lock, and writes whose it is; else gives what its holder wrote.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    pub fn lock(&self, holder: &str) -> Result<Result<KeptLock, String>, StoreError> {
        let locks = self.root.join(".locks");
        fs::create_dir_all(&locks).map_err(StoreError::io("create", &locks))?;
        set_mode(&self.root, 0o700)?;
        let path = locks.join(format!("{}@{}", self.key, self.name));
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| file.write_all(holder.as_bytes()))
                    .map_err(StoreError::io("write", &path))?;
                Ok(Ok(KeptLock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(1000).read_to_string(&mut holder);
                Ok(Err(holder))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error)),
        }
    }

    /// Looks whether it is there and whole: sizes and times, and byte by byte where they are not
    /// as they were, or where it is asked for. Only whoever has the lock may.
    ///
    /// # Errors
    /// Where it cannot be read, or `stop` is set meanwhile.
    pub fn check(
        &self,
        wanted: &[Wanted],
        writable: bool,
        thorough: bool,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        if !self.current().exists() {
            return Ok(CacheState::Missing);
        }
        let path = self.current().join("manifest.json");
        let Some(manifest) = Manifest::read(&path) else {
            return self.adopt(wanted, &path, stop);
        };
        if let Some(because) = manifest.lacks(wanted) {
            return Ok(CacheState::Broken(because));
        }
        if writable {
            // Steps may write to it: what they made of it is theirs.
            return Ok(if self.content().is_dir() {
                CacheState::Whole(manifest)
            } else {
                CacheState::Broken("its content is gone".to_owned())
            });
        }
        let (broken, touched) = manifest.compare(&self.content(), thorough, stop)?;
        if let Some(because) = broken {
            return Ok(CacheState::Broken(because));
        }
        if let Some(touched) = &touched {
            touched.write(&path)?;
        }
        Ok(CacheState::Whole(touched.unwrap_or(manifest)))
    }

    /// What nobody wrote down (a person filled it by a shell plan) is whole where the recipe lists it.
    fn adopt(
        &self,
        wanted: &[Wanted],
        path: &Path,
        stop: &AtomicBool,
    ) -> Result<CacheState, StoreError> {
        if wanted.is_empty() || wanted.iter().any(|file| file.sha256.is_none()) {
            return Ok(CacheState::Broken("its manifest is gone".to_owned()));
        }
        let filled = Filled {
            run: "no run of ours".to_owned(),
            ..Filled::default()
        };
        let manifest = Manifest::make(&self.content(), filled, stop)?;
        if let Some(because) = manifest.lacks(wanted) {
            return Ok(CacheState::Broken(because));
        }
        manifest.write(path)?;
        Ok(CacheState::Whole(manifest))
    }

    /// Removes what was not whole, unless somebody has it mounted, and what runs had begun to fill,
    /// but for those of `runs`. What is not ours to remove stays: `clean --cached` tells its size.
    pub fn tidy(&self, runs: &[String], in_use: bool) {
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let stage = name.strip_prefix("stage-");
            let abandoned = stage.is_some_and(|run| runs.iter().all(|known| known != run));
            if abandoned || name.starts_with("old") && !in_use {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Takes what is not whole out of the way. It is not removed: a benchmark may be reading it.
    ///
    /// # Errors
    /// Where the file system says no.
    pub fn set_aside(&self) -> Result<(), StoreError> {
        move_aside(&self.current())
    }

    /// The directory in which a run fills it.
    #[must_use]
    pub fn stage(&self, run: &str) -> Stage {
        Stage {
            path: self.path().join(format!("stage-{run}")),
        }
    }

    /// Publishes what a run filled: from now on it is kept.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn publish(&self, stage: &Stage, manifest: &Manifest) -> Result<(), StoreError> {
        manifest.write(&stage.path.join("manifest.json"))?;
        rename_synced(&stage.path, &self.current())
    }
}

/// A kept directory that is being filled.
#[derive(Debug, Clone)]
pub struct Stage {
    path: PathBuf,
}

impl Stage {
    /// What the filling step sees.
    #[must_use]
    pub fn content(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Begins anew: what an earlier try left is removed.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    pub fn begin(&self) -> Result<(), StoreError> {
        if self.discard().is_err() {
            // Somebody else's files, of a container that did not end well.
            move_aside(&self.path)?;
        }
        let content = self.content();
        fs::create_dir_all(&content).map_err(StoreError::io("create", &content))?;
        // Any user of the container writes to it.
        set_mode(&content, 0o777)
    }

    /// The command has ended as it should: what is left to do is looking and publishing.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn mark_filled(&self) -> Result<(), StoreError> {
        write_atomically(&self.path.join("filled"), b"")
    }

    /// Whether [`Self::mark_filled`] was said of it.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        self.path.join("filled").exists()
    }

    /// Removes it.
    ///
    /// # Errors
    /// Where something in it is not ours to remove.
    pub fn discard(&self) -> Result<(), StoreError> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &self.path)(error))
            }
            _ => {
                // Nothing is left where nothing was kept before.
                let _ = self.path.parent().map(fs::remove_dir);
                Ok(())
            }
        }
    }
}

/// Gives a name free.
fn move_aside(path: &Path) -> Result<(), StoreError> {
    let mut free = (1..10_000).map(|number| path.with_file_name(format!("old-{number}")));
    let aside = free.find(|path| !path.exists());
    let aside = aside.unwrap_or_else(|| path.with_file_name("old"));
    fs::rename(path, &aside).map_err(StoreError::io("rename", path))
}

fn root(cache: &Path) -> PathBuf {
    cache.join("kept")
}

/// Where things are kept where nothing is named: `$XDG_CACHE_HOME/retrial`, else `~/.cache/retrial`.
#[must_use]
pub fn standard_cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|path| path.is_absolute()).unwrap_or_else(|| {
        let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        home.join(".cache")
    });
    cache.join("retrial")
}
