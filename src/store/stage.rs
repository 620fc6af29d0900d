//! A directory among the runs that is not yet a run, or no longer one: its name begins with a dot.
//! The process that works on it holds its lock, so that what a killed one left can be told apart.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files::{create_private, remove_directory};

/// Held while it is worked on; what is in it then goes.
#[derive(Debug)]
pub struct Stage {
    path: PathBuf,
    _lock: Option<File>,
}

impl Stage {
    /// A new, empty one among the runs.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn new(runs: &Path) -> Result<Self, StoreError> {
        create_private(runs)?;
        let path = runs.join(format!(".arriving-{}", std::process::id()));
        remove_directory(&path)?;
        fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        Ok(Self::of(path))
    }

    /// A run that is going: from now on it is none.
    ///
    /// # Errors
    /// Where the file system says no.
    pub fn going(run: &Path) -> Result<Self, StoreError> {
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        let path = run.with_file_name(format!(".going-{name}"));
        remove_directory(&path)?;
        fs::rename(run, &path).map_err(StoreError::io("rename", run))?;
        Ok(Self::of(path))
    }

    fn of(path: PathBuf) -> Self {
        let lock = File::open(&path).ok();
        let lock = lock.filter(|lock| lock.try_lock().is_ok());
        Self { path, _lock: lock }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, and says if that did not work.
    ///
    /// # Errors
    /// Where something in it belongs to somebody else.
    pub fn clear(self) -> Result<(), StoreError> {
        remove_directory(&self.path)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remove_directory(&self.path);
    }
}

/// Removes what processes left that were killed.
pub fn clear_left(runs: &Path) {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(".arriving-") && !name.starts_with(".going-") {
            continue;
        }
        let Ok(held) = File::open(entry.path()) else {
            continue;
        };
        if held.try_lock().is_ok() {
            let _ = remove_directory(&entry.path());
        }
    }
}
