//! What is known of blobs that were hashed: a second run need not read hundreds of gigabytes.
//!
//! A note stands beside each blob and holds as long as size, time and inode are the same. A blob
//! that was written since the machine started may still be lost with it, size and all, before it
//! is on the disk; so such a note holds until the machine starts anew, and one that was made by
//! reading an older blob holds for good. That spares waiting for the disk after each file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use crate::cache::{Place, replace};
use crate::digest::Digest;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    digest: Digest,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    inode: u64,
    /// The machine's start for which it holds; none: for good.
    boot: Option<String>,
}

impl Note {
    fn of(digest: &Digest, blob: &Metadata, boot: &Boot) -> Self {
        let on_disk = boot.began.is_some_and(|began| blob.mtime() < began);
        Self {
            digest: digest.clone(),
            size: blob.len(),
            modified: (blob.mtime(), blob.mtime_nsec()),
            inode: blob.ino(),
            boot: (!on_disk).then(|| boot.id.clone()),
        }
    }
}

/// The machine's start.
struct Boot {
    id: String,
    /// Seconds since 1970.
    began: Option<i64>,
}

impl Boot {
    fn now() -> Self {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let began = stat.lines().find_map(|line| line.strip_prefix("btime "));
        Self {
            id: id.trim().to_owned(),
            began: began.and_then(|text| text.trim().parse().ok()),
        }
    }
}

/// Whether a blob was hashed before, matched, and is still the same.
pub fn is_known(place: &Place, digest: &Digest, blob: &Metadata) -> bool {
    let known: Option<Note> = fs::read(place.note(digest))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    known.is_some_and(|note| holds(&note, digest, blob, &Boot::now()))
}

fn holds(note: &Note, digest: &Digest, blob: &Metadata, boot: &Boot) -> bool {
    let now = Note::of(digest, blob, boot);
    let same = (&note.digest, note.size, note.modified, note.inode)
        == (&now.digest, now.size, now.modified, now.inode);
    same && note.boot.as_ref().is_none_or(|id| *id == boot.id)
}

/// Keeps that a blob was hashed and matched. Where that cannot be kept, it is hashed again.
pub fn keep(place: &Place, digest: &Digest, blob: &Metadata) {
    let note = Note::of(digest, blob, &Boot::now());
    if let Ok(text) = serde_json::to_vec(&note) {
        let _ = replace(&place.note(digest), &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_holds_as_long_as_the_blob_is_the_same() {
        let cache = tempfile::tempdir().unwrap();
        let place = Place::new(cache.path(), "owner/name");
        let digest = Digest::git(&"a".repeat(40)).unwrap();
        place.prepare(&digest).unwrap();
        let blob = place.blob(&digest);
        fs::write(&blob, "content").unwrap();
        let look = || fs::metadata(&blob).unwrap();
        assert!(!is_known(&place, &digest, &look()));
        keep(&place, &digest, &look());
        assert!(is_known(&place, &digest, &look()));
        // Another file of the same size and time.
        let time = look().modified().unwrap();
        let other = cache.path().join("other");
        fs::write(&other, "CONTENT").unwrap();
        fs::File::open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &blob).unwrap();
        assert!(!is_known(&place, &digest, &look()));
    }

    #[test]
    fn a_young_blob_is_known_until_the_machine_starts_anew() {
        let directory = tempfile::tempdir().unwrap();
        let blob = directory.path().join("blob");
        fs::write(&blob, "content").unwrap();
        let (blob, digest) = (
            fs::metadata(blob).unwrap(),
            Digest::git(&"a".repeat(40)).unwrap(),
        );
        let boot = |id: &str, began: i64| Boot {
            id: id.to_owned(),
            began: Some(began),
        };
        let (before, after) = (blob.mtime() - 100, blob.mtime() + 100);
        let young = Note::of(&digest, &blob, &boot("first", before));
        assert!(holds(&young, &digest, &blob, &boot("first", before)));
        assert!(!holds(&young, &digest, &blob, &boot("second", after)));
        let old = Note::of(&digest, &blob, &boot("second", after));
        assert!(holds(&old, &digest, &blob, &boot("third", after + 100)));
    }
}
