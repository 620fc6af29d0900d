//! A directory that a container may write to, held open: everything in it is opened one name at a time and
//! never through a link, so that a container's root cannot redirect a write, a rename or a change of mode out
//! of it (a link in place of a directory of ours).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, fchmod, fstat, linkat, mkdirat, mkfifoat, open,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::error::StoreError;
use retrial_beneath::open_beneath;

/// Flags for opening a file to read: not through a link, and without waiting for a pipe's writer.
const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A directory, held open.
#[derive(Debug)]
pub struct DirHandle {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl DirHandle {
    /// Opens a directory of ours; its path is trusted.
    ///
    /// # Errors
    /// If it is missing or no directory.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = open(path, flags, Mode::empty()).map_err(StoreError::io("open", path))?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// Opens a directory in it.
    ///
    /// # Errors
    /// If it is missing, a link, or no directory.
    pub fn open_directory(&self, name: &str) -> Result<Self, StoreError> {
        let path = self.path.join(name);
        let descriptor = self.open_entry(name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self { descriptor, path })
    }

    /// Opens an entry of this name, without following links.
    fn open_entry(&self, name: &str, flags: OFlags) -> Result<OwnedFd, StoreError> {
        let open_flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.descriptor, name, open_flags, Mode::empty())
            .map_err(open_error(&self.path.join(name)))
    }

    /// Creates a directory in it and opens it.
    ///
    /// # Errors
    /// If it already exists, or the disk is full.
    pub fn create_directory(&self, name: &str, mode: u32) -> Result<Self, StoreError> {
        mkdirat(&self.descriptor, name, Mode::from_raw_mode(0o700))
            .map_err(StoreError::io("create", &self.path.join(name)))?;
        let directory = self.open_directory(name)?;
        directory.set_mode(mode)?;
        Ok(directory)
    }

    /// Sets its mode, regardless of the umask.
    ///
    /// # Errors
    /// If it is not ours.
    pub fn set_mode(&self, mode: u32) -> Result<(), StoreError> {
        fchmod(&self.descriptor, Mode::from_raw_mode(mode))
            .map_err(StoreError::io("change the permissions of", &self.path))
    }

    /// Writes a file in it atomically, replacing an existing one.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write_file(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), StoreError> {
        let part = format!("{name}.part");
        let path = self.path.join(&part);
        self.remove(&part)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(&self.descriptor, &part, flags, Mode::from_raw_mode(0o600))
            .map_err(StoreError::io("create", &path))?;
        fchmod(&descriptor, Mode::from_raw_mode(mode))
            .map_err(StoreError::io("change the permissions of", &path))?;
        let mut file = File::from(descriptor);
        file.write_all(bytes).map_err(StoreError::io("write", &path))?;
        self.rename(&part, name)
    }

    /// Creates a named pipe in it, replacing an existing file.
    ///
    /// # Errors
    /// If the file system has no pipes.
    pub fn create_pipe(&self, name: &str, mode: u32) -> Result<(), StoreError> {
        let path = self.path.join(name);
        self.remove(name)?;
        let mode = Mode::from_raw_mode(mode);
        mkfifoat(&self.descriptor, name, mode).map_err(StoreError::io("create", &path))
    }

    /// Writes to a named pipe in it that has a reader, without waiting.
    ///
    /// # Errors
    /// If it has no reader, or is not a pipe.
    pub fn write_to_pipe(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path.join(name);
        let pipe = self.open_entry(name, OFlags::WRONLY | OFlags::NONBLOCK)?;
        let mut pipe = require_file_type(pipe, FileType::Fifo, &path, "it is not a pipe")?;
        pipe.write_all(bytes).map_err(StoreError::io("write", &path))
    }

    /// Renames an entry within the directory, replacing an existing one.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        renameat(&self.descriptor, from, &self.descriptor, to)
            .map_err(StoreError::io("rename", &self.path.join(from)))
    }

    /// Removes a file; a missing one is not an error.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        match unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Err(Errno::NOENT) | Ok(()) => Ok(()),
            Err(error) => Err(StoreError::io("remove", &self.path.join(name))(error)),
        }
    }

    /// Lists the names of its entries, sorted.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn list_names(&self) -> Result<Vec<OsString>, StoreError> {
        let entries =
            Dir::read_from(&self.descriptor).map_err(StoreError::io("read", &self.path))?;
        let mut names = Vec::new();
        for entry in entries {
            let dir_entry = entry.map_err(StoreError::io("read", &self.path))?;
            let name = OsStr::from_bytes(dir_entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns whether a directory of that name exists, not a link to one.
    pub fn is_directory(&self, name: &str) -> bool {
        let found = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Returns whether an entry of that name exists, including a link.
    pub fn has_entry(&self, name: &str) -> bool {
        statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Links a file of ours into the directory.
    ///
    /// # Errors
    /// If the name is in use, or the file system has no links.
    pub fn link_file(&self, from: &Path, name: &str) -> Result<(), StoreError> {
        linkat(CWD, from, &self.descriptor, name, AtFlags::empty())
            .map_err(StoreError::io("link", from))
    }

    /// Opens a regular file beneath it for reading, without following links.
    ///
    /// # Errors
    /// If it is missing, a link, not a regular file, or outside.
    pub fn open_file(&self, relative: &Path) -> Result<File, StoreError> {
        let path = self.path.join(relative);
        let opened = match open_beneath(&self.descriptor, relative, FILE_FLAGS) {
            Err(Errno::XDEV) => {
                return Err(StoreError::unusable(&path, "it is outside its directory"));
            }
            opened => opened.map_err(open_error(&path))?,
        };
        let reason = "it is not a regular file";
        require_file_type(opened, FileType::RegularFile, &path, reason)
    }
}

/// An opened file, if it is of this type.
fn require_file_type(
    opened: OwnedFd,
    file_type: FileType,
    path: &Path,
    reason: &str,
) -> Result<File, StoreError> {
    let status = fstat(&opened).map_err(StoreError::io("open", path))?;
    if FileType::from_raw_mode(status.st_mode) != file_type {
        return Err(StoreError::unusable(path, reason));
    }
    Ok(File::from(opened))
}

/// The error of opening an entry that may be a link.
fn open_error(path: &Path) -> impl FnOnce(Errno) -> StoreError {
    move |error| match error {
        Errno::LOOP | Errno::NOTDIR => {
            StoreError::unusable(path, "it is a link, or reached through one")
        }
        other => StoreError::io("open", path)(other),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_symlink_in_the_path_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("precious"), "kept").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let directory = DirHandle::open(inside.path()).unwrap();
        symlink(outside.path().join("precious"), inside.path().join("deadline")).unwrap();
        symlink(outside.path().join("precious"), inside.path().join("deadline.part")).unwrap();
        symlink(outside.path(), inside.path().join("steps")).unwrap();

        directory.write_file("deadline", b"12\n", 0o644).unwrap();
        assert_eq!(std::fs::read(inside.path().join("deadline")).unwrap(), b"12\n");
        assert_eq!(std::fs::read(outside.path().join("precious")).unwrap(), b"kept");
        assert!(directory.open_directory("steps").is_err());
        assert!(directory.create_directory("steps", 0o755).is_err());
    }
}
