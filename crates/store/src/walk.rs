//! Walks a directory that others may have written, opening each entry without following links.

use std::fs::File;
use std::path::Path;

use super::dir_handle::DirHandle;
use super::error::StoreError;

/// The largest depth of directories that are entered.
const MAX_DEPTH: usize = 64;

#[derive(Debug)]
pub enum DirectoryEntry {
    /// A directory. Its content follows.
    Directory,
    /// A regular file, opened for reading.
    File(File),
    /// Neither, or it cannot be opened: the reason.
    Other(String),
}

/// Visits the entries beneath a directory, by name; without the top-level entries in `skip`.
///
/// # Errors
/// If the directory itself cannot be read, and errors of `visit`.
pub fn walk_entries<E: From<StoreError>>(
    root: &Path,
    skip: &[&str],
    visit: &mut dyn FnMut(&Path, DirectoryEntry) -> Result<(), E>,
) -> Result<(), E> {
    let directory = DirHandle::open(root)?;
    visit_directory(&directory, Path::new(""), 1, skip, visit)
}

fn visit_directory<E: From<StoreError>>(
    directory: &DirHandle,
    relative: &Path,
    depth: usize,
    skip: &[&str],
    visit: &mut dyn FnMut(&Path, DirectoryEntry) -> Result<(), E>,
) -> Result<(), E> {
    for name in directory.list_names()? {
        let path = relative.join(&name);
        let Some(name) = name.to_str() else {
            visit(&path, DirectoryEntry::Other("its name is not UTF-8".to_owned()))?;
            continue;
        };
        if skip.contains(&name) {
            continue;
        }
        if !directory.is_directory(name) {
            let opened = directory.open_file(Path::new(name));
            let other = |error: StoreError| DirectoryEntry::Other(error.reason_without_path());
            visit(&path, opened.map_or_else(other, DirectoryEntry::File))?;
        } else if depth > MAX_DEPTH {
            visit(&path, DirectoryEntry::Other("it is nested too deeply".to_owned()))?;
        } else {
            match directory.open_directory(name) {
                Ok(inner) => {
                    visit(&path, DirectoryEntry::Directory)?;
                    visit_directory(&inner, &path, depth + 1, &[], visit)?;
                }
                Err(error) => visit(&path, DirectoryEntry::Other(error.reason_without_path()))?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_name_that_is_not_utf8_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"a\xff");
        std::fs::write(directory.path().join(name), "").unwrap();
        std::fs::write(directory.path().join("b"), "").unwrap();
        let mut seen = Vec::new();
        walk_entries::<StoreError>(directory.path(), &[], &mut |path, entry| {
            seen.push((path.to_owned(), matches!(entry, DirectoryEntry::Other(_))));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [(name.into(), true), ("b".into(), false)]);
    }
}
