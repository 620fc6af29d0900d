//! A commit's listing in the cache, in the Python client's format: a commit never changes, so the
//! listing stays valid, and offline it shows which files are missing.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::cache::{RepositoryCache, replace_file};
use crate::digest::Digest;

const FORMAT_VERSION: u32 = 1;

/// All files of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitTree {
    format_version: u32,
    files: BTreeMap<String, TreeEntry>,
}

/// A file as the listing stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// The content's size, bytes: also where git has only a pointer to LFS.
    pub size: u64,
    /// Git's id, of the pointer where the content is in LFS.
    pub blob_id: String,
    /// The content's hash, where it is in LFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs_sha256: Option<String>,
    /// The content's size, where it is in LFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs_size: Option<u64>,
    /// The content's hash in the Xet store, where it is stored there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xet_hash: Option<String>,
}

/// A file of a commit, as it is downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path in the repository.
    pub path: String,
    /// The file's size, bytes.
    pub size: u64,
    /// The hash of its bytes.
    pub digest: Digest,
    /// Its hash in the hub's Xet store, if it is stored there.
    pub xet_hash: Option<String>,
}

/// A file of a listing that cannot be downloaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListedFileError {
    /// A path that would leave the snapshot's directory.
    #[error("a file is named {path:?}")]
    UnsafePath { path: String },
    /// Neither git's id nor LFS's hash is one.
    #[error("{path} has no valid hash")]
    NoHash {
        /// The path in the repository.
        path: String,
    },
}

impl CommitTree {
    /// Returns the listing of all files of a commit.
    pub fn new(files: BTreeMap<String, TreeEntry>) -> Self {
        Self { format_version: FORMAT_VERSION, files }
    }

    /// Reads the listing from the cache, if there is a valid one.
    pub fn read(cache: &RepositoryCache, commit: &str) -> Option<Self> {
        let text = fs::read(cache.tree_path(commit)).ok()?;
        let tree: Self = serde_json::from_slice(&text).ok()?;
        (tree.format_version == FORMAT_VERSION).then_some(tree)
    }

    /// Writes it to the cache. Without it the next run lists again, which is no fault.
    pub fn write(&self, cache: &RepositoryCache, commit: &str) {
        let path = cache.tree_path(commit);
        if let Ok(text) = serde_json::to_vec_pretty(self)
            && let Err(error) = replace_file(&path, &text)
        {
            tracing::debug!(path = %path.display(), %error, "the listing was not written");
        }
    }

    /// Returns the listed files with their hashes.
    ///
    /// # Errors
    /// Names a file with an unsafe path or without a valid hash.
    pub fn remote_files(&self) -> Result<Vec<RemoteFile>, ListedFileError> {
        let file = |(path, entry): (&String, &TreeEntry)| {
            if !is_safe_path(path) {
                return Err(ListedFileError::UnsafePath { path: path.clone() });
            }
            let (listed_digest, size) = match &entry.lfs_sha256 {
                Some(hash) => (Digest::parse_sha256(hash), entry.lfs_size.unwrap_or(entry.size)),
                None => (Digest::parse_git(&entry.blob_id), entry.size),
            };
            let digest =
                listed_digest.ok_or_else(|| ListedFileError::NoHash { path: path.clone() })?;
            Ok(RemoteFile { path: path.clone(), size, digest, xet_hash: entry.xet_hash.clone() })
        };
        self.files.iter().map(file).collect()
    }
}

/// Returns whether a path stays within the snapshot's directory.
pub fn is_safe_path(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
