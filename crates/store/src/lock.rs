//! One process at a time follows a run, or populates a cached directory. It is a kernel lock, so it ends with
//! the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::error::StoreError;

/// The number of attempts to acquire a lock, and the interval.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(15);

/// The outcome of one attempt to acquire a lock.
#[derive(Debug)]
pub enum LockAttempt {
    /// The lock.
    Acquired(FileLock),
    /// Another process holds it: that process's own description.
    HeldBy(String),
}

/// The lock of a run, a batch or a cached directory, held by this process.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Tries once to acquire the lock, and writes `holder` into its file.
    ///
    /// # Errors
    /// If the file cannot be opened or written.
    pub fn attempt(path: &Path, holder: &str) -> Result<LockAttempt, StoreError> {
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
                    .and_then(|()| file.write_all(holder.as_bytes()))
                    .map_err(StoreError::io("write", path))?;
                Ok(LockAttempt::Acquired(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(1000).read_to_string(&mut holder);
                Ok(LockAttempt::HeldBy(holder))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", path)(error)),
        }
    }

    /// Acquires the lock of a run, or returns the holder.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where another process follows the run.
    pub fn take(path: &Path, run: &str) -> Result<Self, StoreError> {
        let mut pid = String::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt(path, &std::process::id().to_string())? {
                LockAttempt::Acquired(lock) => return Ok(lock),
                // Another process may only be reading the holder: that is short.
                LockAttempt::HeldBy(holder) => pid = holder,
            }
            std::thread::sleep(PAUSE);
        }
        let run = run.to_owned();
        Err(StoreError::Busy { run, pid })
    }

    /// The process that follows the run, if any does.
    pub fn holder(path: &Path) -> Option<u32> {
        let mut file = File::open(path).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        // It is written just after the lock is acquired.
        for _ in 0..ATTEMPTS {
            let mut pid = String::new();
            file.rewind().ok()?;
            file.read_to_string(&mut pid).ok()?;
            if let Ok(pid) = pid.trim().parse() {
                return Some(pid);
            }
            std::thread::sleep(PAUSE);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_holder_does_not_block_locking() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        drop(FileLock::take(&path, "run").unwrap());
        let look = path.clone();
        let watcher = std::thread::spawn(move || {
            for _ in 0..2000 {
                let _ = FileLock::holder(&look);
            }
        });
        for _ in 0..200 {
            drop(FileLock::take(&path, "run").unwrap());
        }
        watcher.join().unwrap();
        let held = FileLock::take(&path, "run").unwrap();
        assert_eq!(FileLock::holder(&path), Some(std::process::id()));
        assert!(matches!(
            FileLock::take(&path, "run"),
            Err(StoreError::Busy { .. })
        ));
        drop(held);
        assert_eq!(FileLock::holder(&path), None);
    }
}
