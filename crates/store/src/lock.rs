//! One process at a time follows a run, or populates a cached directory. It is a kernel lock, so it ends with
//! the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{fstat, stat};
use rustix::stdio::dup2_stdin;

use super::error::StoreError;
pub use super::lock_holder::LockHolder;
use super::process::ProcessIdentity;

/// The number of attempts to acquire a lock, and the interval.
const MAX_ATTEMPTS: u32 = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(15);

/// The outcome of one attempt to acquire a lock.
#[derive(Debug)]
pub enum LockAttempt {
    /// This process holds the lock until the value is dropped.
    Acquired(FileLock),
    /// Another process holds it.
    HeldBy(LockHolder),
}

/// The lock of a run, a batch or a cached directory, held by this process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Tries once to acquire the lock, and writes this process and its work into its file.
    ///
    /// # Errors
    /// If the file cannot be opened or written.
    pub fn try_acquire(path: &Path, work: &str) -> Result<LockAttempt, StoreError> {
        let inherited = take_inherited_file(path).map(Ok);
        let file = inherited
            .unwrap_or_else(|| {
                OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
            })
            .map_err(StoreError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => {
                let holder = LockHolder {
                    process: Some(ProcessIdentity::current().clone()),
                    work: work.to_owned(),
                };
                holder.write(&file).map_err(StoreError::io("write", path))?;
                Ok(LockAttempt::Acquired(Self { file }))
            }
            Err(TryLockError::WouldBlock) => {
                let holder = LockHolder::read(&file).unwrap_or_default();
                Ok(LockAttempt::HeldBy(holder))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", path)(error)),
        }
    }

    /// Acquires the lock of a run, or returns the holder.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where another process follows the run.
    pub fn acquire(path: &Path, run: &str) -> Result<Self, StoreError> {
        let mut holder = LockHolder::default();
        for _ in 0..MAX_ATTEMPTS {
            match Self::try_acquire(path, "")? {
                LockAttempt::Acquired(lock) => return Ok(lock),
                // Another process may only be reading the holder: that is short.
                LockAttempt::HeldBy(other) => holder = other,
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
        Err(StoreError::Busy { run: run.to_owned(), holder: Box::new(holder) })
    }

    /// Returns the lock's file, which becomes the standard input of the process that takes the lock over. The lock is
    /// never free in between.
    ///
    /// # Errors
    /// If the operating system refuses another descriptor.
    pub fn share_file(&self) -> std::io::Result<File> {
        self.file.try_clone()
    }

    /// The process that started this one and handed it the lock, which this one has not acquired yet.
    pub fn find_predecessor(path: &Path) -> Option<ProcessIdentity> {
        let file = File::open(path).ok().filter(|_| is_inherited(path))?;
        LockHolder::read(&file)?.process
    }

    /// The process that follows the run, if any does.
    pub fn find_holder(path: &Path) -> Option<LockHolder> {
        let file = File::open(path).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        // It is written just after the lock is acquired.
        for _ in 0..MAX_ATTEMPTS {
            if let Some(holder) = LockHolder::read(&file) {
                return Some(holder);
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
        Some(LockHolder::default())
    }
}

/// Whether this process was started with the lock's file as its standard input.
fn is_inherited(path: &Path) -> bool {
    let (Ok(input), Ok(lock)) = (fstat(std::io::stdin()), stat(path)) else {
        return false;
    };
    (input.st_dev, input.st_ino) == (lock.st_dev, lock.st_ino)
}

/// Returns the lock's file with which this process was started. Its own child processes do not inherit it.
fn take_inherited_file(path: &Path) -> Option<File> {
    if !is_inherited(path) {
        return None;
    }
    let file = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    dup2_stdin(File::open("/dev/null").ok()?).ok()?;
    Some(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_holder_does_not_block_locking() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        drop(FileLock::acquire(&path, "run").unwrap());
        let look = path.clone();
        let watcher = std::thread::spawn(move || {
            for _ in 0..2000 {
                let _ = FileLock::find_holder(&look);
            }
        });
        for _ in 0..200 {
            drop(FileLock::acquire(&path, "run").unwrap());
        }
        watcher.join().unwrap();
        let held = FileLock::acquire(&path, "run").unwrap();
        let holder = FileLock::find_holder(&path).unwrap();
        assert_eq!(holder.process.as_ref(), Some(ProcessIdentity::current()));
        assert_eq!(holder.to_string(), format!("process {}", std::process::id()));
        assert!(matches!(FileLock::acquire(&path, "run"), Err(StoreError::Busy { .. })));
        drop(held);
        assert_eq!(FileLock::find_holder(&path), None);
    }

    #[test]
    fn a_held_lock_whose_file_names_no_process_has_an_unknown_holder() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = FileLock::acquire(&path, "run").unwrap();
        std::fs::write(&path, "4711").unwrap();
        let holder = FileLock::find_holder(&path).unwrap();
        assert_eq!(holder, LockHolder::default());
        assert_eq!(holder.to_string(), "an unknown process");
        drop(held);
    }
}
