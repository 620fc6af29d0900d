//! Records of verified blobs: a second run need not read hundreds of gigabytes.
//!
//! A record belongs to a blob and is valid as long as its size, time and inode are the same. A
//! crash may still lose a blob that was written since the machine started, size and all, before it
//! is on the disk; its record is valid until the next start. A record that was made by reading an
//! older blob stays valid. That avoids waiting for the disk after each file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use crate::cache::{RepositoryCache, replace_file};
use crate::digest::Digest;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BlobRecord {
    digest: Digest,
    size: u64,
    /// When the blob was last written: seconds since 1970, and nanoseconds.
    modified: (i64, i64),
    inode: u64,
    /// The start of the machine until whose end it is valid; none: for good.
    boot: Option<String>,
}

impl BlobRecord {
    fn of_blob(digest: &Digest, blob: &Metadata, boot: &Boot) -> Self {
        let on_disk = boot.started_s.is_some_and(|started| blob.mtime() < started);
        Self {
            digest: digest.clone(),
            size: blob.len(),
            modified: (blob.mtime(), blob.mtime_nsec()),
            inode: blob.ino(),
            boot: (!on_disk).then(|| boot.id.clone()),
        }
    }
}

/// A start of the machine.
struct Boot {
    id: String,
    /// When this machine was booted, seconds since 1970; another boot makes the record void.
    started_s: Option<i64>,
}

impl Boot {
    fn current() -> Self {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let started = stat.lines().find_map(|line| line.strip_prefix("btime "));
        Self {
            id: id.trim().to_owned(),
            started_s: started.and_then(|text| text.trim().parse().ok()),
        }
    }
}

/// Returns whether a blob was verified before and is unchanged.
pub fn is_verified(cache: &RepositoryCache, digest: &Digest, blob: &Metadata) -> bool {
    let record: Option<BlobRecord> = fs::read(cache.record_path(digest))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    record.is_some_and(|record| is_valid(&record, digest, blob, &Boot::current()))
}

fn is_valid(record: &BlobRecord, digest: &Digest, blob: &Metadata, boot: &Boot) -> bool {
    let now = BlobRecord::of_blob(digest, blob, boot);
    let same = (&record.digest, record.size, record.modified, record.inode)
        == (&now.digest, now.size, now.modified, now.inode);
    same && record.boot.as_ref().is_none_or(|id| *id == boot.id)
}

/// Records that a blob matches its hash. If the record cannot be written, the blob is hashed again.
pub fn record_verified(cache: &RepositoryCache, digest: &Digest, blob: &Metadata) {
    let record = BlobRecord::of_blob(digest, blob, &Boot::current());
    let path = cache.record_path(digest);
    if let Ok(text) = serde_json::to_vec(&record)
        && let Err(error) = replace_file(&path, &text)
    {
        tracing::debug!(path = %path.display(), %error, "the record was not written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_valid_while_the_blob_is_unchanged() {
        let cache = tempfile::tempdir().unwrap();
        let place = RepositoryCache::new(cache.path(), "owner/name");
        let digest = Digest::parse_git(&"a".repeat(40)).unwrap();
        place.create_directories(&digest).unwrap();
        let blob = place.blob_path(&digest);
        fs::write(&blob, "content").unwrap();
        let look = || fs::metadata(&blob).unwrap();
        assert!(!is_verified(&place, &digest, &look()));
        record_verified(&place, &digest, &look());
        assert!(is_verified(&place, &digest, &look()));
        // Another file of the same size and time.
        let time = look().modified().unwrap();
        let other = cache.path().join("other");
        fs::write(&other, "CONTENT").unwrap();
        fs::File::open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &blob).unwrap();
        assert!(!is_verified(&place, &digest, &look()));
    }

    #[test]
    fn a_recent_blob_is_verified_until_the_machine_reboots() {
        let directory = tempfile::tempdir().unwrap();
        let blob = directory.path().join("blob");
        fs::write(&blob, "content").unwrap();
        let (blob, digest) =
            (fs::metadata(blob).unwrap(), Digest::parse_git(&"a".repeat(40)).unwrap());
        let boot = |id: &str, started: i64| Boot { id: id.to_owned(), started_s: Some(started) };
        let (before, after) = (blob.mtime() - 100, blob.mtime() + 100);
        let young = BlobRecord::of_blob(&digest, &blob, &boot("first", before));
        assert!(is_valid(&young, &digest, &blob, &boot("first", before)));
        assert!(!is_valid(&young, &digest, &blob, &boot("second", after)));
        let old = BlobRecord::of_blob(&digest, &blob, &boot("second", after));
        assert!(is_valid(&old, &digest, &blob, &boot("third", after + 100)));
    }
}
