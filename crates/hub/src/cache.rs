//! Where things lie in the cache: the Python client's layout, to the letter.
//!
//! ```text
//! <cache>/models--owner--name/blobs/<hash>            the bytes
//!                             blobs/<hash>.incomplete what has arrived of them
//!                             snapshots/<commit>/a/b  -> ../../../blobs/<hash>
//!                             refs/main               the commit
//!                             trees/<commit>.json     all files of the commit
//!                             .retrial/<hash>         what we know of a blob (see `verified`)
//! <cache>/.locks/models--owner--name/<hash>.lock
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::digest::{Digest, is_hex};
use crate::error::FetchError;

/// One repository's place in the cache.
#[derive(Debug, Clone)]
pub struct Place {
    cache: PathBuf,
    folder: String,
}

impl Place {
    /// Of a model's repository.
    pub fn new(cache: &Path, repository: &str) -> Self {
        Self {
            cache: cache.to_owned(),
            folder: format!("models--{}", repository.replace('/', "--")),
        }
    }

    /// The cache.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    fn directory(&self) -> PathBuf {
        self.cache.join(&self.folder)
    }

    /// The bytes of a file.
    pub fn blob(&self, digest: &Digest) -> PathBuf {
        self.directory().join("blobs").join(digest.hex())
    }

    /// What has arrived of them.
    pub fn part(&self, digest: &Digest) -> PathBuf {
        let name = format!("{}.incomplete", digest.hex());
        self.directory().join("blobs").join(name)
    }

    /// Who has this is the one that fetches the blob.
    pub fn lock(&self, digest: &Digest) -> PathBuf {
        let name = format!("{}.lock", digest.hex());
        self.cache.join(".locks").join(&self.folder).join(name)
    }

    /// A commit's files by name.
    pub fn snapshot(&self, commit: &str) -> PathBuf {
        self.directory().join("snapshots").join(commit)
    }

    /// A commit's listing.
    pub fn tree(&self, commit: &str) -> PathBuf {
        self.directory()
            .join("trees")
            .join(format!("{commit}.json"))
    }

    /// What is known of a blob.
    pub fn note(&self, digest: &Digest) -> PathBuf {
        self.directory().join(".retrial").join(digest.hex())
    }

    fn reference(&self, revision: &str) -> PathBuf {
        self.directory().join("refs").join(revision)
    }

    /// Makes the directories that bytes go to.
    pub fn prepare(&self, digest: &Digest) -> Result<(), FetchError> {
        make_directory_of(&self.blob(digest))?;
        make_directory_of(&self.lock(digest))?;
        let tag = self.cache.join("CACHEDIR.TAG");
        if !tag.exists() {
            let text = "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag: https://bford.info/cachedir/\n";
            fs::write(&tag, text).map_err(FetchError::io("write", &tag))?;
        }
        Ok(())
    }

    /// The commit that a revision was when it was fetched last.
    pub fn commit(&self, revision: &str) -> Option<String> {
        if is_hex(revision, 40) {
            return Some(revision.to_owned());
        }
        let text = fs::read_to_string(self.reference(revision)).ok()?;
        let commit = text.trim();
        is_hex(commit, 40).then(|| commit.to_owned())
    }

    /// Keeps which commit a revision is.
    pub fn keep_commit(&self, revision: &str, commit: &str) -> Result<(), FetchError> {
        if self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        replace(&self.reference(revision), commit.as_bytes())
    }

    /// Gives a blob its name in a commit. A link that is right already is left as it is, so that
    /// a cache that may only be read will do.
    pub fn name(&self, commit: &str, path: &str, digest: &Digest) -> Result<(), FetchError> {
        let link = self.snapshot(commit).join(path);
        let up = "../".repeat(path.split('/').count() + 1);
        let target = PathBuf::from(format!("{up}blobs/{}", digest.hex()));
        if fs::read_link(&link).is_ok_and(|there| there == target) {
            return Ok(());
        }
        make_directory_of(&link)?;
        let beside = beside(&link);
        symlink(&target, &beside)
            .and_then(|()| fs::rename(&beside, &link))
            .map_err(FetchError::io("write", &link))
    }

    /// The files of a commit that were given names, and what their blobs should hash to; none for
    /// one that is no link to a blob.
    pub fn named(&self, commit: &str) -> io::Result<Vec<(String, Option<Digest>)>> {
        let root = self.snapshot(commit);
        let mut found = Vec::new();
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory)? {
                let path = entry?.path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let target = fs::read_link(&path).ok();
                let blob = target.as_deref().and_then(Path::file_name);
                let digest = blob.and_then(|name| Digest::of_blob_name(&name.to_string_lossy()));
                let name = path.strip_prefix(&root).unwrap_or(&path);
                found.push((name.display().to_string(), digest));
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Makes the directory that a file is to lie in.
pub fn make_directory_of(path: &Path) -> Result<(), FetchError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(FetchError::io("create", directory))
}

/// Writes a small file beside its place and renames it: readers see the old one or the new one.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), FetchError> {
    make_directory_of(path)?;
    let beside = beside(path);
    fs::write(&beside, content)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(FetchError::io("write", path))
}

/// A name beside a file that no other process and no other thread uses.
fn beside(path: &Path) -> PathBuf {
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
        let place = Place::new(cache.path(), "owner/name");
        let (commit, digest) = ("c".repeat(40), Digest::git(&"a".repeat(40)).unwrap());
        place.prepare(&digest).unwrap();
        fs::write(place.blob(&digest), "content").unwrap();
        for path in ["README.md", "a/b/c.json"] {
            for _ in 0..2 {
                place.name(&commit, path, &digest).unwrap();
            }
            let link = place.snapshot(&commit).join(path);
            assert!(fs::read_link(&link).unwrap().starts_with("../.."));
            assert_eq!(fs::read_to_string(link).unwrap(), "content");
        }
        let directory = cache.path().join("models--owner--name/snapshots");
        assert_eq!(fs::read_dir(directory.join(&commit)).unwrap().count(), 2);
        let named = place.named(&commit).unwrap();
        assert_eq!(named[0], ("README.md".to_owned(), Some(digest.clone())));
        assert_eq!(named[1].0, "a/b/c.json");
    }

    #[test]
    fn references() {
        let cache = tempfile::tempdir().unwrap();
        let place = Place::new(cache.path(), "owner/name");
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(place.commit(commit).as_deref(), Some(commit));
        assert_eq!(place.commit("refs/pr/1"), None);
        place.keep_commit("refs/pr/1", commit).unwrap();
        assert_eq!(place.commit("refs/pr/1").as_deref(), Some(commit));
        let file = cache.path().join("models--owner--name/refs/refs/pr/1");
        assert_eq!(fs::read_to_string(file).unwrap(), commit);
    }
}
