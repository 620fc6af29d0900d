//! One process follows a run at a time. The lock is the kernel's, so it ends with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use super::error::StoreError;

/// Held while a process follows a run.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock, or says which process has it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where another process follows the run.
    pub fn take(path: &Path, run: &str) -> Result<Self, StoreError> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)
                    .and_then(|()| file.rewind())
                    .map_err(StoreError::io("write", path))?;
                write!(file, "{}", std::process::id()).map_err(StoreError::io("write", path))?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                Err(StoreError::Busy {
                    run: run.to_owned(),
                    pid,
                })
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", path)(error)),
        }
    }

    /// The process that follows the run, if any does.
    #[must_use]
    pub fn holder(path: &Path) -> Option<u32> {
        let mut file = File::open(path).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        let mut pid = String::new();
        file.read_to_string(&mut pid).ok()?;
        pid.trim().parse().ok()
    }
}
