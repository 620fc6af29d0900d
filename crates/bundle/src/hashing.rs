//! SHA-256 and size of a stream.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// Counts and hashes the bytes that are read or written through it.
#[derive(Debug)]
pub struct HashingStream<T> {
    inner: T,
    hash: Sha256,
    bytes: u64,
}

impl<T> HashingStream<T> {
    /// Wraps a reader or writer.
    pub fn new(inner: T) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0 }
    }

    /// Returns the inner reader or writer, the number of bytes, and their SHA-256 in hexadecimal.
    pub fn finish(self) -> (T, u64, String) {
        (self.inner, self.bytes, hex::encode(self.hash.finalize()))
    }

    fn hash_bytes(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }
}

impl<T: Write> Write for HashingStream<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash_bytes(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for HashingStream<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash_bytes(&buffer[..read]);
        Ok(read)
    }
}

/// SHA-256 of a reader's content, in hexadecimal.
///
/// # Errors
/// If reading fails.
pub fn hash_reader(source: impl Read) -> io::Result<String> {
    let mut hashing = HashingStream::new(source);
    io::copy(&mut hashing, &mut io::sink())?;
    Ok(hashing.finish().2)
}

/// Returns the SHA-256 of bytes in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns whether a text is a SHA-256 as [`sha256_hex`] writes it.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}
