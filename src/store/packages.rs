//! What is installed in the containers of runs: a few hundred kilobytes that most runs of an image
//! have in common. A run's `packages.json` is a hard link to the one file with that content, so that
//! each run's directory holds all of its evidence, and a thousand runs take the room of one.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::files::write_atomically;
use super::home::Home;
use super::run_directory::RunDirectory;

/// Its name in a run's directory.
pub const FILE: &str = "packages.json";
/// The directory of the home where the contents lie, each by its SHA-256.
const SHARED: &str = "packages";

/// Keeps what is installed, for a run.
///
/// # Errors
/// Where the disk takes no more.
pub fn keep<T: Serialize>(run: &RunDirectory, installed: &T) -> Result<(), StoreError> {
    let path = run.join(FILE);
    let mut text = serde_json::to_string(installed).map_err(StoreError::json(&path))?;
    text.push('\n');
    if let Some(shared) = shared(run, &text)
        && link(&shared, &path, &text).is_ok()
    {
        return Ok(());
    }
    // No home around it, or a file system without links.
    write_atomically(&path, text.as_bytes())
}

/// Removes contents that no run has any more; gives how many.
pub fn prune(home: &Home) -> usize {
    let entries = fs::read_dir(home.root().join(SHARED)).into_iter().flatten();
    let unused = entries.flatten().filter(|entry| {
        let metadata = entry.metadata();
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1)
    });
    unused
        .filter(|entry| fs::remove_file(entry.path()).is_ok())
        .count()
}

/// Where a content lies in the home that a run is in.
fn shared(run: &RunDirectory, text: &str) -> Option<PathBuf> {
    let runs = run.path().parent()?;
    let home = runs.parent().filter(|_| runs.ends_with("runs"))?;
    let digest = Sha256::digest(text);
    Some(
        home.join(SHARED)
            .join(format!("{}.json", hex::encode(digest))),
    )
}

fn link(shared: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    // Somebody may have cut it, or written into it.
    if !fs::read(shared).is_ok_and(|found| found == text.as_bytes()) {
        let parent = shared.parent().unwrap_or(shared);
        fs::create_dir_all(parent)?;
        // Two runs may end at the same moment: each has its own name until it is whole.
        let part = parent.join(format!(".{}.part", std::process::id()));
        let mut file = fs::File::create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, shared)?;
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
        home.new_run("case").unwrap()
    }

    #[test]
    fn runs_share_equal_package_lists() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let (one, other, third) = (run(&home), run(&home), run(&home));
        keep(&one, &"a").unwrap();
        keep(&other, &"a").unwrap();
        keep(&third, &"b").unwrap();
        let inode = |run: &RunDirectory| fs::metadata(run.join(FILE)).unwrap().ino();
        assert_eq!(inode(&one), inode(&other));
        assert_ne!(inode(&one), inode(&third));
        assert_eq!(prune(&home), 0);
        fs::remove_dir_all(third.path()).unwrap();
        assert_eq!(prune(&home), 1);
        assert_eq!(other.read_json::<String>(FILE).unwrap(), "a");
    }

    #[test]
    fn damaged_content_is_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let (one, other) = (run(&home), run(&home));
        keep(&one, &"a").unwrap();
        fs::write(one.join(FILE), "damaged").unwrap();
        keep(&other, &"a").unwrap();
        assert_eq!(other.read_json::<String>(FILE).unwrap(), "a");
        keep(&one, &"a").unwrap();
        assert_eq!(one.read_json::<String>(FILE).unwrap(), "a");
    }

    #[test]
    fn a_run_outside_a_home_has_its_own_list() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::at(folder.path().to_owned());
        keep(&run, &"a").unwrap();
        assert_eq!(run.read_json::<String>(FILE).unwrap(), "a");
    }
}
