//! What a file holds: bytes that are there, or gigabytes that need not be.

use std::sync::{Arc, LazyLock, OnceLock};

use bytes::Bytes;
use sha1::Digest as _;

/// The length of a chunk of generated content.
const CHUNK: usize = 1 << 20;

/// Noise that generated chunks are cut from, each from a place of its own.
static NOISE: LazyLock<Bytes> = LazyLock::new(|| {
    let words = (0..(2 * CHUNK as u64) / 8).flat_map(|index| mixed(index).to_le_bytes());
    words.collect::<Vec<u8>>().into()
});

/// `SplitMix64`'s finishing step: a number that looks like chance.
fn mixed(number: u64) -> u64 {
    let mut value = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A file's content, cheap to clone; digests are computed once, on first use.
#[derive(Clone, Debug)]
pub struct Content {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Source,
    sha256: OnceLock<String>,
}

#[derive(Debug)]
enum Source {
    Bytes(Bytes),
    Generated { seed: u64, length: u64 },
}

impl Content {
    fn new(source: Source) -> Self {
        let sha256 = OnceLock::new();
        Self { inner: Arc::new(Inner { source, sha256 }) }
    }

    /// `length` bytes that look like chance and are the same for the same seed.
    pub fn generated(seed: u64, length: u64) -> Self {
        Self::new(Source::Generated { seed, length })
    }

    /// How many bytes.
    pub fn length(&self) -> u64 {
        match &self.inner.source {
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Generated { length, .. } => *length,
        }
    }

    /// Bytes from `at`, at most to `end`, as many as are at hand; empty at the end.
    pub fn chunk(&self, at: u64, end: u64) -> Bytes {
        let end = end.min(self.length());
        if at >= end {
            return Bytes::new();
        }
        match &self.inner.source {
            Source::Bytes(bytes) => {
                let most = usize::try_from(end - at).unwrap().min(CHUNK);
                let at = usize::try_from(at).unwrap();
                bytes.slice(at..at + most)
            }
            Source::Generated { seed, .. } => {
                let chunk = at / CHUNK as u64;
                let within = usize::try_from(at % CHUNK as u64).unwrap();
                let from = mixed(mixed(*seed) ^ chunk) % CHUNK as u64;
                let from = usize::try_from(from).unwrap() + within;
                let most = usize::try_from(end - at).unwrap_or(CHUNK);
                NOISE.slice(from..from + most.min(CHUNK - within))
            }
        }
    }

    /// All of it, chunk by chunk.
    pub fn chunks(&self) -> impl Iterator<Item = Bytes> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let chunk = self.chunk(at, u64::MAX);
            at += chunk.len() as u64;
            (!chunk.is_empty()).then_some(chunk)
        })
    }

    /// All of it in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        self.chunks().flat_map(Vec::from).collect()
    }

    /// The SHA-256 of the content, hexadecimal.
    pub fn sha256(&self) -> &str {
        self.inner.sha256.get_or_init(|| {
            let mut hasher = sha2::Sha256::new();
            for chunk in self.chunks() {
                hasher.update(&chunk);
            }
            hex(&hasher.finalize())
        })
    }

    /// The id that git gives to the content as a blob.
    pub fn git_id(&self) -> String {
        let mut hasher = sha1::Sha1::new();
        hasher.update(format!("blob {}\0", self.length()));
        for chunk in self.chunks() {
            hasher.update(&chunk);
        }
        hex(&hasher.finalize())
    }

    /// Distinguishes contents without reading gigabytes.
    pub fn mark(&self) -> String {
        match &self.inner.source {
            Source::Bytes(_) => self.git_id(),
            Source::Generated { seed, length } => format!("generated {seed} {length}"),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Content {
    fn from(bytes: T) -> Self {
        Self::new(Source::Bytes(bytes.into()))
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-1 of a text, hexadecimal.
pub fn sha1_of(text: &str) -> String {
    hex(&sha1::Sha1::digest(text))
}
