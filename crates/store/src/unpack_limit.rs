//! How much an archive of somebody else may unpack to. A compressed file of 75 kB may hold gigabytes.

use std::env;
use std::path::Path;

use miette::Diagnostic;
use thiserror::Error;

use super::error::StoreError;
use retrial_document::ByteUnits;
use retrial_document::measures::format;
use retrial_document::measures::parse_size;

/// The variable that replaces the limit: `20 GiB`.
const LIMIT_VARIABLE: &str = "RETRIAL_MAX_UNPACKED";
/// An archive may always unpack to as much as this, bytes.
const MIN_LIMIT_BYTES: u64 = 256 << 20;
/// The largest number of bytes that one byte of an archive may unpack to. Logs with few different lines have some 50.
const MAX_UNPACK_RATIO: u64 = 200;
/// The largest size to which an archive may unpack, bytes.
const MAX_LIMIT_BYTES: u64 = 64 << 30;

/// An archive that states a size above its limit.
#[derive(Debug, Error, Diagnostic)]
#[error("it unpacks to {}, and the limit for an archive of its size is {}", format::format_bytes(*bytes), format::format_bytes(*limit))]
#[diagnostic(help("{}", UnpackLimit::advice()))]
pub struct OverLimit {
    /// The size that it states, bytes.
    pub bytes: u64,
    /// The most bytes that all files of the archive may have together.
    pub limit: u64,
}

/// The bytes that an archive may unpack to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnpackLimit {
    bytes: u64,
}

impl UnpackLimit {
    /// The limit of an archive of this many bytes, or that of the variable.
    ///
    /// # Errors
    /// If the variable is set and no size.
    pub fn for_archive(archive_bytes: u64) -> Result<Self, StoreError> {
        let bytes = match env::var(LIMIT_VARIABLE) {
            Ok(text) => parse_size(&text, ByteUnits::Precise).ok_or_else(|| {
                let reason = format!("`{text}` is not a size; write it like this: 20GiB");
                StoreError::unusable(Path::new(LIMIT_VARIABLE), reason)
            })?,
            Err(_) => default_limit(archive_bytes),
        };
        Ok(Self { bytes })
    }

    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Checks the size that an archive states.
    ///
    /// # Errors
    /// If that is more than the limit.
    pub fn check_size(self, bytes: u64) -> Result<(), OverLimit> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let limit = self.bytes;
        Err(OverLimit { bytes, limit })
    }

    /// Returns the advice for an archive that exceeds the limit.
    pub fn advice() -> String {
        format!("if you trust its sender, allow more: {LIMIT_VARIABLE}=20GiB")
    }
}

fn default_limit(archive_bytes: u64) -> u64 {
    archive_bytes.saturating_mul(MAX_UNPACK_RATIO).clamp(MIN_LIMIT_BYTES, MAX_LIMIT_BYTES)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::tiny(75_000, 256 << 20)]
    #[case::large(100 << 20, 20_000 << 20)]
    #[case::huge(u64::MAX, 64 << 30)]
    fn the_limit_grows_with_the_archive(#[case] archive: u64, #[case] expected: u64) {
        assert_eq!(default_limit(archive), expected);
    }
}
