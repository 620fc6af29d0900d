//! The Python client's lock files, so that its downloads and ours wait for each other.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{FetchError, strip_control_characters};

/// The lock that a process holds while it downloads a blob. The lock is the kernel's, so it ends with the process.
#[derive(Debug)]
pub struct BlobLock {
    _file: File,
}

impl BlobLock {
    /// Acquires the lock; none if another process holds it.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, FetchError> {
        let mut options = OpenOptions::new();
        // Other users who share the cache by a group must be able to acquire it.
        options.create(true).truncate(false).read(true).write(true).mode(0o664);
        loop {
            let file = options.open(path).map_err(FetchError::io("open", path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Lustre and some network file systems have no locks. Two processes may then
                // download the same bytes; the hash and the rename keep the cache correct.
                Err(TryLockError::Error(error))
                    if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => {
                    return Err(FetchError::io("lock", path)(error));
                }
            }
            // Older versions of filelock delete the file on release: then this lock protects nothing.
            let ours = file.metadata().map_err(FetchError::io("read", path))?;
            if fs::metadata(path).is_ok_and(|there| there.ino() == ours.ino()) {
                return Ok(Some(Self { _file: file }));
            }
        }
    }
}

/// Returns the holder of the lock, as far as the kernel reports it.
pub fn describe_holder(path: &Path) -> String {
    let process = fs::metadata(path).ok().and_then(|file| {
        let locks = fs::read_to_string("/proc/locks").ok()?;
        find_lock_holder(&locks, file.ino())
    });
    match process {
        Some(process) => {
            let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            let name = strip_control_characters(name.trim());
            format!("process {process} ({name})")
        }
        None => "another process".to_owned(),
    }
}

/// `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`
fn find_lock_holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, place, ..] = words.as_slice() else {
            return None;
        };
        let (_, of) = place.rsplit_once(':')?;
        // A process of another namespace is 0 or -1.
        let holder = process.parse().ok().filter(|process| *process > 0)?;
        (of.parse() == Ok(inode)).then_some(holder)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_that_can_be_identified() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.lock");
        let held = BlobLock::try_acquire(&path).unwrap().unwrap();
        assert!(BlobLock::try_acquire(&path).unwrap().is_none());
        let who = describe_holder(&path);
        assert!(who.contains(&std::process::id().to_string()) || who == "another process", "{who}");
        drop(held);
        assert!(BlobLock::try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn the_holder_is_read_from_proc_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 10 08:01:131 0 EOF\n\
            2: FLOCK  ADVISORY  WRITE 4711 00:2d:132 0 EOF\n\
            2: -> FLOCK  ADVISORY  WRITE 4712 00:2d:131 0 EOF\n\
            3: FLOCK  ADVISORY  WRITE -1 00:2d:133 0 EOF\n";
        assert_eq!(find_lock_holder(locks, 132), Some(4711));
        assert_eq!(find_lock_holder(locks, 131), None);
        assert_eq!(find_lock_holder(locks, 133), None);
    }
}
