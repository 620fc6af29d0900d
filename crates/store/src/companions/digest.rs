//! Digests of copied files, and of mounts: each entry with its path, type, mode, length and content, in order.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use walkdir::{DirEntry, WalkDir};

use retrial_container::Mount;

/// The bits of a mode that are copied: the type of the entry, and who may read, write and execute it.
const TYPE_AND_PERMISSIONS: u32 = 0o170_777;

/// Returns a SHA-256, hexadecimal, of a file or a directory.
///
/// # Errors
/// If a part of it cannot be read.
pub fn digest_tree(root: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    add_tree(&mut digest, root)?;
    Ok(hex::encode(digest.finalize()))
}

/// Returns a SHA-256, hexadecimal, of the content of all mounts. A source that cannot be read has a digest, too:
/// creating the container reports it.
pub fn digest_mounts(mounts: &[Mount]) -> String {
    let mut digest = Sha256::new();
    for mount in mounts {
        add_part(&mut digest, mount.target.as_bytes());
        if let Err(error) = add_tree(&mut digest, Path::new(&mount.source)) {
            add_part(&mut digest, error.kind().to_string().as_bytes());
        }
    }
    hex::encode(digest.finalize())
}

fn add_tree(digest: &mut Sha256, root: &Path) -> io::Result<()> {
    for entry in WalkDir::new(root).follow_root_links(false).sort_by_file_name() {
        add_entry(digest, root, &entry?)?;
    }
    Ok(())
}

fn add_entry(digest: &mut Sha256, root: &Path, entry: &DirEntry) -> io::Result<()> {
    let path = entry.path();
    add_part(digest, path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes());
    digest.update((entry.metadata()?.mode() & TYPE_AND_PERMISSIONS).to_be_bytes());
    let kind = entry.file_type();
    if kind.is_symlink() {
        add_part(digest, fs::read_link(path)?.as_os_str().as_bytes());
    } else if kind.is_file() {
        let (length, content) = hash_file(path)?;
        digest.update(length.to_be_bytes());
        digest.update(content);
    }
    Ok(())
}

/// Returns the length and the SHA-256 of a file.
fn hash_file(path: &Path) -> io::Result<(u64, [u8; 32])> {
    let mut file = File::open(path)?;
    let (mut content, mut length) = (Sha256::new(), 0);
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok((length, content.finalize().into()));
        }
        length += read as u64;
        content.update(&piece[..read]);
    }
}

/// Adds a part with its length, so that no two lists of parts are the same bytes.
fn add_part(digest: &mut Sha256, part: &[u8]) {
    digest.update((part.len() as u64).to_be_bytes());
    digest.update(part);
}
