//! The content of a build context as one hash, by which a built image is named.

use std::fs::File;
use std::io::{self, BufRead as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{OFlags, readlinkat};
use sha2::{Digest as _, Sha256};

use super::build_context::{BuildContext, READ_FLAGS};
use crate::error::EngineError;
use retrial_beneath::open_beneath;

/// Returns a SHA-256 of everything that a build is sent: names, modes and content, and not the times of files, which a
/// checkout sets. The path of the directory must have no links.
///
/// # Errors
/// If the directory or a file in it cannot be read.
pub fn hash_build_context(root: &Path, dockerfile: &str) -> Result<String, EngineError> {
    let context = BuildContext::survey(root, dockerfile)?;
    let mut hash = Sha256::new();
    hash_text(&mut hash, dockerfile.as_bytes());
    for path in context.entries() {
        match hash_entry(&context, path) {
            // Removed since the survey: it is not sent either.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(EngineError::File { path: root.join(path), source }),
            Ok(entry_hash) => {
                hash_text(&mut hash, path.as_os_str().as_bytes());
                hash_text(&mut hash, &entry_hash);
            }
        }
    }
    Ok(hex::encode(hash.finalize()))
}

/// Mode and content of a file, the target of a link, or the mode of a directory.
fn hash_entry(context: &BuildContext, path: &Path) -> io::Result<Vec<u8>> {
    let open = |flags: OFlags| Ok::<_, io::Error>(open_beneath(context.handle(), path, flags)?);
    let opened = File::from(open(OFlags::PATH | OFlags::NOFOLLOW)?);
    let metadata = opened.metadata()?;
    let mut hash = Sha256::new();
    hash.update(metadata.mode().to_le_bytes());
    if metadata.is_symlink() {
        hash.update(readlinkat(&opened, "", Vec::new())?.as_bytes());
    } else if metadata.is_file() {
        let mut file = io::BufReader::new(File::from(open(READ_FLAGS)?));
        while let piece @ [_, ..] = file.fill_buf()? {
            hash.update(piece);
            let length = piece.len();
            file.consume(length);
        }
    }
    Ok(hash.finalize().to_vec())
}

/// Adds bytes with their length, so that no two lists of texts have the same hash.
fn hash_text(hash: &mut Sha256, bytes: &[u8]) {
    hash.update(bytes.len().to_le_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_hash_changes_with_what_is_sent_and_with_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();
        let hash = || hash_build_context(&path, "Dockerfile").unwrap();
        write("Dockerfile", "FROM scratch\n");
        write("data", "1");
        write(".dockerignore", "ignored\n");
        let first = hash();
        write("ignored", "1");
        write("data", "1");
        assert_eq!(hash(), first);
        write("data", "2");
        let changed = hash();
        assert_ne!(changed, first);
        write("Dockerfile", "FROM debian\n");
        assert_ne!(hash(), changed);
        fs::rename(path.join("data"), path.join("other")).unwrap();
        assert_ne!(hash(), changed);
        assert!(hash_build_context(&path.join("none"), "Dockerfile").is_err());
    }
}
