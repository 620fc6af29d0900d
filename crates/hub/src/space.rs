//! Room on the disk, before the first byte.

use std::path::Path;

use crate::error::FetchError;

/// The least that is left for others.
const SPARE: u64 = 16 << 20;

/// Whether there is room for so many bytes more, and a little to spare.
pub fn check(cache: &Path, repository: &str, lacking: u64) -> Result<(), FetchError> {
    if lacking == 0 {
        return Ok(());
    }
    let needed = lacking.saturating_add((lacking / 100).max(SPARE));
    // The cache may not be there yet: the disk is that of what is.
    let there = cache.ancestors().find(|path| path.exists());
    let Some(Ok(disk)) = there.map(rustix::fs::statvfs) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < needed {
        return Err(FetchError::Room {
            repository: repository.to_owned(),
            needed,
            free,
            cache: cache.to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let later = cache.path().join("not/there/yet");
        check(&later, "owner/name", 0).unwrap();
        check(&later, "owner/name", 1).unwrap();
        let error = check(&later, "owner/name", u64::MAX).unwrap_err();
        assert!(error.to_string().contains("HF_HUB_CACHE"), "{error}");
    }
}
