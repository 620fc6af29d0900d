//! A view of a model: a directory of real files, which the container gets read-only.
//!
//! A snapshot in the hub's cache holds links into `../../blobs`, which lead nowhere once it is mounted alone. A
//! view has hard links to the same blobs. It is in the model's own directory of the cache: on the blobs' file
//! system, and removed together with the model.
//!
//! A view's name identifies its commit, files and blobs: its content never changes, so containers and runs can
//! share it without a lock.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use retrial_hub::{FetchedFile, FetchedModel};
use retrial_store::StoreError;
use retrial_store::files::set_mode;

/// The directory of views in a model's directory of the cache. The Python client ignores it.
const VIEWS_FOLDER: &str = "retrial";

/// A view, or why it is not possible.
pub enum ModelView {
    /// The view exists, in this directory.
    Ready(PathBuf),
    /// The file system cannot hard-link these files, for this reason.
    Unsupported(io::Error),
}

/// Creates the view of the fetched files, or finds it.
///
/// # Errors
/// If blobs are missing, or the view contains other files.
pub fn create_view(fetched: &FetchedModel) -> Result<ModelView, StoreError> {
    let mut blobs = Vec::new();
    for file in &fetched.files {
        let status = fs::metadata(&file.blob).map_err(StoreError::io("read", &file.blob))?;
        blobs.push((file, (status.dev(), status.ino())));
    }
    let model = model_directory(fetched);
    let path = model.join(VIEWS_FOLDER).join(view_name(&fetched.commit, &blobs));
    match link_blobs(&path, &blobs) {
        Ok(()) => {}
        Err(error) if cannot_link(&error) => return Ok(ModelView::Unsupported(error)),
        Err(error) => return Err(StoreError::io("create the view", &path)(error)),
    }
    if let Some(reason) = find_difference(&path, &blobs) {
        return Err(StoreError::Unusable { path, reason });
    }
    Ok(ModelView::Ready(path))
}

/// Returns the model's directory in the hub's cache, `<cache>/models--owner--name`.
pub fn model_directory(fetched: &FetchedModel) -> PathBuf {
    let name = fetched.repository.replace('/', "--");
    fetched.cache.join(format!("models--{name}"))
}

/// A file of the model, and its blob's device and inode.
type LinkedFile<'a> = (&'a FetchedFile, (u64, u64));

fn view_name(commit: &str, blobs: &[LinkedFile<'_>]) -> String {
    let mut hash = Sha256::new();
    for (file, (device, inode)) in blobs {
        hash.update(format!("{}\0{device}\0{inode}\n", file.path));
    }
    let digest = hash.finalize();
    let hash = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    format!("{commit}-{hash:08x}")
}

/// Links the files that are not linked yet. Another process may do the same at the same time.
fn link_blobs(path: &Path, blobs: &[LinkedFile<'_>]) -> io::Result<()> {
    create_readable_directory(path)?;
    for (file, _) in blobs {
        let link = path.join(&file.path);
        let ancestors = Path::new(&file.path).ancestors().skip(1);
        let between: Vec<&Path> = ancestors.filter(|part| *part != Path::new("")).collect();
        for directory in between.iter().rev() {
            create_readable_directory(&path.join(directory))?;
        }
        match fs::hard_link(&file.blob, &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Any user of an image may read its files.
fn create_readable_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path)?;
    set_mode(path, 0o755).map_err(|error| io::Error::other(error.to_string()))
}

/// Other file systems, file systems without links, read-only caches of other users, and
/// `fs.protected_hardlinks`, which forbids links to files that one may not write.
fn cannot_link(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::CrossesDevices
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::Unsupported
            | ErrorKind::TooManyLinks
    )
}

/// Returns why a view differs from the model: a file was changed, removed or added.
fn find_difference(path: &Path, blobs: &[LinkedFile<'_>]) -> Option<String> {
    for (file, (device, inode)) in blobs {
        match fs::symlink_metadata(path.join(&file.path)) {
            Ok(status) if (status.dev(), status.ino()) == (*device, *inode) => {}
            _ => return Some(changed_message(&file.path)),
        }
    }
    let entries = WalkDir::new(path).into_iter().flatten();
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    (files.count() != blobs.len()).then(|| changed_message("its list of files"))
}

fn changed_message(subject: &str) -> String {
    format!("{subject} was changed: remove the directory, and it will be created again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_hub::Digest;

    /// A model of one file in a sub-directory, whose blob is there.
    fn fetched(cache: &Path, blob: PathBuf, content: &str) -> FetchedModel {
        fs::create_dir_all(blob.parent().unwrap()).unwrap();
        fs::write(&blob, content).unwrap();
        let file = FetchedFile {
            path: "tokenizer/vocab.txt".into(),
            blob,
            size: content.len() as u64,
            digest: Digest::parse_git(&"1".repeat(40)).unwrap(),
        };
        FetchedModel {
            repository: "owner/name".into(),
            revision: "main".into(),
            commit: "2".repeat(40),
            cache: cache.to_owned(),
            directory: cache.join("models--owner--name/snapshots"),
            files: vec![file],
            bytes_fetched: 0,
        }
    }

    fn ready_view(fetched: &FetchedModel) -> PathBuf {
        match create_view(fetched).unwrap() {
            ModelView::Ready(path) => path,
            ModelView::Unsupported(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_view_is_shared_until_a_blob_is_another_file() {
        let cache = tempfile::tempdir().unwrap();
        let blob = cache.path().join("models--owner--name/blobs/1");
        let model = fetched(cache.path(), blob.clone(), "one");
        let first = ready_view(&model);
        assert_eq!(ready_view(&model), first);
        // Fetched again after it had been damaged: another inode under the same name.
        fs::rename(&blob, blob.with_extension("damaged")).unwrap();
        let model = fetched(cache.path(), blob, "two");
        let second = ready_view(&model);
        assert_ne!(second, first);
        let text = |view: &Path| fs::read_to_string(view.join("tokenizer/vocab.txt")).unwrap();
        // A container that has mounted the first one still has it.
        assert_eq!((text(&first), text(&second)), ("one".into(), "two".into()));
    }

    #[test]
    fn a_view_on_another_disk_is_impossible() {
        // Temporary files may be in memory; what cargo builds is not.
        let program = std::env::current_exe().unwrap();
        let cache = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let other = tempfile::tempdir_in("/dev/shm").unwrap();
        let disk = |path: &Path| fs::metadata(path).unwrap().dev();
        assert_ne!(disk(cache.path()), disk(other.path()), "two file systems");
        let model = fetched(cache.path(), other.path().join("1"), "one");
        assert!(matches!(create_view(&model).unwrap(), ModelView::Unsupported(_)));
    }
}
