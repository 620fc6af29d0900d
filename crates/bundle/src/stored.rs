//! A zstd frame of uncompressed blocks: every zstd reads it, and its encoding is unique.
//! (RFC 8878, 3.1.1: magic number, frame header, raw blocks.)

use std::io::{self, Read, Write};

use super::error::BundleError;

/// The magic number of a zstd frame.
pub const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Flags of the frame header: the content's size in eight bytes; no checksum, no dictionary. The window is a block.
const FRAME_DESCRIPTOR: [u8; 2] = [0xc0, 0x38];
const BLOCK_BYTES: usize = 128 << 10;

/// Writes a frame of this content.
///
/// # Errors
/// If writing fails.
pub fn write_frame(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(&ZSTD_MAGIC)?;
    out.write_all(&FRAME_DESCRIPTOR)?;
    out.write_all(&(content.len() as u64).to_le_bytes())?;
    let mut blocks = content.chunks(BLOCK_BYTES).peekable();
    while let Some(block) = blocks.next() {
        out.write_all(&block_header(block.len(), blocks.peek().is_none()))?;
        out.write_all(block)?;
    }
    Ok(())
}

/// Encodes the header of a block: size in 21 bits, type 0 (raw) in two, the mark of the last block in one.
fn block_header(size: usize, is_last: bool) -> [u8; 3] {
    let header = u32::try_from(size).unwrap_or(0) << 3 | u32::from(is_last);
    let [low, middle, high, _] = header.to_le_bytes();
    [low, middle, high]
}

/// Reads a frame that [`write_frame()`] has written.
///
/// # Errors
/// If it differs, or is larger than `most` bytes.
pub fn read_frame(from: &mut impl Read, max_bytes: u64) -> Result<Vec<u8>, BundleError> {
    let begin = read_array::<4>(from)?;
    if begin != ZSTD_MAGIC {
        return Err(BundleError::NotABundle("it is not compressed with zstd"));
    }
    if read_array::<2>(from)? != FRAME_DESCRIPTOR {
        return Err(BundleError::malformed("its first frame was not written by `runs pack`"));
    }
    let size = u64::from_le_bytes(read_array(from)?);
    if size == 0 || size > max_bytes {
        return Err(BundleError::malformed(format!(
            "its head has {size} bytes; the limit is {max_bytes}"
        )));
    }
    let mut content = Vec::new();
    let mut left = usize::try_from(size).unwrap_or(0);
    while left > 0 {
        let block = left.min(BLOCK_BYTES);
        left -= block;
        if read_array::<3>(from)? != block_header(block, left == 0) {
            return Err(BundleError::malformed(
                "a block of its head differs from what `runs pack` writes",
            ));
        }
        let at = content.len();
        content.resize(at + block, 0);
        from.read_exact(&mut content[at..]).map_err(classify_read_error)?;
    }
    Ok(content)
}

fn read_array<const SIZE: usize>(from: &mut impl Read) -> Result<[u8; SIZE], BundleError> {
    let mut bytes = [0; SIZE];
    from.read_exact(&mut bytes).map_err(classify_read_error)?;
    Ok(bytes)
}

fn classify_read_error(error: io::Error) -> BundleError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        BundleError::malformed("it is truncated")
    } else {
        BundleError::Read(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_by_zstd() {
        for size in [1, 511, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES] {
            let content: Vec<u8> = (0..251).cycle().take(size).collect();
            let mut frame = Vec::new();
            write_frame(&mut frame, &content).unwrap();
            assert_eq!(zstd::decode_all(&frame[..]).unwrap(), content);
            assert_eq!(read_frame(&mut &frame[..], 1 << 20).unwrap(), content);
        }
    }

    #[test]
    fn any_flipped_bit_of_the_framing_is_refused() {
        let mut frame = Vec::new();
        write_frame(&mut frame, b"hello").unwrap();
        for bit in 0..(frame.len() - 5) * 8 {
            let mut other = frame.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(read_frame(&mut &other[..], 1 << 20).is_err(), "bit {bit}");
        }
    }
}
