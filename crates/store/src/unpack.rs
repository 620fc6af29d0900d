//! Unpacks an archive from a container or another machine: regular files and directories only, beneath the
//! target, within limits. A link to a file of the archive becomes a copy of it. Omitted entries are reported.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use tar::{Archive, EntryType};

use super::error::StoreError;
use retrial_document::measures::format;

/// The maximum number of files of a result.
const MAX_RESULT_FILES: usize = 100_000;

/// The maximum number of links that lead from one to the next: each is a pass over all that are left.
const MAX_LINKED_LINKS: usize = 8;

/// The maximum number of omitted entries that are reported.
const MAX_REPORTED_OMISSIONS: usize = 20;

/// The maximum number of files from before [`UnpackOptions::written_since`] that are reported.
const MAX_REPORTED_OLDER_FILES: usize = 1000;

/// The number of unpacked files, and the omitted entries.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct UnpackSummary {
    pub files: usize,
    pub bytes: u64,
    /// Omitted entries, and why.
    pub omitted: Vec<String>,
    /// Files last written before [`UnpackOptions::written_since`], below the target; the first ones.
    pub older: Vec<String>,
    /// The archive contains a single file, without a directory.
    pub single: bool,
    unreported_count: usize,
}

/// The limits for unpacking an archive.
#[derive(Debug, Clone, Copy)]
pub struct UnpackOptions {
    /// Total bytes of all files.
    pub most_bytes: u64,
    /// The largest number of entries: files and directories.
    pub most_files: usize,
    /// Executable files stay executable.
    pub executable: bool,
    /// The number of leading path components to strip.
    pub omitted_folders: usize,
    /// Files that were last written before this time are reported; seconds since 1970.
    pub written_since: Option<u64>,
}

impl UnpackOptions {
    /// The limits of a result, without the folder around it.
    pub fn for_results(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            most_files: MAX_RESULT_FILES,
            executable: false,
            omitted_folders: 1,
            written_since: None,
        }
    }
}

/// Unpacks the stream of `archive` into the directory `to`. A file's length is checked before it is written: a
/// sparse one counts in full.
///
/// # Errors
/// If the archive is truncated or too large, or the disk is full.
pub fn unpack_archive(
    from: impl Read,
    archive: &Path,
    to: &Path,
    limits: UnpackOptions,
) -> Result<UnpackSummary, StoreError> {
    fs::create_dir_all(to).map_err(StoreError::io("create", to))?;
    let mut unpacked = UnpackSummary::default();
    let mut entry_count = 0;
    let mut links = Vec::new();
    let too_large = |limit, reason| StoreError::too_large(archive, limit, reason);
    let mut entries = Archive::new(from);
    for archived in entries.entries().map_err(StoreError::io("read", archive))? {
        let mut entry = archived.map_err(StoreError::io("read", archive))?;
        let name = entry.path().map_err(StoreError::io("read", archive))?.into_owned();
        entry_count += 1;
        if entry_count > limits.most_files {
            let limit = format!("{} files and directories", limits.most_files);
            let reason = format!("{} exceeds the limit", name.display());
            return Err(too_large(limit, reason));
        }
        let Some(relative) = target_path(&name, limits.omitted_folders) else {
            unpacked.record_omitted(&name, "points outside the results");
            continue;
        };
        let kind = entry.header().entry_type();
        let path = if relative.as_os_str().is_empty() && kind.is_file() {
            unpacked.single = true;
            to.join(name.file_name().unwrap_or_default())
        } else {
            to.join(&relative)
        };
        let has_bytes = kind.is_file() || kind.is_contiguous();
        if has_bytes && unpacked.bytes.saturating_add(entry.size()) > limits.most_bytes {
            let limit = format::format_bytes(limits.most_bytes);
            let size = format::format_bytes(entry.size());
            return Err(too_large(limit, format!("{} has {size}", name.display())));
        }
        let written = match kind {
            EntryType::Directory => {
                fs::create_dir_all(&path).map_err(StoreError::io("create", &path))
            }
            EntryType::Regular | EntryType::Continuous => {
                let mode = entry.header().mode().unwrap_or(0);
                let is_executable = limits.executable && mode & 0o111 != 0;
                let mode = if is_executable { 0o777 } else { 0o666 };
                // An archive that is to be the same each time it is made states no time: 0.
                let written = entry.header().mtime().unwrap_or(0);
                let is_older = limits.written_since.is_some_and(|since| written < since);
                write_file(&mut entry, &path, mode).map(|bytes| {
                    unpacked.files += 1;
                    unpacked.bytes += bytes;
                    if is_older && written > 0 && unpacked.older.len() < MAX_REPORTED_OLDER_FILES {
                        let below = path.strip_prefix(to).unwrap_or(&path);
                        unpacked.older.push(below.display().to_string());
                    }
                })
            }
            EntryType::Symlink | EntryType::Link => {
                let link = entry.link_name().ok().flatten().unwrap_or_default().into_owned();
                let linked = match kind {
                    EntryType::Link => target_path(&link, limits.omitted_folders),
                    _ => linked_path(&relative, &link, archive),
                };
                links.push((relative, linked));
                continue;
            }
            other => {
                unpacked.record_omitted(&relative, &format!("{other:?}"));
                continue;
            }
        };
        match written {
            // The path is too long for this file system, below our own directory.
            Err(StoreError::Io { source, .. })
                if source.kind() == io::ErrorKind::InvalidFilename =>
            {
                unpacked.record_omitted(&relative, "its name is too long");
            }
            other => other?,
        }
    }
    copy_linked_files(links, archive, to, limits, &mut unpacked)?;
    if unpacked.unreported_count > 0 {
        let more = format!("and {} more", unpacked.unreported_count);
        unpacked.omitted.push(more);
    }
    Ok(unpacked)
}

/// Writes a copy of the file in place of each link to it. A link to something else is omitted.
fn copy_linked_files(
    mut links: Vec<(PathBuf, Option<PathBuf>)>,
    archive: &Path,
    to: &Path,
    limits: UnpackOptions,
    unpacked: &mut UnpackSummary,
) -> Result<(), StoreError> {
    for _ in 0..=MAX_LINKED_LINKS {
        let is_file = |linked: &Option<PathBuf>| {
            let linked = linked.as_ref().map(|linked| fs::symlink_metadata(to.join(linked)));
            linked.is_some_and(|found| found.is_ok_and(|metadata| metadata.is_file()))
        };
        // A link may lead to another.
        let (ready, waiting): (Vec<_>, Vec<_>) =
            links.into_iter().partition(|(_, linked)| is_file(linked));
        for (link, linked) in ready {
            let (link, file) = (to.join(link), to.join(linked.unwrap_or_default()));
            let mut source = fs::File::open(&file).map_err(StoreError::io("open", &file))?;
            let metadata = source.metadata().map_err(StoreError::io("read", &file))?;
            if unpacked.bytes.saturating_add(metadata.len()) > limits.most_bytes {
                let limit = format::format_bytes(limits.most_bytes);
                let reason = format!("{} links more", link.display());
                return Err(StoreError::too_large(archive, limit, reason));
            }
            unpacked.bytes += write_file(&mut source, &link, metadata.mode() & 0o777)?;
            unpacked.files += 1;
        }
        links = waiting;
    }
    for (link, _) in links {
        unpacked.record_omitted(&link, "a link to no file of the results");
    }
    Ok(())
}

/// Returns where a symbolic link in the archive of this path leads, below the target; none if it leads out.
fn linked_path(link: &Path, to: &Path, archive: &Path) -> Option<PathBuf> {
    let whole = match to.strip_prefix(archive) {
        Ok(inner) => inner.to_owned(),
        Err(_) if to.is_absolute() => return None,
        Err(_) => link.parent().unwrap_or(Path::new("")).join(to),
    };
    let mut path = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

impl UnpackSummary {
    /// Reports an omitted entry; only the first ones, since an archive may have very many.
    fn record_omitted(&mut self, entry_path: &Path, reason: &str) {
        if self.omitted.len() < MAX_REPORTED_OMISSIONS {
            let name: String = entry_path.display().to_string().chars().take(200).collect();
            self.omitted.push(format!("{name}: {reason}"));
        } else {
            self.unreported_count += 1;
        }
    }
}

fn write_file(entry: &mut impl Read, path: &Path, mode: u32) -> Result<u64, StoreError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(StoreError::io("create", path))?;
    io::copy(entry, &mut file).map_err(StoreError::io("write", path))
}

/// The path of an entry below the target; none if it is outside.
fn target_path(name: &Path, omitted_folders: usize) -> Option<PathBuf> {
    let components = name.components().filter(|part| *part != Component::CurDir);
    let parts: Option<Vec<_>> = components
        .map(|part| match part {
            Component::Normal(part) => Some(part),
            _ => None,
        })
        .collect();
    Some(parts?.into_iter().skip(omitted_folders).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_archive_cannot_escape_its_target() {
        let directory = tempfile::tempdir().unwrap();
        let mut builder = tar::Builder::new(Vec::new());
        let mut add = |name: &str, kind: EntryType, link: &str| {
            let mut header = tar::Header::new_gnu();
            // Written raw: the crate itself rejects such names.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_mode(0o644);
            header.set_size(if kind == EntryType::Regular { 2 } else { 0 });
            if !link.is_empty() {
                header.set_link_name(link).unwrap();
            }
            header.set_cksum();
            builder
                .append(&header, &b"hi"[..if kind == EntryType::Regular { 2 } else { 0 }])
                .unwrap();
        };
        add("run_1/", EntryType::Directory, "");
        add("run_1/summary.txt", EntryType::Regular, "");
        add("run_1/deep/er.txt", EntryType::Regular, "");
        add("run_1/../../escaped", EntryType::Regular, "");
        add("run_1/evil", EntryType::Symlink, "/etc");
        add("run_1/evil/passwd", EntryType::Regular, "");
        let archive = builder.into_inner().unwrap();
        let at = |to: &Path, most: u64| {
            unpack_archive(
                &archive[..],
                Path::new("/results"),
                to,
                UnpackOptions::for_results(most),
            )
        };
        let to = directory.path().join("out");
        let unpacked = at(&to, 1000).unwrap();
        assert_eq!(unpacked.files, 3);
        assert_eq!(unpacked.omitted.len(), 2);
        assert_eq!(fs::read(to.join("summary.txt")).unwrap(), b"hi");
        assert!(!directory.path().join("escaped").exists());
        assert!(fs::symlink_metadata(to.join("evil")).unwrap().is_dir());
        let error = at(&directory.path().join("small"), 3).unwrap_err();
        let reason = "/results holds more than 3 B: run_1/deep/er.txt has 2 B";
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn a_link_to_a_file_of_the_archive_is_a_copy_of_it() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(2);
        header.set_mode(0o644);
        builder.append_data(&mut header, "out/step/r.json", &b"hi"[..]).unwrap();
        let links = [
            (EntryType::Link, "out/hard.json", "out/step/r.json"),
            (EntryType::Symlink, "out/best/last.json", "../latest.json"),
            (EntryType::Symlink, "out/latest.json", "step/r.json"),
            (EntryType::Symlink, "out/whole.json", "/tmp/out/step/r.json"),
            (EntryType::Symlink, "out/passwd", "/etc/passwd"),
            (EntryType::Symlink, "out/above", "../../etc/passwd"),
            (EntryType::Symlink, "out/directory", "step"),
            (EntryType::Symlink, "out/circle", "circle"),
        ];
        for (kind, name, to) in links {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            builder.append_link(&mut header, name, to).unwrap();
        }
        let archive = builder.into_inner().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let unpack = |to: &str, most_bytes| {
            let limits = UnpackOptions::for_results(most_bytes);
            unpack_archive(&archive[..], Path::new("/tmp/out"), &directory.path().join(to), limits)
        };
        let unpacked = unpack("enough", 10).unwrap();
        assert_eq!((unpacked.files, unpacked.bytes, unpacked.omitted.len()), (5, 10, 4));
        for copy in ["hard.json", "best/last.json", "latest.json", "whole.json"] {
            let path = directory.path().join("enough").join(copy);
            assert!(fs::symlink_metadata(&path).unwrap().is_file(), "{copy}");
            assert_eq!(fs::read(path).unwrap(), b"hi");
        }
        assert!(unpack("less", 9).unwrap_err().to_string().contains("more than 9 B"));
    }

    #[test]
    fn files_from_before_a_time_are_reported() {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, written) in [("out/old", 999), ("out/new", 1000), ("out/undated", 0)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(2);
            header.set_mtime(written);
            builder.append_data(&mut header, name, &b"hi"[..]).unwrap();
        }
        let archive = builder.into_inner().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut limits = UnpackOptions::for_results(100);
        let unpacked = unpack_archive(&archive[..], Path::new("/out"), directory.path(), limits);
        assert!(unpacked.unwrap().older.is_empty());
        limits.written_since = Some(1000);
        let again = tempfile::tempdir().unwrap();
        let unpacked =
            unpack_archive(&archive[..], Path::new("/out"), again.path(), limits).unwrap();
        assert_eq!(unpacked.older, ["old"]);
        assert_eq!(unpacked.files, 3);
    }

    #[test]
    fn a_sparse_file_is_checked_at_full_size_before_writing() {
        let mut header = tar::Header::new_gnu();
        header.set_path("results/sparse").unwrap();
        header.set_size(100 << 30);
        header.set_cksum();
        let endless = header.as_bytes().chain(io::repeat(0));
        let directory = tempfile::tempdir().unwrap();
        let limits = UnpackOptions::for_results(16 << 30);
        let error =
            unpack_archive(endless, Path::new("/results"), directory.path(), limits).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
        assert!(!directory.path().join("sparse").exists());
    }
}
