//! Removes what a container must not leave in a directory that it could write: set-user-ID files, files with
//! capabilities, and device nodes. Walks by handles, which no link leads away, and no long path ends.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fgetxattr, fremovexattr, openat, statat,
    unlinkat,
};
use rustix::io::Errno;

/// The set-user-ID and set-group-ID bits.
const SET_ID_BITS: u32 = 0o6000;

/// The attribute with a file's capabilities, capabilities(7).
const CAPABILITY_ATTRIBUTE: &str = "security.capability";

/// The most directories within one another that are searched: each is open meanwhile.
const MAX_DEPTH: usize = 400;

/// A file with privileges or a device node that a container left, or a directory that cannot be searched for them.
#[derive(Debug)]
pub struct PrivilegedFile {
    pub path: PathBuf,
    /// Whether its privileges, or the node, could be removed.
    pub removed: io::Result<()>,
}

/// Removes device nodes and files' privileges below a directory of ours. A file that keeps them is removed.
pub fn remove_privileged_files(root: &Path) -> Vec<PrivilegedFile> {
    search(root, None)
}

/// The same of a directory of the host: only of what changed after a time, and of files nothing else.
pub fn revoke_privileged_files(root: &Path, since: Timestamp) -> Vec<PrivilegedFile> {
    search(root, Some(since))
}

fn search(root: &Path, since: Option<Timestamp>) -> Vec<PrivilegedFile> {
    let mut search = Search { since, found: Vec::new() };
    let entry = root.file_name().zip(root.parent());
    let (name, parent) = entry.unwrap_or((OsStr::new("/"), Path::new("/")));
    match openat(CWD, parent, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()) {
        Ok(parent) => search.visit(&parent, name, root, 0),
        Err(Errno::NOENT) => {}
        Err(error) => search.report(root, Err(error.into())),
    }
    search.found
}

struct Search {
    since: Option<Timestamp>,
    found: Vec<PrivilegedFile>,
}

impl Search {
    fn report(&mut self, path: &Path, removed: io::Result<()>) {
        self.found.push(PrivilegedFile { path: path.to_owned(), removed });
    }

    fn visit(&mut self, parent: &OwnedFd, name: &OsStr, path: &Path, depth: usize) {
        let status = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::NOENT) => return,
            Err(error) => return self.report(path, Err(error.into())),
        };
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Directory => {
                if let Err(error) = self.visit_content(parent, name, path, depth) {
                    self.report(path, Err(error));
                }
            }
            FileType::RegularFile if self.is_new(&status) => {
                self.visit_file(parent, name, path, &status);
            }
            FileType::BlockDevice | FileType::CharacterDevice if self.is_new(&status) => {
                let removed = unlinkat(parent, name, AtFlags::empty());
                self.report(path, removed.map_err(io::Error::from));
            }
            _ => {}
        }
    }

    fn is_new(&self, status: &Stat) -> bool {
        let changed = Timestamp::new(
            status.st_ctime,
            i32::try_from(status.st_ctime_nsec).unwrap_or_default(),
        );
        self.since.is_none_or(|since| changed.is_ok_and(|changed| changed >= since))
    }

    fn visit_content(
        &mut self,
        parent: &OwnedFd,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("too many directories within one another"));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(parent.as_fd(), name, flags, Mode::empty())?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                self.visit(&opened, name, &path.join(name), depth + 1);
            }
        }
        Ok(())
    }

    fn visit_file(&mut self, parent: &OwnedFd, name: &OsStr, path: &Path, status: &Stat) {
        let has_bits = status.st_mode & SET_ID_BITS != 0;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(parent.as_fd(), name, flags, Mode::empty()).map(File::from);
        let revoked = match opened {
            Ok(file) if has_bits || has_capabilities(&file) => revoke_privileges(&file),
            Err(error) if has_bits => Err(error.into()),
            _ => return,
        };
        let is_ours = self.since.is_none();
        let removed = match revoked {
            Err(_) if is_ours => unlinkat(parent, name, AtFlags::empty()).map_err(io::Error::from),
            revoked => revoked,
        };
        self.report(path, removed);
    }
}

fn has_capabilities(file: &File) -> bool {
    fgetxattr(file, CAPABILITY_ATTRIBUTE, &mut [0; 64]).is_ok()
}

fn revoke_privileges(file: &File) -> io::Result<()> {
    match fremovexattr(file, CAPABILITY_ATTRIBUTE) {
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
        Err(error) => return Err(error.into()),
    }
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(Permissions::from_mode(mode & 0o1777))
}
