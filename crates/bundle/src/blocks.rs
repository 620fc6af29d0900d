//! Tar entries in the only form that a bundle has: regular files without an owner or a time.

use std::io::{self, Read, Write};

use tar::{Builder, Header};

use super::error::BundleError;

/// The size of a tar block, bytes.
pub const TAR_BLOCK_BYTES: usize = 512;
/// The two blocks of zeros that end an archive.
pub const ARCHIVE_END: [u8; 2 * TAR_BLOCK_BYTES] = [0; 2 * TAR_BLOCK_BYTES];
/// The number of bytes that are copied at a time.
const COPY_CHUNK_BYTES: usize = 128 << 10;

/// The header of a file: one block, or several if its path is long.
///
/// # Errors
/// If tar cannot express the path.
pub fn encode_header(path: &str, bytes: u64) -> io::Result<Vec<u8>> {
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
pub fn block_padding(bytes: u64) -> &'static [u8] {
    let over = usize::try_from(bytes % TAR_BLOCK_BYTES as u64).unwrap_or(0);
    if over == 0 { &[] } else { &ARCHIVE_END[..TAR_BLOCK_BYTES - over] }
}

/// Copies exactly this number of bytes, in chunks whose sizes depend on it alone; returns the number that was
/// copied.
///
/// # Errors
/// If reading or writing fails.
pub fn copy_exactly(from: &mut impl Read, to: &mut impl Write, bytes: u64) -> io::Result<u64> {
    let mut limited = from.take(bytes);
    let mut chunk = Vec::with_capacity(COPY_CHUNK_BYTES);
    loop {
        chunk.clear();
        limited.by_ref().take(COPY_CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        to.write_all(&chunk)?;
        if chunk.len() < COPY_CHUNK_BYTES {
            return Ok(bytes - limited.limit());
        }
    }
}

/// Reads bytes that must equal `bytes`.
///
/// # Errors
/// If they differ, or cannot be read.
pub fn expect_bytes(from: &mut impl Read, bytes: &[u8], part: &str) -> Result<(), BundleError> {
    let mut actual = vec![0; bytes.len()];
    from.read_exact(&mut actual)
        .map_err(|error| BundleError::malformed(format!("{part} cannot be read: {error}")))?;
    if actual == bytes {
        return Ok(());
    }
    Err(BundleError::malformed(format!("{part} differs from what `runs pack` writes")))
}
