//! Runs in one archive, for another machine: `<id>/…` of each, without what belongs to this one. And results,
//! for a container. Verifiable archives are made by `retrial-bundle`.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::companions::WRITABLE_FOLDER;
use super::error::StoreError;
use super::files::create_temporary;
use super::run_directory::RunDirectory;
use super::walk::{DirectoryEntry, walk_entries};

/// The excluded parts: the container's side of a run, its process's lock, the working directories of host
/// commands.
pub const EXCLUDED_ENTRIES: [&str; 5] = ["control", "services", "lock", "host", WRITABLE_FOLDER];

/// The number of files in an archive, and the omitted ones.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PackSummary {
    pub files: usize,
    /// Bytes of these files, uncompressed.
    pub bytes: u64,
    /// Omitted files, and why.
    pub omitted: Vec<String>,
}

/// Writes an archive of runs; it is compressed if its name ends in `.gz` or `.tgz`.
///
/// # Errors
/// If the archive exists already, the disk is full, or a run cannot be read.
pub fn pack_runs(runs: &[RunDirectory], to: &Path) -> Result<PackSummary, StoreError> {
    if to.exists() {
        return Err(StoreError::unusable(to, "it already exists"));
    }
    let part = create_temporary(to)?;
    let ending = to.extension().and_then(|ending| ending.to_str());
    let is_compressed = matches!(ending, Some("gz" | "tgz"));
    let packed = write_archive(runs, part.path(), is_compressed)?;
    part.persist_noclobber(to).map_err(|failed| StoreError::io("write", to)(failed.error))?;
    Ok(packed)
}

/// Writes an archive of directories, each below a path of its own. It replaces an existing file.
///
/// # Errors
/// If the disk is full, or a file cannot be read.
pub fn pack_directories(
    directories: &[(PathBuf, PathBuf)],
    to: &Path,
) -> Result<PackSummary, StoreError> {
    let file = File::create(to).map_err(StoreError::io("create", to))?;
    let (mut out, packed) = append_directories(BufWriter::new(file), directories, &[], to)?;
    out.flush().map_err(StoreError::io("write", to))?;
    Ok(packed)
}

fn write_archive(
    runs: &[RunDirectory],
    part: &Path,
    compressed: bool,
) -> Result<PackSummary, StoreError> {
    let failed = || StoreError::io::<std::io::Error>("write", part);
    let run_paths = runs.iter().map(|run| (run.path().to_owned(), PathBuf::from(run.id())));
    let runs: Vec<(PathBuf, PathBuf)> = run_paths.collect();
    let file = File::create(part).map_err(StoreError::io("create", part))?;
    let out = BufWriter::new(file);
    let (mut out, packed) = if compressed {
        let encoder = GzEncoder::new(out, Compression::fast());
        let (encoder, packed) = append_directories(encoder, &runs, &EXCLUDED_ENTRIES, part)?;
        (encoder.finish().map_err(failed())?, packed)
    } else {
        append_directories(out, &runs, &EXCLUDED_ENTRIES, part)?
    };
    out.flush().map_err(failed())?;
    out.get_ref().sync_all().map_err(failed())?;
    Ok(packed)
}

/// Appends directories, each below a path of its own, without the top-level entries in `excluded`.
fn append_directories<W: Write>(
    out: W,
    directories: &[(PathBuf, PathBuf)],
    excluded: &[&str],
    part: &Path,
) -> Result<(W, PackSummary), StoreError> {
    let mut builder = Builder::new(out);
    let mut packed = PackSummary::default();
    for (directory, top) in directories {
        walk_entries(directory, excluded, &mut |relative, entry| {
            let path = top.join(relative);
            match entry {
                DirectoryEntry::Directory => append_entry(&mut builder, &path, None, part)?,
                DirectoryEntry::File(file) => {
                    packed.files += 1;
                    packed.bytes += file.metadata().map_or(0, |found| found.len());
                    append_entry(&mut builder, &path, Some(file), part)?;
                }
                DirectoryEntry::Other(reason) => {
                    let omitted = format!("{}: {reason}", path.display());
                    packed.omitted.push(omitted);
                }
            }
            Ok::<_, StoreError>(())
        })?;
    }
    let out = builder.into_inner();
    Ok((out.map_err(StoreError::io("write", part))?, packed))
}

fn append_entry(
    builder: &mut Builder<impl Write>,
    path: &Path,
    file: Option<File>,
    part: &Path,
) -> Result<(), StoreError> {
    let mut header = Header::new_gnu();
    header.set_mode(if file.is_some() { 0o644 } else { 0o755 });
    let appended = if let Some(file) = file {
        let found = file.metadata().map_err(StoreError::io("read", path))?;
        header.set_size(found.len());
        header.set_mtime(u64::try_from(found.mtime()).unwrap_or_default());
        // Data appended meanwhile is not included.
        builder.append_data(&mut header, path, file.take(found.len()))
    } else {
        header.set_entry_type(EntryType::Directory);
        header.set_size(0);
        builder.append_data(&mut header, path, std::io::empty())
    };
    appended.map_err(StoreError::io("write", part))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Home;

    #[test]
    fn what_a_container_left_in_its_directories_is_not_packed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::from_root(folder.path().to_owned());
        let run = home.create_run_directory("case").unwrap();
        for directory in EXCLUDED_ENTRIES.iter().filter(|name| **name != "lock") {
            fs::create_dir_all(run.join(directory)).unwrap();
            fs::write(run.join(directory).join("left"), "by a container").unwrap();
        }
        fs::write(run.join("verdict.json"), "{}").unwrap();
        let to = folder.path().join("run.tar");
        pack_runs(std::slice::from_ref(&run), &to).unwrap();
        let mut archive = tar::Archive::new(File::open(&to).unwrap());
        let paths = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            entry.path().unwrap().into_owned()
        });
        let packed: Vec<PathBuf> = paths.collect();
        assert!(packed.contains(&Path::new(run.id()).join("verdict.json")), "{packed:?}");
        let is_excluded = |path: &PathBuf| {
            let second = path.components().nth(1);
            second.is_some_and(|name| EXCLUDED_ENTRIES.iter().any(|one| name.as_os_str() == *one))
        };
        assert!(!packed.iter().any(is_excluded), "{packed:?}");
    }
}
