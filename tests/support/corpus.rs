//! The corpora next to the repository, in `../shared/corpus`: too large to be part of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A corpus file.
pub fn shared(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus").join(name);
    assert!(path.is_file(), "this test needs {}", path.display());
    path
}

/// Unpacks one of them.
pub fn unpacked(name: &str) -> TempDir {
    let archive = shared(name);
    let directory = tempfile::tempdir().unwrap();
    let tar = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(directory.path()).status();
    let tar =
        tar.expect("tar and xz are needed to unpack the corpus: apt-get install tar xz-utils");
    assert!(tar.success(), "tar: {tar}");
    directory
}
