//! Writes a submission's tree: copies files of runs, truncates accuracy logs as `MLCommons`'
//! `truncate_accuracy_log.py` does, and hashes them. Existing files are replaced only on request.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{SourceFile, TreeFile as ExportFile, TreeFileContent};
use retrial_bundle::hashing::hash_reader;
use retrial_mlperf::accuracy::parse_accuracy;
use retrial_store::error::StoreError;
use retrial_store::open::open_beneath;
use retrial_store::run_directory::RunDirectory;

/// The largest accuracy log that the official checker accepts, bytes.
const MAX_ACCURACY_LOG_BYTES: u64 = 10 << 10;
/// The length of the part of a larger log that is kept at either end, bytes.
const TRUNCATED_END_BYTES: u64 = 4 << 10;

#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum TreeWriteError {
    #[error("{} is not empty: it has {first}", directory.display())]
    #[diagnostic(help("name another directory with --to, or write into this one with --replace"))]
    NotEmpty {
        directory: PathBuf,
        /// The name of one of its entries.
        first: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}

/// Writes a tree; returns the files that it replaced.
///
/// # Errors
/// If the directory has files and `replace` is false, or a file cannot be read or written.
pub fn write_tree(
    files: &[ExportFile],
    runs: &[RunDirectory],
    directory: &Path,
    replace: bool,
) -> Result<Vec<String>, TreeWriteError> {
    if !replace && let Some(first) = find_any_entry(directory)? {
        let directory = directory.to_owned();
        return Err(TreeWriteError::NotEmpty { directory, first });
    }
    let mut replaced = Vec::new();
    for file in files {
        let path = directory.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        }
        // Writing through a link would change a file outside.
        match fs::symlink_metadata(&path) {
            Ok(_) => {
                fs::remove_file(&path).map_err(StoreError::io("replace", &path))?;
                replaced.push(file.path.clone());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("replace", &path)(error).into()),
        }
        let mut out = File::create_new(&path).map_err(StoreError::io("create", &path))?;
        write_content(&mut out, &path, &file.content, runs)?;
    }
    Ok(replaced)
}

/// Returns an entry of a directory; none if it is empty or does not exist.
fn find_any_entry(directory: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_dir(directory) {
        Ok(mut entries) => {
            let first_entry = entries.next().transpose();
            let first = first_entry.map_err(StoreError::io("read", directory))?;
            Ok(first.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", directory)(error)),
    }
}

fn write_content(
    out: &mut File,
    path: &Path,
    content: &TreeFileContent,
    runs: &[RunDirectory],
) -> Result<(), StoreError> {
    let written = match content {
        TreeFileContent::Text(text) => out.write_all(text.as_bytes()),
        TreeFileContent::Copy(origin) => {
            std::io::copy(&mut open_origin(origin, runs)?, out).map(drop)
        }
        TreeFileContent::Truncated(origin) => copy_truncated(open_origin(origin, runs)?, out),
        TreeFileContent::Hashed { text, log } => {
            let mut hashed = text.clone();
            // The script writes the hash if it truncates a log itself.
            if parse_accuracy(text.as_bytes()).hash.is_none() {
                let source = open_origin(log, runs)?;
                let digest = hash_reader(source).map_err(StoreError::io("read", path))?;
                hashed = format!("{}\n\nhash={digest}\n", text.trim_end());
            }
            out.write_all(hashed.as_bytes())
        }
    };
    written.map_err(StoreError::io("write", path))
}

fn open_origin(origin: &SourceFile, runs: &[RunDirectory]) -> Result<File, StoreError> {
    let Some(run) = runs.get(origin.run) else {
        let reason = "its run is not part of the export";
        return Err(StoreError::unusable(Path::new(&origin.path), reason));
    };
    open_beneath(run.path(), Path::new(&origin.path))
}

/// Both ends of a log that is too large, as the official tool keeps them.
fn copy_truncated(mut source: File, out: &mut File) -> std::io::Result<()> {
    let size = source.metadata()?.len();
    if size <= MAX_ACCURACY_LOG_BYTES {
        return std::io::copy(&mut source, out).map(drop);
    }
    std::io::copy(&mut (&source).take(TRUNCATED_END_BYTES), out)?;
    out.write_all(b"\n\n...\n\n")?;
    source.seek(SeekFrom::Start(size - TRUNCATED_END_BYTES))?;
    std::io::copy(&mut source.take(TRUNCATED_END_BYTES), out).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(content: &str) -> (tempfile::TempDir, Vec<RunDirectory>) {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("log.json"), content).unwrap();
        let run = RunDirectory::from_path(directory.path().to_owned());
        (directory, vec![run])
    }

    fn log() -> SourceFile {
        SourceFile { run: 0, path: "log.json".to_owned() }
    }

    fn file(path: &str, content: TreeFileContent) -> ExportFile {
        let path = path.to_owned();
        ExportFile { path, content }
    }

    /// The lengths, the words in between and the hash are those of `truncate_accuracy_log.py`.
    #[test]
    fn a_large_accuracy_log_is_truncated_and_hashed() {
        let long = "0123456789abcdef".repeat(1000);
        let (_directory, runs) = run(&long);
        let to = tempfile::tempdir().unwrap();
        let text = "{'rouge1': 44.4}\n".to_owned();
        let files = [
            file("a/mlperf_log_accuracy.json", TreeFileContent::Truncated(log())),
            file("a/accuracy.txt", TreeFileContent::Hashed { text, log: log() }),
        ];
        write_tree(&files, &runs, to.path(), false).unwrap();
        let short = fs::read_to_string(to.path().join("a/mlperf_log_accuracy.json")).unwrap();
        assert_eq!(short.len(), 2 * 4096 + 7);
        assert_eq!(&short[4096..4096 + 7], "\n\n...\n\n");
        assert_eq!(&short[..4096], &long[..4096]);
        assert_eq!(&short[4096 + 7..], &long[long.len() - 4096..]);
        let text = fs::read_to_string(to.path().join("a/accuracy.txt")).unwrap();
        let hash = retrial_bundle::hashing::sha256_hex(long.as_bytes());
        assert_eq!(text, format!("{{'rouge1': 44.4}}\n\nhash={hash}\n"));
    }

    #[test]
    fn a_small_log_is_unchanged_and_its_hash_is_not_repeated() {
        let (_directory, runs) = run("[]");
        let to = tempfile::tempdir().unwrap();
        let text = "accuracy=76.1%\nhash=0f1e\n".to_owned();
        let files = [
            file("log", TreeFileContent::Truncated(log())),
            file("accuracy.txt", TreeFileContent::Hashed { text: text.clone(), log: log() }),
        ];
        write_tree(&files, &runs, to.path(), false).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("log")).unwrap(), "[]");
        assert_eq!(fs::read_to_string(to.path().join("accuracy.txt")).unwrap(), text);
    }

    #[test]
    fn existing_files_are_not_replaced_unless_requested() {
        let (_directory, runs) = run("[]");
        let to = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "kept").unwrap();
        std::os::unix::fs::symlink(outside.path().join("precious"), to.path().join("README.md"))
            .unwrap();
        fs::write(to.path().join("mine"), "mine").unwrap();
        let files = [file("README.md", TreeFileContent::Text("new".to_owned()))];
        let error = write_tree(&files, &runs, to.path(), false).unwrap_err();
        let message = retrial_document::ErrorText::of(&error).to_string();
        assert!(message.contains("--replace"), "{message}");
        assert_eq!(write_tree(&files, &runs, to.path(), true).unwrap(), ["README.md"]);
        assert_eq!(fs::read_to_string(to.path().join("README.md")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.path().join("mine")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "kept");
    }

    #[test]
    fn a_link_in_a_run_is_not_followed() {
        let (directory, runs) = run("[]");
        fs::remove_file(directory.path().join("log.json")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("log.json")).unwrap();
        let to = tempfile::tempdir().unwrap();
        let files = [file("log", TreeFileContent::Copy(log()))];
        assert!(write_tree(&files, &runs, to.path(), false).is_err());
    }
}
