//! Tar entries in the one form that a bundle has: regular files of nobody, without a time.

use std::io::{self, Read, Write};

use tar::{Builder, Header};

use super::error::BundleError;

/// The size of a tar block.
pub const BLOCK: usize = 512;
/// What ends an archive.
pub const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
/// At once.
const CHUNK: usize = 128 << 10;

/// The header of a file: one block, or several where its path is long.
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
    // The builder itself ends an archive when it is dropped.
    Ok(std::mem::take(builder.get_mut()))
}

/// The zeros that fill a file's last block.
pub fn padding(bytes: u64) -> &'static [u8] {
    let over = usize::try_from(bytes % BLOCK as u64).unwrap_or(0);
    if over == 0 { &[] } else { &END[..BLOCK - over] }
}

/// Copies exactly so many bytes, in chunks that depend on nothing but their number; returns how many there
/// were.
///
/// # Errors
/// Those of reading and writing.
pub fn copy(from: &mut impl Read, to: &mut impl Write, bytes: u64) -> io::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let mut filled = 0;
        while filled < wanted {
            match from.read(&mut buffer[filled..wanted]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        to.write_all(&buffer[..filled])?;
        left -= filled as u64;
        if filled < wanted {
            break;
        }
    }
    Ok(bytes - left)
}

/// Reads bytes that must be these.
///
/// # Errors
/// If there are others, or none.
pub fn expect(from: &mut impl Read, bytes: &[u8], what: &str) -> Result<(), BundleError> {
    let mut found = vec![0; bytes.len()];
    from.read_exact(&mut found)
        .map_err(|error| BundleError::malformed(format!("{what} cannot be read: {error}")))?;
    if found == bytes {
        return Ok(());
    }
    Err(BundleError::malformed(format!(
        "{what} differs from what `runs pack` writes"
    )))
}
