//! Paths in the cache: the Python client's layout, to the letter.
//!
//! ```text
//! <cache>/models--owner--name/blobs/<hash>            the bytes
//!                             blobs/<hash>.incomplete the bytes received so far
//!                             snapshots/<commit>/a/b  -> ../../../blobs/<hash>
//!                             refs/main               the commit
//!                             trees/<commit>.json     all files of the commit
//!                             .retrial/<hash>         that the blob was verified (see `records`)
//! <cache>/.locks/models--owner--name/<hash>.lock
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use walkdir::WalkDir;

use crate::digest::{Digest, is_hex};
use crate::error::FetchError;

/// The part of the cache that belongs to one repository.
#[derive(Debug, Clone)]
pub struct RepositoryCache {
    root: PathBuf,
    folder: String,
}

impl RepositoryCache {
    /// Returns the part of a model's repository.
    pub fn new(root: &Path, repository: &str) -> Self {
        Self { root: root.to_owned(), folder: format!("models--{}", repository.replace('/', "--")) }
    }

    /// Returns the cache's directory, which has those of all repositories.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn repository_directory(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    /// Returns the path of a file's bytes.
    pub fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.repository_directory().join("blobs").join(digest.as_hex())
    }

    /// Returns the path of the bytes received so far.
    pub fn partial_path(&self, digest: &Digest) -> PathBuf {
        let name = format!("{}.incomplete", digest.as_hex());
        self.repository_directory().join("blobs").join(name)
    }

    /// Returns the path of the lock of the process that downloads the blob.
    pub fn lock_path(&self, digest: &Digest) -> PathBuf {
        let name = format!("{}.lock", digest.as_hex());
        self.root.join(".locks").join(&self.folder).join(name)
    }

    /// Returns the directory of a commit's files, by name.
    pub fn snapshot_directory(&self, commit: &str) -> PathBuf {
        self.repository_directory().join("snapshots").join(commit)
    }

    /// Returns the path of a commit's listing.
    pub fn tree_path(&self, commit: &str) -> PathBuf {
        let name = format!("{commit}.json");
        self.repository_directory().join("trees").join(name)
    }

    /// Returns the path of the record that a blob was verified.
    pub fn record_path(&self, digest: &Digest) -> PathBuf {
        self.repository_directory().join(".retrial").join(digest.as_hex())
    }

    fn ref_path(&self, revision: &str) -> PathBuf {
        self.repository_directory().join("refs").join(revision)
    }

    /// Creates the directories of a blob and its lock.
    pub fn create_directories(&self, digest: &Digest) -> Result<(), FetchError> {
        create_parent_directory(&self.blob_path(digest))?;
        create_parent_directory(&self.lock_path(digest))?;
        let tag = self.root.join("CACHEDIR.TAG");
        if !tag.exists() {
            let text = "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag: https://bford.info/cachedir/\n";
            fs::write(&tag, text).map_err(FetchError::io("write", &tag))?;
        }
        Ok(())
    }

    /// The commit that a revision was at its last download.
    pub fn read_ref(&self, revision: &str) -> Option<String> {
        if is_hex(revision, 40) {
            return Some(revision.to_owned());
        }
        let text = fs::read_to_string(self.ref_path(revision)).ok()?;
        let commit = text.trim();
        is_hex(commit, 40).then(|| commit.to_owned())
    }

    /// Records which commit a revision is.
    pub fn write_ref(&self, revision: &str, commit: &str) -> Result<(), FetchError> {
        if self.read_ref(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        replace_file(&self.ref_path(revision), commit.as_bytes())
    }

    /// Links a file of a commit to its blob. A correct link is left alone, so that a read-only
    /// cache works.
    pub fn link_to_blob(
        &self,
        commit: &str,
        path: &str,
        digest: &Digest,
    ) -> Result<(), FetchError> {
        let link = self.snapshot_directory(commit).join(path);
        let up = "../".repeat(path.split('/').count() + 1);
        let target = PathBuf::from(format!("{up}blobs/{}", digest.as_hex()));
        if fs::read_link(&link).is_ok_and(|current| current == target) {
            return Ok(());
        }
        create_parent_directory(&link)?;
        let temporary = temporary_path(&link);
        symlink(&target, &temporary)
            .and_then(|()| fs::rename(&temporary, &link))
            .map_err(FetchError::io("write", &link))
    }

    /// The linked files of a commit and their blobs' hashes; none for a file that is no link to a
    /// blob.
    pub fn list_linked_files(&self, commit: &str) -> io::Result<Vec<(String, Option<Digest>)>> {
        let root = self.snapshot_directory(commit);
        let mut files = Vec::new();
        for walked in WalkDir::new(&root) {
            let entry = walked?;
            if entry.file_type().is_dir() {
                continue;
            }
            let path = entry.path();
            let target = fs::read_link(path).ok();
            let blob = target.as_deref().and_then(Path::file_name);
            let digest = blob.and_then(|name| Digest::from_blob_name(&name.to_string_lossy()));
            let name = path.strip_prefix(&root).unwrap_or(path);
            files.push((name.display().to_string(), digest));
        }
        files.sort();
        Ok(files)
    }
}

pub fn create_parent_directory(path: &Path) -> Result<(), FetchError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(FetchError::io("create", directory))
}

/// Replaces a small file by a rename, so that readers see the old or the new content.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), FetchError> {
    create_parent_directory(path)?;
    let temporary = temporary_path(path);
    fs::write(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(FetchError::io("write", path))
}

/// A name in the same directory that no other process and no other thread uses.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_at_any_depth() {
        let cache = tempfile::tempdir().unwrap();
        let repository = RepositoryCache::new(cache.path(), "owner/name");
        let (commit, digest) = ("c".repeat(40), Digest::parse_git(&"a".repeat(40)).unwrap());
        repository.create_directories(&digest).unwrap();
        fs::write(repository.blob_path(&digest), "content").unwrap();
        for path in ["README.md", "a/b/c.json"] {
            for _ in 0..2 {
                repository.link_to_blob(&commit, path, &digest).unwrap();
            }
            let link = repository.snapshot_directory(&commit).join(path);
            assert!(fs::read_link(&link).unwrap().starts_with("../.."));
            assert_eq!(fs::read_to_string(link).unwrap(), "content");
        }
        let directory = cache.path().join("models--owner--name/snapshots");
        assert_eq!(fs::read_dir(directory.join(&commit)).unwrap().count(), 2);
        let linked = repository.list_linked_files(&commit).unwrap();
        assert_eq!(linked[0], ("README.md".to_owned(), Some(digest.clone())));
        assert_eq!(linked[1].0, "a/b/c.json");
    }

    #[test]
    fn a_written_ref_is_read_back_as_its_commit() {
        let cache = tempfile::tempdir().unwrap();
        let repository = RepositoryCache::new(cache.path(), "owner/name");
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(repository.read_ref(commit).as_deref(), Some(commit));
        assert_eq!(repository.read_ref("refs/pr/1"), None);
        repository.write_ref("refs/pr/1", commit).unwrap();
        assert_eq!(repository.read_ref("refs/pr/1").as_deref(), Some(commit));
        let file = cache.path().join("models--owner--name/refs/refs/pr/1");
        assert_eq!(fs::read_to_string(file).unwrap(), commit);
    }
}
