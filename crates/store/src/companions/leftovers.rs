//! Removes what a container must not leave in a directory that it could write: set-user-ID files, files with
//! capabilities, and device nodes.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags, fremovexattr, lgetxattr, openat, unlinkat};
use rustix::io::Errno;
use walkdir::{DirEntry, WalkDir};

use retrial_beneath::open_beneath;

/// The set-user-ID and set-group-ID bits.
const SET_ID_BITS: u32 = 0o6000;

/// The attribute with a file's capabilities, capabilities(7).
const CAPABILITY_ATTRIBUTE: &str = "security.capability";

/// A file with privileges, or a device node, that a container left.
#[derive(Debug)]
pub struct PrivilegedFile {
    pub path: PathBuf,
    /// Whether its privileges, or the node, could be removed.
    pub removed: io::Result<()>,
}

/// Removes device nodes and files' privileges below a directory of ours. What belongs to somebody else is removed.
pub fn remove_privileged_files(root: &Path) -> Vec<PrivilegedFile> {
    let remove = |entry: &DirEntry| {
        // Its directory is ours, even where the file is the container's.
        revoke_privileges(root, entry).or_else(|_| fs::remove_file(entry.path()))
    };
    privileged_entries(root, None).map(|entry| removed_file(entry, remove)).collect()
}

/// The same of a directory of the host: only of what changed after a time, and nothing is removed but device nodes.
pub fn revoke_privileged_files(root: &Path, since: Timestamp) -> Vec<PrivilegedFile> {
    let revoke = |entry: &DirEntry| revoke_privileges(root, entry);
    privileged_entries(root, Some(since)).map(|entry| removed_file(entry, revoke)).collect()
}

fn removed_file(entry: DirEntry, remove: impl Fn(&DirEntry) -> io::Result<()>) -> PrivilegedFile {
    PrivilegedFile { removed: remove(&entry), path: entry.into_path() }
}

fn privileged_entries(root: &Path, since: Option<Timestamp>) -> impl Iterator<Item = DirEntry> {
    let entries = WalkDir::new(root).same_file_system(true).into_iter().filter_map(Result::ok);
    entries.filter(move |entry| {
        let Ok(status) = entry.metadata() else { return false };
        let is_new = since.is_none_or(|since| status.ctime() >= since.as_second());
        let kind = status.file_type();
        let is_device = kind.is_block_device() || kind.is_char_device();
        is_new && (is_device || kind.is_file() && has_privileges(entry.path(), status.mode()))
    })
}

fn has_privileges(path: &Path, mode: u32) -> bool {
    mode & SET_ID_BITS != 0 || lgetxattr(path, CAPABILITY_ATTRIBUTE, &mut [0; 64]).is_ok()
}

/// A directory above it may have become a link meanwhile: it is opened beneath the root.
fn revoke_privileges(root: &Path, entry: &DirEntry) -> io::Result<()> {
    let relative = entry.path().strip_prefix(root).unwrap_or(Path::new(""));
    let Some(name) = relative.file_name() else {
        // The root itself, a single file.
        return revoke_of_file(&File::open(root)?);
    };
    let directory = relative.parent().unwrap_or(Path::new(""));
    let above = open_beneath(File::open(root)?, directory, OFlags::DIRECTORY)?;
    if !entry.file_type().is_file() {
        return Ok(unlinkat(above, name, AtFlags::empty())?);
    }
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    revoke_of_file(&File::from(openat(above, name, flags, Mode::empty())?))
}

fn revoke_of_file(file: &File) -> io::Result<()> {
    match fremovexattr(file, CAPABILITY_ATTRIBUTE) {
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
        Err(error) => return Err(error.into()),
    }
    let mode = file.metadata()?.mode();
    file.set_permissions(Permissions::from_mode(mode & 0o1777))
}
