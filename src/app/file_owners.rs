//! Refuses files that other users of the host can change, as ssh refuses a key that they can write: a
//! recipe with root-equivalent privileges, a site. Looks at owners and modes only, never at content.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::app::failure::Failure;
use retrial_beneath::HeldDirectory;
use retrial_readings::sanitize;

/// Write permission of the group and of others.
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;

/// In a directory with this bit, users rename and remove only files of their own.
const STICKY_BIT: u32 = 0o1000;

/// Checks a directory, and files and directories with all that is in them. Files that do not exist are
/// skipped. The error ends with the reason why others must not write them.
///
/// # Errors
/// The first file or directory that another user owns or can write; a directory that is not there.
pub fn require_trusted_owners(
    directory: &Path,
    files: &[PathBuf],
    reason: &str,
) -> Result<(), Failure> {
    let trusted = TrustedOwners::for_current_user(reason);
    // Without links, so that these are the directories which lead to the files.
    let directory = directory.canonicalize().map_err(|error| unknown_owner(directory, &error))?;
    // Whoever can add files here can add templates.
    trusted.check_path(&directory, GROUP_OR_OTHERS_WRITE)?;
    for file in files {
        trusted.check_tree(&trusted.check_way(file)?)?;
    }
    trusted.check_ancestors(&directory)
}

/// Checks that no other user can put something else in the place of paths, or of links on the way: the directories above
/// each. The error ends with the reason.
///
/// # Errors
/// The first directory that another user owns or can write.
pub fn require_own_directories(paths: &[PathBuf], reason: &str) -> Result<(), Failure> {
    let trusted = TrustedOwners::for_current_user(reason);
    paths.iter().try_for_each(|path| trusted.check_way(path).map(drop))
}

/// Returns the links on the way of a path, and where it leads, all without links above them.
fn follow_links(path: &Path) -> (Vec<PathBuf>, PathBuf) {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (mut links, mut real) = (Vec::new(), PathBuf::from("/"));
    let mut rest = path_parts(&absolute);
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        // `/` begins again.
        let next = real.join(&part);
        match fs::read_link(&next) {
            Ok(target) if links.len() < MAX_LINKS => {
                links.push(next);
                rest.extend(path_parts(&target));
            }
            _ => real = next,
        }
    }
    (links, real)
}

/// Returns the parts of a path, the last first.
pub(super) fn path_parts(path: &Path) -> Vec<OsString> {
    path.iter().rev().map(OsStr::to_owned).collect()
}

fn unknown_owner(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("whose {} is cannot be found out: {error}", path.display()))
        .with_help("create it, or correct the path; nothing may move it while a run starts")
}

/// Checks an open directory itself. The error ends with the reason.
///
/// # Errors
/// Another user owns it or can write it.
pub fn require_own_directory(directory: &HeldDirectory, reason: &str) -> Result<(), Failure> {
    let path = directory.path();
    let status = directory.metadata().map_err(|error| unknown_owner(path, &error))?;
    TrustedOwners::for_current_user(reason).check_unshared(path, status.st_uid, status.st_mode)
}

/// Returns whether other users own or can write a file or a directory itself.
pub fn is_written_by_others(path: &Path) -> bool {
    TrustedOwners::for_current_user("").check_path(path, GROUP_OR_OTHERS_WRITE).is_err()
}

/// How many links a path has at most, as for the kernel.
pub(super) const MAX_LINKS: usize = 40;

/// The users who may own such files: root, this one, and the one who called sudo.
pub(super) struct TrustedOwners<'a> {
    users: Vec<u32>,
    reason: &'a str,
}

impl<'a> TrustedOwners<'a> {
    pub(super) fn for_current_user(reason: &'a str) -> Self {
        let sudo_uid = std::env::var("SUDO_UID").ok();
        let sudo = sudo_uid.and_then(|uid| uid.parse().ok());
        let own = rustix::process::getuid().as_raw();
        Self { users: [0, own].into_iter().chain(sudo).collect(), reason }
    }

    fn check_ancestors(&self, path: &Path) -> Result<(), Failure> {
        path.ancestors().zip(path.ancestors().skip(1)).try_for_each(|(entry, directory)| {
            let is_sticky = fs::symlink_metadata(entry).is_ok()
                && fs::metadata(directory).is_ok_and(|status| status.mode() & STICKY_BIT != 0);
            if is_sticky {
                // Its owner may rename it.
                self.check_path(entry, 0)?;
            }
            self.check_path(directory, if is_sticky { 0 } else { GROUP_OR_OTHERS_WRITE })
        })
    }

    /// Checks the directories above a path and above each link on its way. Returns where it leads.
    fn check_way(&self, path: &Path) -> Result<PathBuf, Failure> {
        let (links, end) = follow_links(path);
        links.iter().chain([&end]).try_for_each(|stop| self.check_ancestors(stop))?;
        Ok(end)
    }

    fn check_tree(&self, path: &Path) -> Result<(), Failure> {
        for entry in WalkDir::new(path).into_iter().filter_map(Result::ok) {
            if !entry.path_is_symlink() {
                self.check_path(entry.path(), GROUP_OR_OTHERS_WRITE)?;
                continue;
            }
            // A template may be a link.
            let end = self.check_way(entry.path())?;
            if end.is_file() {
                self.check_path(&end, GROUP_OR_OTHERS_WRITE)?;
            }
        }
        Ok(())
    }

    /// Refuses a path of which nothing is known, with another owner, or with any of the permissions `refused`.
    fn check_path(&self, path: &Path, refused: u32) -> Result<(), Failure> {
        // One that is gone may come back as another's.
        let metadata = fs::symlink_metadata(path).map_err(|error| unknown_owner(path, &error))?;
        // A link has no permissions of its own.
        let refused = if metadata.is_symlink() { 0 } else { refused };
        self.check_status(path, metadata.uid(), metadata.mode(), refused)
    }

    /// Refuses what another user owns or can write.
    pub(super) fn check_unshared(&self, path: &Path, owner: u32, mode: u32) -> Result<(), Failure> {
        self.check_status(path, owner, mode, GROUP_OR_OTHERS_WRITE)
    }

    fn check_status(
        &self,
        path: &Path,
        owner: u32,
        mode: u32,
        refused: u32,
    ) -> Result<(), Failure> {
        self.check_user(owner, path)?;
        if mode & refused == 0 {
            return Ok(());
        }
        let path = sanitize(&path.to_string_lossy()).into_owned();
        let mode = mode & 0o7777;
        let problem = format!("{path} is writable by other users (mode {mode:04o})");
        Err(Failure::usage(format!("{problem}, and {}", self.reason))
            .with_help(format!("chmod go-w '{path}'")))
    }

    pub(super) fn check_user(&self, user: u32, path: &Path) -> Result<(), Failure> {
        if self.users.contains(&user) {
            return Ok(());
        }
        let path = sanitize(&path.to_string_lossy()).into_owned();
        let problem = format!("{path} belongs to another user (uid {user})");
        Err(Failure::usage(format!("{problem}, and {}", self.reason))
            .with_help("copy it into a directory of your own"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever moves it away may bring it back.
    #[test]
    fn a_directory_that_is_not_there_is_not_trusted() {
        let root = tempfile::tempdir().unwrap();
        let missing = root.path().join("away");
        assert!(require_trusted_owners(root.path(), &[], "of a test").is_ok());
        assert!(require_trusted_owners(&missing, &[], "of a test").is_err());
        assert!(require_own_directories(&[missing.join("data")], "of a test").is_err());
    }
}
