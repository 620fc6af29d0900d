//! A commit's listing in the cache, as the Python client keeps it: a commit never changes, so it
//! is good for ever, and offline it tells which files lack.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::cache::{Place, replace};
use crate::digest::{Digest, is_hex};
use crate::listing::{RemoteFile, is_safe};

const FORMAT: u32 = 1;

/// All files of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    format_version: u32,
    files: BTreeMap<String, Entry>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Bytes.
    pub size: u64,
    /// Git's id, of the pointer where the content is in LFS.
    pub blob_id: String,
    /// The content's hash, where it is in LFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs_sha256: Option<String>,
    /// The content's size, where it is in LFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs_size: Option<u64>,
    /// For clients that fetch from Xet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xet_hash: Option<String>,
}

impl Tree {
    /// Of all files of a commit.
    pub fn new(files: BTreeMap<String, Entry>) -> Self {
        Self {
            format_version: FORMAT,
            files,
        }
    }

    /// The one in the cache, if it is there and makes sense.
    pub fn read(place: &Place, commit: &str) -> Option<Self> {
        let text = fs::read(place.tree(commit)).ok()?;
        let tree: Self = serde_json::from_slice(&text).ok()?;
        (tree.format_version == FORMAT).then_some(tree)
    }

    /// Keeps it. Without it the next run lists again, which is no fault.
    pub fn keep(&self, place: &Place, commit: &str) {
        let sound = |hash: &String| is_hex(hash, 64);
        // The Python client takes no listing with a hash that it does not understand.
        if !self
            .files
            .values()
            .all(|file| file.xet_hash.as_ref().is_none_or(sound))
        {
            return;
        }
        if let Ok(text) = serde_json::to_vec_pretty(self) {
            let _ = replace(&place.tree(commit), &text);
        }
    }

    /// Its files; an error names one that cannot be.
    pub fn files(&self) -> Result<Vec<RemoteFile>, String> {
        let file = |(path, entry): (&String, &Entry)| {
            if !is_safe(path) {
                return Err(format!("a file is named {path:?}"));
            }
            let (digest, size) = match &entry.lfs_sha256 {
                Some(hash) => (Digest::sha256(hash), entry.lfs_size.unwrap_or(entry.size)),
                None => (Digest::git(&entry.blob_id), entry.size),
            };
            let digest = digest.ok_or_else(|| format!("{path} has no hash that is one"))?;
            Ok(RemoteFile {
                path: path.clone(),
                size,
                digest,
            })
        };
        self.files.iter().map(file).collect()
    }
}
