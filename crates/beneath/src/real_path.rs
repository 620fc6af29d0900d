//! Where a path leads: its links are resolved once, and the outcome is held by name and by identity, so that it can
//! be compared later.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, open};

use crate::open_beneath;

/// A path without links, and the identity of the file that it named when it was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealPath {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl RealPath {
    /// Resolves all links of a path.
    ///
    /// # Errors
    /// If it does not exist, or is replaced meanwhile.
    pub fn resolve(path: &Path) -> io::Result<Self> {
        Self::open(path.canonicalize()?)
    }

    /// Resolves a path that must lead to a file or directory beneath a directory; none if it leads elsewhere.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_beneath(directory: &Path, path: &Path) -> io::Result<Option<Self>> {
        let real_directory = directory.canonicalize()?;
        let real_path = path.canonicalize()?;
        let Ok(relative) = real_path.strip_prefix(&real_directory) else {
            return Ok(None);
        };
        let handle = open_root(&real_directory)?;
        let opened = open_beneath(handle, relative, OFlags::PATH)?;
        Self::from_handle(&opened, real_path).map(Some)
    }

    /// Opens an absolute path, no part of which may be a link.
    fn open(path: PathBuf) -> io::Result<Self> {
        let relative = path.strip_prefix("/").unwrap_or(&path);
        let opened = open_beneath(open_root(Path::new("/"))?, relative, OFlags::PATH)?;
        Self::from_handle(&opened, path)
    }

    fn from_handle(opened: &OwnedFd, path: PathBuf) -> io::Result<Self> {
        let status = fstat(opened)?;
        Ok(Self { path, device: status.st_dev, inode: status.st_ino })
    }

    /// Returns the path without links, as it was resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the path still names the same file, and no part of it has become a link.
    pub fn is_unchanged(&self) -> bool {
        Self::open(self.path.clone()).is_ok_and(|now| now == *self)
    }
}

fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Resolves the links of a path as far as it exists: the rest is appended.
pub fn resolve_existing(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, real)) = existing else {
        return path.to_owned();
    };
    match path.strip_prefix(part) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_that_leads_out_of_its_directory_is_not_beneath_it() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("own");
        fs::create_dir_all(own.join("data/inner")).unwrap();
        symlink("data", own.join("inside")).unwrap();
        symlink("/", own.join("host")).unwrap();
        symlink("..", own.join("above")).unwrap();
        let beneath = |name: &str| RealPath::resolve_beneath(&own, &own.join(name)).unwrap();
        assert_eq!(beneath("inside/inner").unwrap().path(), own.join("data/inner"));
        assert_eq!(beneath(".").unwrap().path(), own);
        for name in ["host", "above", "host/etc", "above/own/../.."] {
            assert_eq!(beneath(name), None, "{name}");
        }
        assert!(RealPath::resolve_beneath(&own, &own.join("missing")).is_err());
    }

    #[test]
    fn a_directory_that_is_replaced_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let data = root.path().join("data");
        fs::create_dir(&data).unwrap();
        let real = RealPath::resolve(&data).unwrap();
        assert!(real.is_unchanged());
        fs::rename(&data, root.path().join("aside")).unwrap();
        symlink("/", &data).unwrap();
        assert!(!real.is_unchanged(), "it is a link");
        fs::remove_file(&data).unwrap();
        fs::create_dir(&data).unwrap();
        assert!(!real.is_unchanged(), "it is another directory");
    }

    #[test]
    fn a_path_that_does_not_exist_is_resolved_as_far_as_it_does() {
        let root = tempfile::tempdir().unwrap();
        symlink("/usr", root.path().join("link")).unwrap();
        let resolved = resolve_existing(&root.path().join("link/none/x"));
        assert_eq!(resolved, Path::new("/usr/none/x"));
    }
}
