//! The one place where evidence is opened: beneath its directory, never through a link,
//! regular files only, and never more than a cap. A container may have written it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::dir_handle::DirHandle;
use super::error::StoreError;
use retrial_document::measures::format;

/// Opens a file beneath a directory.
///
/// # Errors
/// If it is missing, a link, not a regular file, or outside the directory.
pub fn open_beneath(directory: &Path, relative: &Path) -> Result<File, StoreError> {
    DirHandle::open(directory)?.open_file(relative)
}

/// Reads a file beneath a directory, at most `cap` bytes.
///
/// # Errors
/// As [`open_beneath`], and if it is larger than the cap.
pub fn read_beneath(directory: &Path, relative: &Path, cap: u64) -> Result<Vec<u8>, StoreError> {
    let file = open_beneath(directory, relative)?;
    let path: PathBuf = directory.join(relative);
    // A capped reader has no size hint, and would start with a small buffer.
    let length = file.metadata().map_or(0, |metadata| metadata.len().min(cap));
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(cap + 1).read_to_end(&mut bytes).map_err(StoreError::io("read", &path))?;
    if bytes.len() as u64 > cap {
        let reason = format!("it is larger than {}", format::format_bytes(cap));
        return Err(StoreError::unusable(&path, reason));
    }
    Ok(bytes)
}

/// As [`read_beneath`], as text; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// As [`read_beneath`].
pub fn read_text_beneath(
    directory: &Path,
    relative: &Path,
    cap: u64,
) -> Result<String, StoreError> {
    let bytes = read_beneath(directory, relative, cap)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FileType, Mode};

    use super::*;

    #[test]
    fn links_pipes_and_escaping_paths_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::write(root.join("plain"), "figures").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
        std::os::unix::fs::symlink(root, root.join("loop")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(read_beneath(root, Path::new("plain"), 100).unwrap(), b"figures");
        for bad in ["link", "loop/plain", "pipe", "../plain", "/etc/passwd", "missing"] {
            assert!(read_beneath(root, Path::new(bad), 100).is_err(), "{bad}");
        }
        assert!(
            read_beneath(root, Path::new("plain"), 3)
                .unwrap_err()
                .to_string()
                .contains("larger than")
        );
    }
}
