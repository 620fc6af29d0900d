//! A directory among the runs that is not yet a run, or no longer one: its name begins with a dot. The process
//! that works on it holds its lock, so that leftovers of a killed one can be identified.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files::{create_private_directory, remove_directory};

/// The beginning of the name of a directory that becomes a run.
const ARRIVING: &str = ".arriving-";
/// The beginning of the name of a directory that was a run.
const GOING: &str = ".going-";

/// Held while it is in use; removed with its content afterwards.
#[derive(Debug)]
pub struct StagingDirectory {
    path: PathBuf,
    _lock: Option<File>,
}

impl StagingDirectory {
    /// Creates a new, empty one among the runs.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn new(runs: &Path) -> Result<Self, StoreError> {
        create_private_directory(runs)?;
        loop {
            let created = tempfile::Builder::new().prefix(ARRIVING).tempdir_in(runs);
            let path = created.map_err(StoreError::io("create", runs))?.keep();
            // A process that removes leftovers may have locked it first, and removes it then.
            let lock = File::open(&path).ok().filter(|lock| lock.lock().is_ok());
            if path.exists() {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Renames a run for removal: from now on it is no run.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn for_removal(run: &Path) -> Result<Self, StoreError> {
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        let path = run.with_file_name(format!("{GOING}{name}"));
        remove_directory(&path)?;
        fs::rename(run, &path).map_err(StoreError::io("rename", run))?;
        let lock = File::open(&path).ok().filter(|lock| lock.try_lock().is_ok());
        Ok(Self { path, _lock: lock })
    }

    /// Returns the path of the directory, whose name begins with a dot.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, and returns an error.
    ///
    /// # Errors
    /// If something in it belongs to another user.
    pub fn remove(self) -> Result<(), StoreError> {
        remove_directory(&self.path)
    }
}

impl Drop for StagingDirectory {
    fn drop(&mut self) {
        // What is left is removed by `remove_leftover_stages`.
        let _ = remove_directory(&self.path);
    }
}

/// Removes leftovers of killed processes.
pub fn remove_leftover_stages(runs: &Path) {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    for entry in entries {
        let file_name = entry.file_name();
        let name = file_name.to_string_lossy();
        if !name.starts_with(ARRIVING) && !name.starts_with(GOING) {
            continue;
        }
        let Ok(held) = File::open(entry.path()) else {
            continue;
        };
        if held.try_lock().is_ok() {
            // What is left is tried again next time.
            let _ = remove_directory(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn another_process_removes_no_stage_in_use() {
        let runs = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    remove_leftover_stages(runs.path());
                }
            });
            for _ in 0..500 {
                let stage = StagingDirectory::new(runs.path()).unwrap();
                fs::write(stage.path().join("file"), "").unwrap();
                assert!(stage.path().join("file").exists());
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
