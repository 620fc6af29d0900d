//! A model: which files of a repository are meant, and the verified files on this machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// A model: a repository, a revision, and a selection of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSpec {
    /// The repository on the hub, `owner/name`.
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Patterns of files to download; all if empty.
    pub allow: Vec<String>,
    /// Patterns of files to leave out.
    pub ignore: Vec<String>,
}

/// A commit's files on this machine, each verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedModel {
    /// The repository on the hub, `owner/name`.
    pub repository: String,
    /// The branch, tag or commit that was requested.
    pub revision: String,
    /// The commit of that revision, 40 hexadecimal digits.
    pub commit: String,
    /// The directory of the hub's cache on this machine.
    pub cache: PathBuf,
    /// The commit's directory in it: links to the blobs.
    pub directory: PathBuf,
    /// The files, by path.
    pub files: Vec<FetchedFile>,
    /// Bytes that were fetched from the hub.
    pub bytes_fetched: u64,
}

/// A file of the commit on this machine, verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes: a regular file, shared with every program that uses the cache.
    pub blob: PathBuf,
    /// The number of bytes that the hub lists for it.
    pub size: u64,
    /// The hash of its bytes.
    pub digest: Digest,
}

impl FetchedModel {
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}
