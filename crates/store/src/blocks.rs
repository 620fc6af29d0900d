//! Reads input of any length in blocks. Each thread reuses its block: a submission tree has thousands of files,
//! and fresh memory for each costs more than reading most of them.

use std::cell::Cell;
use std::io::Read;

const BLOCK_BYTES: usize = 64 << 10;

thread_local! {
    static CACHED_BLOCK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Passes all input to `take`, a block at a time; returns the number of bytes.
///
/// # Errors
/// If it cannot be read.
pub fn for_each_block(mut source: impl Read, mut take: impl FnMut(&[u8])) -> std::io::Result<u64> {
    // Moved out, so that `take` may read other input in blocks.
    let mut block = CACHED_BLOCK.take();
    block.resize(BLOCK_BYTES, 0);
    let mut total = 0;
    let ended = loop {
        match source.read(&mut block) {
            Ok(0) => break Ok(total),
            Ok(count) => {
                total += count as u64;
                take(&block[..count]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    CACHED_BLOCK.set(block);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_are_read_in_order_and_reads_can_nest() {
        let long: Vec<u8> = (0..=u8::MAX).cycle().take(3 * BLOCK_BYTES + 7).collect();
        let mut read = Vec::new();
        let mut inner = 0;
        let count = for_each_block(&long[..], |block| {
            read.extend_from_slice(block);
            inner += for_each_block(&b"another"[..], |_| {}).unwrap();
        });
        assert_eq!(count.unwrap(), long.len() as u64);
        assert!(read == long);
        assert_eq!(inner, 4 * 7);
    }
}
