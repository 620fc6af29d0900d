//! Removes what a container must not leave in a directory that it could write: set-user-ID files and device nodes.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// The set-user-ID and set-group-ID bits.
const SET_ID_BITS: u32 = 0o6000;

/// Removes device nodes, and the set-user-ID and set-group-ID bits of files, below a directory of ours. Returns what
/// could not be removed.
pub fn remove_privileged_files(root: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut failures = Vec::new();
    for entry in WalkDir::new(root).into_iter().filter_map(Result::ok) {
        let Ok(status) = entry.metadata() else { continue };
        let kind = status.file_type();
        let removed = if kind.is_block_device() || kind.is_char_device() {
            fs::remove_file(entry.path())
        } else if kind.is_file() && status.mode() & SET_ID_BITS != 0 {
            let permissions = fs::Permissions::from_mode(status.mode() & 0o1777);
            // Its directory is ours, even where the file is the container's.
            fs::set_permissions(entry.path(), permissions)
                .or_else(|_| fs::remove_file(entry.path()))
        } else {
            Ok(())
        };
        if let Err(error) = removed {
            failures.push((entry.into_path(), error));
        }
    }
    failures
}
