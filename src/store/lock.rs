//! One process follows a run at a time. The lock is the kernel's, so it ends with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::error::StoreError;

/// How often, and how long apart, a lock is tried.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(15);

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
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => {
                    file.set_len(0)
                        .and_then(|()| file.rewind())
                        .map_err(StoreError::io("write", path))?;
                    write!(file, "{}", std::process::id())
                        .map_err(StoreError::io("write", path))?;
                    return Ok(Self { _file: file });
                }
                // Somebody may only be looking who has it: that takes no time.
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", path)(error)),
            }
        }
        let mut pid = String::new();
        let _ = file.read_to_string(&mut pid);
        Err(StoreError::Busy {
            run: run.to_owned(),
            pid,
        })
    }

    /// The process that follows the run, if any does.
    #[must_use]
    pub fn holder(path: &Path) -> Option<u32> {
        let mut file = File::open(path).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        // It is written just after the lock is taken.
        for _ in 0..LOOKS {
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
    fn looking_who_has_it_does_not_keep_anybody_from_taking_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        drop(RunLock::take(&path, "run").unwrap());
        let look = path.clone();
        let watcher = std::thread::spawn(move || {
            for _ in 0..2000 {
                let _ = RunLock::holder(&look);
            }
        });
        for _ in 0..200 {
            drop(RunLock::take(&path, "run").unwrap());
        }
        watcher.join().unwrap();
        let held = RunLock::take(&path, "run").unwrap();
        assert_eq!(RunLock::holder(&path), Some(std::process::id()));
        assert!(matches!(
            RunLock::take(&path, "run"),
            Err(StoreError::Busy { .. })
        ));
        drop(held);
        assert_eq!(RunLock::holder(&path), None);
    }
}
