//! Hashes of files: SHA-256 for those in LFS or Xet, git's blob id for the rest.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Digest as _, Sha256};

/// The hash that the hub lists for a file, which is also the blob's name in the cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digest {
    /// SHA-256 of the content, for files in LFS or Xet.
    Sha256(String),
    /// SHA-1 of `blob SIZE\0` and the content, for files in git itself.
    Git(String),
}

impl Digest {
    /// SHA-256 in 64 lower-case hexadecimal digits.
    pub fn parse_sha256(hex: &str) -> Option<Self> {
        is_hex(hex, 64).then(|| Self::Sha256(hex.to_owned()))
    }

    /// A git blob's id in 40 lower-case hexadecimal digits.
    pub fn parse_git(hex: &str) -> Option<Self> {
        is_hex(hex, 40).then(|| Self::Git(hex.to_owned()))
    }

    /// The expected hash of a blob in the cache, from its name.
    pub fn from_blob_name(name: &str) -> Option<Self> {
        Self::parse_sha256(name).or_else(|| Self::parse_git(name))
    }

    /// Returns the digits: the hub's `ETag`, and the blob's name in the cache.
    pub fn as_hex(&self) -> &str {
        match self {
            Self::Sha256(hex) | Self::Git(hex) => hex,
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(hex) => write!(formatter, "sha256 {hex}"),
            Self::Git(hex) => write!(formatter, "git blob {hex}"),
        }
    }
}

/// Returns whether a text is so many lower-case hexadecimal digits.
pub fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Hashes a file's bytes.
pub struct Hasher {
    state: Box<dyn DynDigest + Send>,
    digest: fn(String) -> Digest,
}

impl Hasher {
    /// Returns a hasher for a file of `size` bytes with the hash `expected`.
    pub fn new(expected: &Digest, size: u64) -> Self {
        match expected {
            Digest::Sha256(_) => {
                Self { state: Box::new(Sha256::default()), digest: Digest::Sha256 }
            }
            Digest::Git(_) => Self {
                state: Box::new(Sha1::new_with_prefix(format!("blob {size}\0"))),
                digest: Digest::Git,
            },
        }
    }

    /// Adds bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// Returns the hash of all bytes.
    pub fn finish(self) -> Digest {
        (self.digest)(hex::encode(self.state.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(expected: &Digest, content: &[u8]) -> Digest {
        let mut hasher = Hasher::new(expected, content.len() as u64);
        content.chunks(3).for_each(|piece| hasher.update(piece));
        hasher.finish()
    }

    #[test]
    fn digests_match_sha256sum_and_git_hash_object() {
        let expected = Digest::parse_sha256(
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        );
        assert_eq!(hash(&expected.clone().unwrap(), b"hello"), expected.unwrap());
        let expected = Digest::parse_git("b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
        assert_eq!(hash(&expected.clone().unwrap(), b"hello"), expected.unwrap());
        let empty = Digest::parse_git("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hash(&empty.clone().unwrap(), b""), empty.unwrap());
    }

    #[test]
    fn only_hex_digits_are_a_digest() {
        assert_eq!(Digest::from_blob_name("../../etc/passwd"), None);
        assert_eq!(Digest::from_blob_name(&"A".repeat(64)), None);
        assert_eq!(Digest::from_blob_name(&"a".repeat(63)), None);
        assert!(matches!(Digest::from_blob_name(&"a".repeat(64)), Some(Digest::Sha256(_))));
        assert!(matches!(Digest::from_blob_name(&"a".repeat(40)), Some(Digest::Git(_))));
    }
}
