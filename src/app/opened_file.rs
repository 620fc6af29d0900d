//! Files whose owners decide what may happen: read and checked by one handle, whatever takes the file's name, or that of a
//! directory on its way, meanwhile.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat};
use rustix::io::Errno;

use crate::app::failure::Failure;
use crate::app::file_owners::{MAX_LINKS, TrustedOwners, path_parts};
use retrial_recipe::MAX_DOCUMENT_BYTES;

/// Flags for a file that is read: not through a link, and without waiting for a pipe's writer.
const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Flags for a directory or a link on the way.
const WAY_FLAGS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The owner and the mode that a file had when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    path: PathBuf,
    owner: u32,
    mode: u32,
}

impl OpenedFile {
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Checks who owned it and who could write it. The error ends with the reason.
    ///
    /// # Errors
    /// Another user owned it or could write it.
    pub fn require_trusted(&self, reason: &str) -> Result<(), Failure> {
        let trusted = TrustedOwners::for_current_user(reason);
        trusted.check_unshared(&self.path, self.owner, self.mode)
    }
}

/// Reads a document that was opened, and who owns it and can write it: of a larger one so much that it is refused.
///
/// # Errors
/// It cannot be read.
pub fn read_document_file(file: File, path: &Path) -> io::Result<(Vec<u8>, OpenedFile)> {
    let status = fstat(&file)?;
    let mut bytes = Vec::new();
    // One byte more than the limit shows that a file is too large without reading it all.
    file.take(MAX_DOCUMENT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let path = std::path::absolute(path)?;
    Ok((bytes, OpenedFile { path, owner: status.st_uid, mode: status.st_mode }))
}

/// Reads a file that nobody else can have written: neither it nor a directory on its way, or on that of a link there. None
/// if it does not exist. The error ends with the reason.
///
/// # Errors
/// It cannot be read, or another user owns or can write a part of the way.
pub fn read_trusted_file(path: &Path, reason: &str) -> Result<Option<Vec<u8>>, Failure> {
    let unreadable = |error: io::Error| Failure::unreadable(None, path, &error);
    let mut way = Way::from_root(TrustedOwners::for_current_user(reason)).map_err(unreadable)?;
    let read = way.open(path).and_then(|mut file| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes)
    });
    match read {
        Ok(bytes) => way.problem.map_or(Ok(Some(bytes)), Err),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// The directories that lead to a file, of which the last is open.
struct Way<'a> {
    trusted: TrustedOwners<'a>,
    directory: OwnedFd,
    /// Its path without links.
    path: PathBuf,
    is_sticky: bool,
    /// The first thing that is not trusted.
    problem: Option<Failure>,
}

impl<'a> Way<'a> {
    fn from_root(trusted: TrustedOwners<'a>) -> io::Result<Self> {
        let path = PathBuf::from("/");
        let directory = open(&path, WAY_FLAGS | OFlags::DIRECTORY, Mode::empty())?;
        let status = fstat(&directory)?;
        let mut way = Self { trusted, directory, path, is_sticky: false, problem: None };
        way.check_directory(&status);
        Ok(way)
    }

    fn open(&mut self, path: &Path) -> io::Result<File> {
        let mut rest = path_parts(&std::path::absolute(path)?);
        let mut links = 0;
        while let Some(part) = rest.pop() {
            let entry = openat(&self.directory, &part, WAY_FLAGS, Mode::empty())?;
            let status = fstat(&entry)?;
            let next = self.path.join(&part);
            match FileType::from_raw_mode(status.st_mode) {
                FileType::Symlink if links < MAX_LINKS => {
                    links += 1;
                    self.check_entry(&next, &status);
                    let target = readlinkat(&entry, "", Vec::new())?;
                    let target = std::ffi::OsString::from_vec(target.into_bytes());
                    rest.extend(path_parts(Path::new(&target)));
                }
                FileType::Symlink => return Err(Errno::LOOP.into()),
                FileType::Directory if !rest.is_empty() => {
                    // `/`, of a link's target, and `..` are in no directory on the way.
                    if part == ".." {
                        self.path.pop();
                    } else {
                        self.check_entry(&next, &status);
                        self.path = next;
                    }
                    self.directory = entry;
                    self.check_directory(&status);
                }
                FileType::RegularFile if rest.is_empty() => {
                    let opened = openat(&self.directory, &part, FILE_FLAGS, Mode::empty())?;
                    let status = fstat(&opened)?;
                    self.check(|own| own.check_unshared(&next, status.st_uid, status.st_mode));
                    return Ok(File::from(opened));
                }
                _ if rest.is_empty() => return Err(io::Error::other("it is no regular file")),
                _ => return Err(Errno::NOTDIR.into()),
            }
        }
        Err(Errno::ISDIR.into())
    }

    /// Whoever owns an entry of a sticky directory may rename it.
    fn check_entry(&mut self, path: &Path, status: &Stat) {
        if self.is_sticky {
            self.check(|own| own.check_user(status.st_uid, path));
        }
    }

    fn check_directory(&mut self, status: &Stat) {
        self.is_sticky = Mode::from_raw_mode(status.st_mode).contains(Mode::SVTX);
        let (path, is_sticky) = (self.path.clone(), self.is_sticky);
        self.check(|own| {
            if is_sticky {
                own.check_user(status.st_uid, &path)
            } else {
                own.check_unshared(&path, status.st_uid, status.st_mode)
            }
        });
    }

    fn check(&mut self, check: impl FnOnce(&TrustedOwners<'a>) -> Result<(), Failure>) {
        if self.problem.is_none() {
            self.problem = check(&self.trusted).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    fn read(path: &Path) -> Result<Option<String>, String> {
        let read = read_trusted_file(path, "it is a test");
        let text = read.map_err(|failure| failure.to_error().message)?;
        Ok(text.map(|bytes| String::from_utf8(bytes).unwrap()))
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_read_if_nobody_else_can_write_any_part_of_its_way() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("own/inner")).unwrap();
        fs::write(at("own/inner/file"), "content").unwrap();
        fs::create_dir(at("way")).unwrap();
        symlink("../own/./inner", at("way/relative")).unwrap();
        symlink(at("own/inner"), at("way/absolute")).unwrap();
        symlink("endless", at("way/endless")).unwrap();
        let content = || Ok(Some("content".to_owned()));
        let ways = ["own/inner/file", "way/relative/file", "way/absolute/../inner/file"];
        for way in ways {
            assert_eq!(read(&at(way)), content(), "{way}");
        }
        assert_eq!(read(&at("own/none/file")), Ok(None));
        assert_eq!(read(&at("own/inner/file/file")), Ok(None));
        assert!(read(&at("own")).unwrap_err().contains("no regular file"));
        assert!(read(&at("way/endless")).is_err());
        set_mode(&at("way"), 0o777);
        assert_eq!(read(&at("own/inner/file")), content());
        for way in &ways[1..] {
            assert!(
                read(&at(way)).unwrap_err().contains("way is writable by other users"),
                "{way}"
            );
        }
        // A file that is not there can do nothing.
        assert_eq!(read(&at("way/none")), Ok(None));
        for part in ["own/inner/file", "own/inner", "own"] {
            set_mode(&at(part), 0o777);
            assert!(read(&at("own/inner/file")).unwrap_err().contains("mode 0777"), "{part}");
            set_mode(&at(part), 0o755);
        }
        set_mode(&at("own"), 0o1777);
        assert_eq!(read(&at("own/inner/file")), content());
    }

    /// Takes root.
    #[test]
    fn in_a_sticky_directory_the_owner_of_an_entry_counts() {
        if !rustix::process::getuid().is_root() {
            eprintln!("skipped: only root can give a file away");
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("shared")).unwrap();
        fs::write(at("file"), "content").unwrap();
        symlink("../file", at("shared/link")).unwrap();
        set_mode(&at("shared"), 0o1777);
        assert!(read(&at("shared/link")).is_ok());
        std::os::unix::fs::lchown(at("shared/link"), Some(65534), None).unwrap();
        assert!(read(&at("shared/link")).unwrap_err().contains("belongs to another user"));
        chown(at("file"), Some(65534), None).unwrap();
        assert!(read(&at("file")).unwrap_err().contains("belongs to another user"));
    }
}
