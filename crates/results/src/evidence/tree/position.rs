//! The position of a directory in a submission tree, by its path. How a tree is laid out: `mlperf`'s
//! `submission_layout`.

use std::path::{Path, PathBuf};

use crate::evidence::folder::folder_names;
use crate::evidence::result_path::component_names;
use retrial_mlperf::Division;
use retrial_mlperf::submission_layout::{RESULTS_FOLDER, SYSTEMS_FOLDER, SubmissionNames};

/// The position of a directory in a submission tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubmissionPath {
    /// The root of the tree: the folder that holds the divisions.
    pub root: PathBuf,
    /// The names below it.
    pub names: SubmissionNames,
}

impl SubmissionPath {
    /// Returns the position of a whole tree.
    pub fn from_root(root: PathBuf) -> Self {
        Self { root, names: SubmissionNames::default() }
    }
}

/// Number of folders above a tree's root that are searched for it.
const MAX_LEVELS_ABOVE: usize = 3;

/// Returns the positions of a directory that is in a tree, else of the roots of those below it.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn locate<Position>(
    directory: &Path,
    position_within: &dyn Fn(&Path) -> Option<Position>,
    is_root: &dyn Fn(&Path) -> bool,
    from_root: &dyn Fn(PathBuf) -> Position,
) -> std::io::Result<Vec<Position>> {
    let full_directory = directory.canonicalize()?;
    std::fs::read_dir(&full_directory)?;
    if let Some(position) = position_within(&full_directory) {
        return Ok(vec![position]);
    }
    let roots = find_matching_folders(&full_directory, MAX_LEVELS_ABOVE, is_root);
    Ok(roots.into_iter().map(from_root).collect())
}

/// Returns the folders for which something holds, and none below them.
fn find_matching_folders(
    directory: &Path,
    depth: usize,
    is_match: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    if is_match(directory) {
        return vec![directory.to_owned()];
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let folders = folder_names(directory).into_iter();
    let below =
        folders.flat_map(|name| find_matching_folders(&directory.join(name), depth, is_match));
    below.collect()
}

/// Returns where a directory lies, if it is in a submission tree or is one; its path must be absolute.
pub fn find_position(directory: &Path) -> Option<SubmissionPath> {
    let names = component_names(directory);
    // The deepest that fits: a tree may lie in a folder that is called `open`.
    let inside = directory.ancestors().enumerate().find_map(|(below, ancestor)| {
        let root = ancestor.parent()?;
        let names = SubmissionNames::parse(names.get(names.len().checked_sub(below + 1)?..)?)?;
        let is_tree = match &names.submitter {
            Some(submitter) => is_submitter(&root.join(names.division?.word()).join(submitter)),
            None => is_division(directory),
        };
        is_tree.then(|| SubmissionPath { root: root.to_owned(), names })
    });
    inside.or_else(|| is_root(directory).then(|| SubmissionPath::from_root(directory.to_owned())))
}

fn is_submitter(folder: &Path) -> bool {
    folder.join(RESULTS_FOLDER).is_dir() || folder.join(SYSTEMS_FOLDER).is_dir()
}

/// Returns whether some submitter has results in it.
fn is_division(directory: &Path) -> bool {
    let Ok(submitters) = std::fs::read_dir(directory) else {
        return false;
    };
    submitters.flatten().any(|entry| entry.path().join(RESULTS_FOLDER).is_dir())
}

/// Returns whether a directory has divisions with results.
pub fn is_root(directory: &Path) -> bool {
    Division::BY_NAME.into_iter().any(|division| is_division(&directory.join(division.word())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let scenario = "closed/AMD/results/8xMI300X/llama2-70b-99/Offline";
        for folder in ["performance/run_1", "accuracy", "TEST06"] {
            std::fs::create_dir_all(tree.path().join(scenario).join(folder)).unwrap();
        }
        std::fs::create_dir_all(tree.path().join("closed/AMD/compliance/8xMI300X")).unwrap();
        tree
    }

    fn at(tree: &tempfile::TempDir, path: &str) -> Option<SubmissionPath> {
        find_position(&tree.path().join(path))
    }

    #[test]
    fn every_level_is_recognized() {
        let tree = tree();
        let root = at(&tree, "").unwrap();
        assert_eq!((root.names.division, root.root.as_path()), (None, tree.path()));
        let division = at(&tree, "closed").unwrap().names.division;
        assert_eq!(division, Some(Division::Closed));
        assert_eq!(at(&tree, "closed/AMD").unwrap().names.submitter.as_deref(), Some("AMD"));
        let run = "closed/AMD/results/8xMI300X/llama2-70b-99/Offline/performance/run_1";
        let run = at(&tree, run).unwrap();
        assert_eq!(run.root, tree.path());
        assert_eq!(run.names.scenario.as_deref(), Some("Offline"));
    }

    #[test]
    fn other_directories_are_not_a_tree() {
        let tree = tree();
        std::fs::create_dir_all(tree.path().join("open/notes/drafts")).unwrap();
        assert_eq!(at(&tree, "open/notes/drafts"), None);
        assert_eq!(at(&tree, "open"), None);
        assert_eq!(find_position(Path::new("/")), None);
    }
}
