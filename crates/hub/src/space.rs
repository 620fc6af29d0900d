//! Free space, before the first byte.

use std::path::Path;

use crate::error::FetchError;

/// The least that is left for others, in bytes.
const MIN_SPARE_BYTES: u64 = 16 << 20;

/// Checks that so many more bytes fit, and a little to spare.
///
/// # Errors
/// If they do not. A file system that does not report its free space passes.
pub fn check_free_space(cache: &Path, repository: &str, bytes: u64) -> Result<(), FetchError> {
    if bytes == 0 {
        return Ok(());
    }
    let required = bytes.saturating_add((bytes / 100).max(MIN_SPARE_BYTES));
    // The cache may not exist yet: its nearest parent is on the same disk.
    let existing = cache.ancestors().find(|path| path.exists());
    let Some(Ok(disk)) = existing.map(rustix::fs::statvfs) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < required {
        return Err(FetchError::Space {
            repository: repository.to_owned(),
            required,
            free,
            cache: cache.to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    #[test]
    fn a_download_larger_than_the_free_space_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let later = cache.path().join("not/there/yet");
        check_free_space(&later, "owner/name", 0).unwrap();
        check_free_space(&later, "owner/name", 1).unwrap();
        let error = check_free_space(&later, "owner/name", u64::MAX).unwrap_err();
        let help = error.help().unwrap().to_string();
        assert!(help.contains("HF_HUB_CACHE"), "{error}: {help}");
    }
}
