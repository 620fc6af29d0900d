//! Tar entries in the only form that a bundle has: regular files without an owner or a time.

use std::io::{self, Read, Write};

use tar::{Builder, Header};

use super::error::BundleError;

/// The size of a tar block, bytes.
pub const BLOCK: usize = 512;
/// The two blocks of zeros that end an archive.
pub const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
/// The number of bytes that are copied at a time.
const CHUNK: usize = 128 << 10;

/// The header of a file: one block, or several if its path is long.
///
/// # Errors
/// If tar cannot express the path.
pub fn header(path: &str, bytes: u64) -> io::Result<Vec<u8>> {
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes);
    let mut builder = Builder::new(Vec::new());
    builder.append_data(&mut header, path, io::empty())?;
    // Taken out because the builder ends an archive when it is dropped.
    Ok(std::mem::take(builder.get_mut()))
}

/// The zeros that fill a file's last block.
pub fn padding(bytes: u64) -> &'static [u8] {
    let over = usize::try_from(bytes % BLOCK as u64).unwrap_or(0);
    if over == 0 { &[] } else { &END[..BLOCK - over] }
}

/// Copies exactly this number of bytes, in chunks whose sizes depend on it alone; returns the number that was
/// copied.
///
/// # Errors
/// If reading or writing fails.
pub fn copy(from: &mut impl Read, to: &mut impl Write, bytes: u64) -> io::Result<u64> {
    let mut from = from.take(bytes);
    let mut chunk = Vec::with_capacity(CHUNK);
    loop {
        chunk.clear();
        from.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        to.write_all(&chunk)?;
        if chunk.len() < CHUNK {
            return Ok(bytes - from.limit());
        }
    }
}

/// Reads bytes that must equal `bytes`.
///
/// # Errors
/// If they differ, or cannot be read.
pub fn expect(from: &mut impl Read, bytes: &[u8], part: &str) -> Result<(), BundleError> {
    let mut actual = vec![0; bytes.len()];
    from.read_exact(&mut actual)
        .map_err(|error| BundleError::malformed(format!("{part} cannot be read: {error}")))?;
    if actual == bytes {
        return Ok(());
    }
    Err(BundleError::malformed(format!(
        "{part} differs from what `runs pack` writes"
    )))
}
