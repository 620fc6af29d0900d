//! Opens one path beneath a directory.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

/// Opens a path beneath a directory without following links in any of its parts.
///
/// # Errors
/// `XDEV` for a path that is not relative or has `..`; `LOOP` or `NOTDIR` for a link; and those of openat(2).
pub fn open_beneath(
    directory: impl AsFd,
    relative: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let mut parts = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => parts.push(Path::new(name)),
            Component::CurDir => {}
            _ => return Err(Errno::XDEV),
        }
    }
    let open_flags = flags | OFlags::CLOEXEC;
    match open_with_openat2(&directory, relative, open_flags) {
        // Not available in older kernels and strict sandboxes.
        Err(Errno::NOSYS | Errno::PERM) => open_by_components(directory, &parts, open_flags),
        opened => opened,
    }
}

/// The kernel walks the path itself, and refuses links.
fn open_with_openat2(
    directory: impl AsFd,
    relative: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let relative_or_dot = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    openat2(directory, relative_or_dot, flags, Mode::empty(), resolve)
}

fn open_by_components(
    directory: impl AsFd,
    parts: &[&Path],
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let Some((name, directories)) = parts.split_last() else {
        return openat(directory, ".", flags, Mode::empty());
    };
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut inner: Option<OwnedFd> = None;
    for part in directories {
        let outer = inner.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
        inner = Some(openat(outer, *part, step, Mode::empty())?);
    }
    let outer = inner.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
    let opened = openat(outer, *name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    // A handle of only the path may be that of a link.
    if flags.contains(OFlags::PATH) && !flags.contains(OFlags::NOFOLLOW) {
        let mode = fstat(&opened)?.st_mode;
        if FileType::from_raw_mode(mode) == FileType::Symlink {
            return Err(Errno::LOOP);
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The content of what was opened, or the error; a link in place of a directory has two.
    fn outcome(opened: Result<OwnedFd, Errno>) -> Result<u64, Errno> {
        let opened = opened.map_err(|error| match error {
            Errno::NOTDIR => Errno::LOOP,
            other => other,
        });
        opened.map(|opened| File::from(opened).metadata().unwrap().len())
    }

    #[test]
    fn openat2_and_the_walk_by_names_agree() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("file"), "figures").unwrap();
        symlink("file", inner.join("link")).unwrap();
        symlink("a", root.path().join("way")).unwrap();
        let directory = File::open(root.path()).unwrap();
        for flags in [OFlags::RDONLY | OFlags::NOFOLLOW, OFlags::PATH] {
            for path in [
                "a/b/file",
                "a/b/link",
                "way/b/file",
                "a/b/missing",
                "a/none/file",
                "a/b/file/file",
            ] {
                let at_once = open_with_openat2(&directory, Path::new(path), flags);
                if at_once.as_ref().err() == Some(&Errno::NOSYS) {
                    // This kernel has no openat2: what is below tests the other way.
                    continue;
                }
                let parts: Vec<&Path> = path.split('/').map(Path::new).collect();
                let by_names = open_by_components(&directory, &parts, flags);
                assert_eq!(outcome(at_once), outcome(by_names), "{path} {flags:?}");
            }
        }
        for path in ["..", "a/../..", "/etc"] {
            let opened = open_beneath(&directory, Path::new(path), OFlags::PATH);
            assert_eq!(opened.unwrap_err(), Errno::XDEV, "{path}");
        }
        let itself = open_beneath(&directory, Path::new(""), OFlags::PATH);
        assert!(itself.is_ok());
    }
}
