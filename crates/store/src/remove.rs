//! Removes a run, with all of its evidence.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use walkdir::WalkDir;

use super::error::StoreError;
use super::lock::FileLock;
use super::run_directory::RunDirectory;
use super::staging_directory::StagingDirectory;

/// A block of `st_blocks`.
const STAT_BLOCK_BYTES: u64 = 512;

/// Removes a run that no process follows. A kill in between leaves no partial run, only a directory that
/// [`super::staging_directory::remove_leftover_stages`] removes.
///
/// # Errors
/// If a process follows it, it is not the home's own directory, or something in it belongs to another user.
pub fn remove_run(run: &RunDirectory) -> Result<(), StoreError> {
    check_is_run(run)?;
    let lock = FileLock::acquire(&run.lock_path(), run.id())?;
    let stage = StagingDirectory::for_removal(run.path())?;
    drop(lock);
    stage.remove()
}

/// Only a run's directory is removed, never the target of a link, or another directory there.
fn check_is_run(run: &RunDirectory) -> Result<(), StoreError> {
    let found = fs::symlink_metadata(run.path()).map_err(StoreError::io("find", run.path()))?;
    if found.is_symlink() {
        let reason = "it is a symbolic link: remove the link and its target by hand";
        return Err(StoreError::unusable(run.path(), reason));
    }
    let is_run = found.is_dir() && run.journal_path().is_file() && run.join("plan.json").is_file();
    if !is_run {
        let reason = "it has no journal and no plan, so it may not be a run: remove it by hand";
        return Err(StoreError::unusable(run.path(), reason));
    }
    Ok(())
}

/// The space that removing a directory frees, bytes: a file with a hard link elsewhere frees none.
pub fn freed_bytes(directory: &Path) -> u64 {
    let mut bytes = 0;
    let mut linked: HashMap<(u64, u64), u64> = HashMap::new();
    for entry in WalkDir::new(directory).min_depth(1).into_iter().flatten() {
        let Ok(found) = entry.metadata() else {
            continue;
        };
        let names = linked.entry((found.dev(), found.ino())).or_default();
        *names += 1;
        if found.is_dir() || *names == found.nlink() {
            bytes += found.blocks() * STAT_BLOCK_BYTES;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted() -> (tempfile::TempDir, RunDirectory) {
        let directory = tempfile::tempdir().unwrap();
        let run = directory.path().join("run");
        fs::create_dir(&run).unwrap();
        for name in ["journal.jsonl", "plan.json"] {
            fs::write(run.join(name), "{}").unwrap();
        }
        (directory, RunDirectory::from_path(run))
    }

    #[test]
    fn a_run_is_removed_completely() {
        let (directory, run) = planted();
        remove_run(&run).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_locked_run_is_not_removed() {
        let (_directory, run) = planted();
        let held = FileLock::acquire(&run.lock_path(), "run").unwrap();
        assert!(matches!(remove_run(&run), Err(StoreError::Busy { .. })));
        drop(held);
        assert!(run.path().exists());
    }

    #[test]
    fn only_runs_are_removed_and_links_are_not_followed() {
        let (directory, run) = planted();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(run.path(), &link).unwrap();
        assert!(remove_run(&RunDirectory::from_path(link)).is_err());
        assert!(run.journal_path().exists());
        fs::remove_file(run.join("plan.json")).unwrap();
        let error = remove_run(&run).unwrap_err().to_string();
        assert!(error.contains("may not be a run"), "{error}");
        assert!(run.path().exists());
    }

    #[test]
    fn a_file_with_an_outside_hard_link_frees_no_space() {
        let (directory, run) = planted();
        let before = freed_bytes(run.path());
        fs::write(directory.path().join("shared"), vec![1; 100_000]).unwrap();
        fs::hard_link(directory.path().join("shared"), run.join("shared")).unwrap();
        assert_eq!(freed_bytes(run.path()), before);
        fs::write(run.join("own"), vec![1; 100_000]).unwrap();
        fs::hard_link(run.join("own"), run.join("own-too")).unwrap();
        assert!(freed_bytes(run.path()) >= before + 100_000);
        assert!(freed_bytes(run.path()) < before + 200_000);
    }
}
