//! The packages installed in the containers of runs: a few hundred kilobytes that most runs of an image share.
//! A run's `packages.json` is a hard link to the one file with that content, so that each run's directory holds
//! all of its evidence, and a thousand runs take the space of one.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::files::write_atomically;
use super::home::Home;
use super::run_directory::RunDirectory;

/// The file of installed packages in a run's directory.
pub const PACKAGES_FILE: &str = "packages.json";
/// The directory of the home with the contents, each by its SHA-256.
const SHARED_FOLDER: &str = "packages";

/// Stores the installed packages of a run.
///
/// # Errors
/// If the disk is full.
pub fn store_packages<T: Serialize>(run: &RunDirectory, installed: &T) -> Result<(), StoreError> {
    let path = run.join(PACKAGES_FILE);
    let mut text = serde_json::to_string(installed).map_err(StoreError::json(&path))?;
    text.push('\n');
    if let Some(shared) = shared_path(run, &text)
        && link_shared(&shared, &path, &text).is_ok()
    {
        return Ok(());
    }
    // Outside a home, or on a file system without links.
    write_atomically(&path, text.as_bytes())
}

/// Removes contents that no run uses any more; returns the number.
pub fn remove_unused_packages(home: &Home) -> usize {
    let entries = fs::read_dir(home.root().join(SHARED_FOLDER)).into_iter().flatten();
    let unused = entries.flatten().filter(|entry| {
        let metadata = entry.metadata();
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1)
    });
    unused.filter(|entry| fs::remove_file(entry.path()).is_ok()).count()
}

/// The path of a content in a run's home.
fn shared_path(run: &RunDirectory, text: &str) -> Option<PathBuf> {
    let runs = run.path().parent()?;
    let home = runs.parent().filter(|_| runs.ends_with("runs"))?;
    let name = format!("{}.json", hex::encode(Sha256::digest(text)));
    Some(home.join(SHARED_FOLDER).join(name))
}

fn link_shared(shared: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    // It may have been truncated or modified.
    if !fs::read(shared).is_ok_and(|found| found == text.as_bytes()) {
        let parent = shared.parent().unwrap_or(shared);
        fs::create_dir_all(parent)?;
        // Two runs may end at the same moment: each uses its own name until it is complete.
        let readable = fs::Permissions::from_mode(0o666);
        let mut part = tempfile::Builder::new().permissions(readable).tempfile_in(parent)?;
        part.write_all(text.as_bytes())?;
        part.as_file().sync_all()?;
        part.persist(shared)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::hard_link(shared, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(home: &Home) -> RunDirectory {
        home.create_run_directory("case").unwrap()
    }

    #[test]
    fn runs_share_equal_package_lists() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::from_root(folder.path().to_owned());
        let (first, second, third) = (run(&home), run(&home), run(&home));
        store_packages(&first, &"a").unwrap();
        store_packages(&second, &"a").unwrap();
        store_packages(&third, &"b").unwrap();
        let inode = |run: &RunDirectory| fs::metadata(run.join(PACKAGES_FILE)).unwrap().ino();
        assert_eq!(inode(&first), inode(&second));
        assert_ne!(inode(&first), inode(&third));
        assert_eq!(remove_unused_packages(&home), 0);
        fs::remove_dir_all(third.path()).unwrap();
        assert_eq!(remove_unused_packages(&home), 1);
        assert_eq!(second.read_json::<String>(PACKAGES_FILE).unwrap(), "a");
    }

    #[test]
    fn runs_that_end_together_have_their_own_lists() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::from_root(folder.path().to_owned());
        let lists: Vec<_> = (0..16)
            .map(|number| (run(&home), format!("{number}{}", "x".repeat(1 << 20))))
            .collect();
        std::thread::scope(|scope| {
            for (run, list) in &lists {
                scope.spawn(|| store_packages(run, list).unwrap());
            }
        });
        for (run, list) in &lists {
            assert!(run.read_json::<String>(PACKAGES_FILE).unwrap() == *list);
        }
    }

    #[test]
    fn damaged_content_is_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::from_root(folder.path().to_owned());
        let (first, second) = (run(&home), run(&home));
        store_packages(&first, &"a").unwrap();
        fs::write(first.join(PACKAGES_FILE), "damaged").unwrap();
        store_packages(&second, &"a").unwrap();
        assert_eq!(second.read_json::<String>(PACKAGES_FILE).unwrap(), "a");
        store_packages(&first, &"a").unwrap();
        assert_eq!(first.read_json::<String>(PACKAGES_FILE).unwrap(), "a");
    }

    #[test]
    fn a_run_outside_a_home_has_its_own_list() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::from_path(folder.path().to_owned());
        store_packages(&run, &"a").unwrap();
        assert_eq!(run.read_json::<String>(PACKAGES_FILE).unwrap(), "a");
    }
}
