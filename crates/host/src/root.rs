//! Bounded reading of small text files below a root path.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The maximum size read of a file: only `/proc/cpuinfo` is longer, and its relevant part is at the beginning.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// The maximum size read of the few files that are known to be large: dpkg's status has some 5 MB.
const MAX_LARGE_FILE_BYTES: u64 = 64 << 20;
/// The size of nearly all files in sysfs.
const PAGE_BYTES: usize = 4 << 10;
/// The maximum number of entries read of a folder.
const MAX_FOLDER_ENTRIES: usize = 4096;

/// The most links that lead to one file, as of Linux.
const MAX_LINKS: usize = 40;

/// The root of a host's files.
pub struct HostRoot {
    path: PathBuf,
    read_errors: RefCell<Vec<String>>,
}

impl HostRoot {
    /// The host below `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), read_errors: RefCell::default() }
    }

    /// As [`HostRoot::read_text`], for a file required for detection: notes one that exists and cannot be read.
    pub fn read_required_text(&self, path: &str) -> Option<String> {
        match self.open_regular_file(path) {
            Ok(file) => decode_text(&read_beginning(file)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                self.record_read_error(format!("/{path}: {}", system_message(&error)));
                None
            }
        }
    }

    pub fn record_read_error(&self, reason: String) {
        self.read_errors.borrow_mut().push(reason);
    }

    /// Returns the read errors so far.
    pub fn read_errors(&self) -> Vec<String> {
        self.read_errors.borrow().clone()
    }

    /// Returns whether the host is the machine that we run on, not a test's tree.
    pub fn is_this_machine(&self) -> bool {
        self.path == Path::new("/")
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path.join(path).symlink_metadata().is_ok()
    }

    /// Returns the path that a symbolic link leads to, below this root; the path itself if it is none.
    pub fn resolve_link(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let Ok(target) = std::fs::read_link(self.path.join(&path)) else { break };
            let parent = Path::new(&path).parent().unwrap_or(Path::new(""));
            let target =
                target.strip_prefix("/").map_or_else(|_| parent.join(&target), Path::to_owned);
            path = target.to_string_lossy().into_owned();
        }
        path
    }

    /// Returns the group id of a file or a device; none for root's.
    pub fn group_id(&self, path: &str) -> Option<u32> {
        let status = std::fs::metadata(self.path.join(path)).ok()?;
        Some(status.gid()).filter(|group| *group != 0)
    }

    /// Reads a file's bytes; none if it is not a readable file or is empty.
    pub fn read_bytes(&self, path: &str) -> Option<Vec<u8>> {
        read_beginning(self.open_regular_file(path).ok()?)
    }

    /// Reads a file's text, trimmed; none if it is not a readable file or is empty.
    pub fn read_text(&self, path: &str) -> Option<String> {
        decode_text(&self.read_bytes(path)?)
    }

    /// Reads the text of a file that may have megabytes, up to 64 MiB.
    pub fn read_large_text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let file = self.open_regular_file(path).ok()?;
        file.take(MAX_LARGE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        decode_text(&bytes)
    }

    /// Reads a file's only number, decimal.
    pub fn read_number(&self, path: &str) -> Option<u64> {
        self.read_text(path)?.parse().ok()
    }

    /// Reads a file's only number, hexadecimal with or without `0x`, as sysfs writes PCI ids.
    pub fn read_hexadecimal(&self, path: &str) -> Option<u32> {
        let text = self.read_text(path)?;
        u32::from_str_radix(text.strip_prefix("0x").unwrap_or(&text), 16).ok()
    }

    /// Lists the names in a folder, sorted; none if it is not a readable folder.
    pub fn list_names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path.join(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .take(MAX_FOLDER_ENTRIES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Opens a regular file; never waits for a writer of a pipe in its place.
    fn open_regular_file(&self, path: &str) -> io::Result<File> {
        let open_flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(open_flags.bits()).map_err(io::Error::other)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path.join(path))?;
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    }
}

/// Reads a file up to the maximum size; none if it is empty.
fn read_beginning(file: File) -> Option<Vec<u8>> {
    // The size of a sysfs file is unknown. Nearly all fit into one page, and are read at once.
    let mut bytes = Vec::with_capacity(PAGE_BYTES);
    // A read that fails half-way (a removed device) still returns the bytes before the error.
    let _ = file.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
    (!bytes.is_empty()).then_some(bytes)
}

/// Decodes a file's text, trimmed; none if only blanks are left.
fn decode_text(bytes: &[u8]) -> Option<String> {
    let lossy = String::from_utf8_lossy(bytes);
    let text = lossy.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the system's message, without the error number.
fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or_default();
    plain.to_lowercase()
}
