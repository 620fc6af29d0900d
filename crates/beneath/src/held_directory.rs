//! A directory that stays the same one, whatever takes its place.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open};
use rustix::io::Errno;

use super::open_beneath;

/// An open directory, and the path by which it was opened.
#[derive(Debug, Clone)]
pub struct HeldDirectory {
    path: PathBuf,
    handle: Arc<OwnedFd>,
}

impl HeldDirectory {
    /// # Errors
    /// If there is no such directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = Arc::new(open(path, flags, Mode::empty())?);
        Ok(Self { path: path.to_owned(), handle })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path that the directory has now, whatever has its name: that of its deletion where it was deleted.
    ///
    /// # Errors
    /// If `/proc` is not there.
    pub fn current_path(&self) -> io::Result<PathBuf> {
        std::fs::read_link(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// Returns its owner and mode, whatever has its name.
    ///
    /// # Errors
    /// Those of fstat(2).
    pub fn metadata(&self) -> io::Result<Stat> {
        Ok(fstat(&self.handle)?)
    }

    /// See [`open_beneath`].
    ///
    /// # Errors
    /// Those of [`open_beneath`].
    pub fn open_beneath(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_beneath(&self.handle, relative, flags)
    }

    /// Opens a regular file that is reached through no link.
    ///
    /// # Errors
    /// If it is a link, or something else, or cannot be read.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = self.open_beneath(relative, flags).map_err(|error| match error {
            Errno::LOOP => io::Error::other("it is a link, or is reached through one"),
            error => error.into(),
        })?;
        if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(File::from(opened))
    }

    /// Whether there is something at a path, be it a link or reached through one; none if that cannot be found out.
    pub fn contains(&self, relative: &Path) -> Option<bool> {
        match self.open_beneath(relative, OFlags::PATH) {
            Ok(_) | Err(Errno::LOOP) => Some(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Some(false),
            Err(_) => None,
        }
    }

    /// Opens a file directly in it, which may be a link.
    ///
    /// # Errors
    /// Those of openat(2).
    pub fn open_entry(&self, name: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.handle, name, flags, Mode::empty())?))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_directory_that_is_moved_is_known_by_where_it_is() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        fs::create_dir(at("own")).unwrap();
        let held = HeldDirectory::open(&at("own")).unwrap();
        assert_eq!(held.current_path().unwrap(), at("own"));
        fs::rename(at("own"), at("moved")).unwrap();
        fs::create_dir(at("own")).unwrap();
        assert_eq!((held.path(), held.current_path().unwrap()), (&*at("own"), at("moved")));
    }
}
