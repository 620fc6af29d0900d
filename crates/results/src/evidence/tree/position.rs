//! The position of a directory in a submission tree, by its path. How a tree is laid out: `mlperf`'s
//! `submission_layout`.

use std::path::{Component, Path, PathBuf};

use super::submission::ScenarioPart;
use retrial_mlperf::Division;
use retrial_mlperf::submission_layout::{
    ACCURACY_FOLDER, COMPLIANCE_FOLDER, LAID_OUT_FOLDERS, PERFORMANCE_FOLDER, RESULTS_FOLDER,
    SYSTEMS_FOLDER, is_test,
};

/// The position of a directory in a submission tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubmissionPath {
    /// The root of the tree: the folder that holds the divisions.
    pub root: PathBuf,
    /// The division, where the directory is in one.
    pub division: Option<Division>,
    /// The submitter, likewise.
    pub submitter: Option<String>,
    /// The system, likewise.
    pub system: Option<String>,
    /// The benchmark, likewise.
    pub benchmark: Option<String>,
    /// The scenario's folder, likewise.
    pub scenario: Option<String>,
    pub part: Option<ScenarioPart>,
}

/// Returns where a directory lies, if it is in a submission tree or is one; its path must be absolute.
pub fn find_position(directory: &Path) -> Option<SubmissionPath> {
    let parts: Vec<String> = directory
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_string_lossy().into_owned(),
            _ => String::new(),
        })
        .collect();
    // The deepest that fits: a tree may lie in a folder that is called `open`.
    let inside = (0..parts.len()).rev().find_map(|at| position_at(directory, &parts, at));
    inside.or_else(|| {
        is_root(directory)
            .then(|| SubmissionPath { root: directory.to_owned(), ..SubmissionPath::default() })
    })
}

/// Returns the position of a directory whose path has the division at this place.
fn position_at(directory: &Path, parts: &[String], at: usize) -> Option<SubmissionPath> {
    let division: Division = parts[at].parse().ok()?;
    let root: PathBuf = directory.components().take(at).collect();
    let part = |after: usize| parts.get(at + after).cloned();
    let fits = match parts.get(at + 2) {
        Some(kind) => {
            LAID_OUT_FOLDERS.contains(&kind.as_str())
                && is_submitter(&root, division, &parts[at + 1])
        }
        None => match parts.get(at + 1) {
            Some(submitter) => is_submitter(&root, division, submitter),
            None => is_division(directory),
        },
    };
    let kind = part(2);
    fits.then(|| SubmissionPath {
        root,
        division: Some(division),
        submitter: part(1),
        system: part(3),
        benchmark: part(4),
        scenario: part(5),
        part: parse_part(kind.as_deref(), part(6), part(7)),
    })
}

fn parse_part(
    kind: Option<&str>,
    first: Option<String>,
    second: Option<String>,
) -> Option<ScenarioPart> {
    let in_compliance =
        kind == Some(COMPLIANCE_FOLDER) || first.as_deref() == Some(COMPLIANCE_FOLDER);
    let test = |name: Option<String>| match name {
        Some(name) if is_test(&name) => Some(ScenarioPart::Test(name)),
        _ => None,
    };
    match first.as_deref() {
        Some(COMPLIANCE_FOLDER) => Some(test(second).unwrap_or(ScenarioPart::Compliance)),
        Some(PERFORMANCE_FOLDER) if !in_compliance => Some(ScenarioPart::Performance),
        Some(ACCURACY_FOLDER) if !in_compliance => Some(ScenarioPart::Accuracy),
        _ if in_compliance => Some(test(first).unwrap_or(ScenarioPart::Compliance)),
        _ => test(first),
    }
}

fn is_submitter(root: &Path, division: Division, submitter: &str) -> bool {
    let submitter = root.join(division.as_str()).join(submitter);
    submitter.join(RESULTS_FOLDER).is_dir() || submitter.join(SYSTEMS_FOLDER).is_dir()
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
    Division::ALL.into_iter().any(|division| is_division(&directory.join(division.as_str())))
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
        assert_eq!((root.division, root.root.as_path()), (None, tree.path()));
        let division = at(&tree, "closed").unwrap().division;
        assert_eq!(division, Some(Division::Closed));
        assert_eq!(at(&tree, "closed/AMD").unwrap().submitter.as_deref(), Some("AMD"));
        let run = "closed/AMD/results/8xMI300X/llama2-70b-99/Offline/performance/run_1";
        let run = at(&tree, run).unwrap();
        assert_eq!(run.root, tree.path());
        assert_eq!(run.system.as_deref(), Some("8xMI300X"));
        assert_eq!(run.benchmark.as_deref(), Some("llama2-70b-99"));
        assert_eq!(run.scenario.as_deref(), Some("Offline"));
        assert_eq!(run.part, Some(ScenarioPart::Performance));
        let test = "closed/AMD/results/8xMI300X/llama2-70b-99/Offline/TEST06";
        assert_eq!(at(&tree, test).unwrap().part, Some(ScenarioPart::Test("TEST06".to_owned())));
        let compliance = at(&tree, "closed/AMD/compliance/8xMI300X").unwrap();
        assert_eq!(compliance.part, Some(ScenarioPart::Compliance));
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
