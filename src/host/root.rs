//! Bounded reading of small text files below a root path.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The most that is read of a file: only `/proc/cpuinfo` is longer, and what is wanted of it
/// stands at its beginning.
const MOST_BYTES: u64 = 64 << 10;
/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 4096;

/// Where a host's files begin.
pub struct Root {
    path: PathBuf,
    unread: RefCell<Vec<String>>,
}

impl Root {
    /// The host behind `path`.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            unread: RefCell::default(),
        }
    }

    /// As [`Root::text`], for a file without which something is not found: where it is there and
    /// cannot be read, that is noted.
    pub fn needed(&self, path: &str) -> Option<String> {
        if let Err(error) = self.attempt(path)
            && error.kind() != ErrorKind::NotFound
        {
            self.note(format!("/{path}: {}", reason(&error)));
            return None;
        }
        self.text(path)
    }

    /// Notes what could not be read, and why.
    pub fn note(&self, reason: String) {
        self.unread.borrow_mut().push(reason);
    }

    /// What could not be read so far.
    pub fn unread(&self) -> Vec<String> {
        self.unread.borrow().clone()
    }

    /// Whether the host is the machine that we run on, not one that was planted.
    pub fn is_this_machine(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Whether something is there.
    pub fn is_there(&self, path: &str) -> bool {
        self.path.join(path).symlink_metadata().is_ok()
    }

    /// The number of the group that has a file or a device; none for root's.
    pub fn group(&self, path: &str) -> Option<u32> {
        let status = std::fs::metadata(self.path.join(path)).ok()?;
        Some(status.gid()).filter(|group| *group != 0)
    }

    /// A file's bytes; none where it is no readable file or is empty.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        // A read that fails half-way (a device that goes away) still leaves what came before it.
        let _ = file.take(MOST_BYTES).read_to_end(&mut bytes);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// A file's text, without blanks at its ends; none where it is no readable file or is empty.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file's only number, decimal.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// A file's only number, hexadecimal with or without `0x`, as sysfs writes PCI ids.
    pub fn hexadecimal(&self, path: &str) -> Option<u32> {
        let text = self.text(path)?;
        u32::from_str_radix(text.strip_prefix("0x").unwrap_or(&text), 16).ok()
    }

    /// Names in a folder, sorted; none where it is no readable folder.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path.join(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .take(MOST_ENTRIES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Opens a regular file; never waits for a writer where a pipe stands in its place.
    fn open(&self, path: &str) -> Option<File> {
        self.attempt(path).ok()
    }

    fn attempt(&self, path: &str) -> io::Result<File> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(self.path.join(path))?;
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    }
}

/// The system's words, without the error's number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or_default();
    plain.to_lowercase()
}
