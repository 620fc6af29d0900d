//! A digest of the files next to a recipe that its containers can read: cached content that they populated is that of
//! these files.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

use retrial_container::Mount;

/// The largest file that is read, bytes. For larger ones, such as a model's, size and times stand for the content.
const MAX_HASHED_BYTES: u64 = 64 << 20;

/// Returns a SHA-256, hexadecimal, of the content of all mounts. Missing and unreadable files have a digest, too:
/// creating the container reports them.
pub fn digest_mounts(companions: &[Mount]) -> String {
    let mut digest = Sha256::new();
    for mount in companions {
        add_part(&mut digest, mount.target.as_bytes());
        let source = Path::new(&mount.source);
        for entry in WalkDir::new(source).sort_by_file_name() {
            match entry {
                Ok(entry) => add_entry(&mut digest, source, &entry),
                Err(error) => add_part(&mut digest, error.to_string().as_bytes()),
            }
        }
    }
    hex::encode(digest.finalize())
}

fn add_entry(digest: &mut Sha256, source: &Path, entry: &DirEntry) {
    let path = entry.path();
    let relative = path.strip_prefix(source).unwrap_or(path);
    add_part(digest, relative.as_os_str().as_bytes());
    if entry.path_is_symlink() && entry.depth() > 0 {
        let target = fs::read_link(path).unwrap_or_default();
        add_part(digest, target.as_os_str().as_bytes());
        return;
    }
    let Ok(status) = fs::metadata(path) else {
        return add_part(digest, b"unreadable");
    };
    add_part(digest, &(status.mode() & 0o111).to_be_bytes());
    if status.is_file() {
        let file_hash = hash_file(path, status.len());
        let content = file_hash.unwrap_or_else(|| {
            let (seconds, fraction) = (status.ctime(), status.ctime_nsec());
            format!("{} {seconds} {fraction}", status.len()).into_bytes()
        });
        add_part(digest, &content);
    }
}

/// The hash of a file; none if it is large or unreadable.
fn hash_file(path: &Path, size: u64) -> Option<Vec<u8>> {
    let file = fs::File::open(path).ok().filter(|_| size <= MAX_HASHED_BYTES)?;
    let mut content = Vec::new();
    file.take(MAX_HASHED_BYTES).read_to_end(&mut content).ok()?;
    Some(Sha256::digest(content).to_vec())
}

/// Adds a part with its length, so that no two lists of parts are the same bytes.
fn add_part(digest: &mut Sha256, part: &[u8]) {
    digest.update(part.len().to_be_bytes());
    digest.update(part);
}
