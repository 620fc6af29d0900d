//! Results of other suites: named and refused, before anything of them is judged.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::folder;
use super::result_path::component_names;
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::other_suite::{ENDPOINTS_POINT_FILE, OtherSuite};
use retrial_mlperf::submission_layout::RESULTS_FOLDER;

/// Maximum depth below a directory in which such results are searched.
const MAX_SEARCH_DEPTH: usize = 7;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{path} is a result of {suite}, which has rules of its own: only results of MLPerf Inference and \
     MLPerf Training are read",
    path = path.display()
)]
pub struct OtherSuiteResult {
    /// The folder of the result.
    pub path: PathBuf,
    pub suite: OtherSuite,
}

/// Returns the first result of another suite in or below a directory that holds no result of ours.
pub fn find_other_suite(directory: &Path) -> Option<OtherSuiteResult> {
    let full = directory.canonicalize().ok()?;
    let walk = WalkDir::new(&full).max_depth(MAX_SEARCH_DEPTH).sort_by_file_name();
    let mut folders = walk.into_iter().flatten();
    folders.find_map(|entry| {
        let path = entry.path();
        if !entry.file_type().is_dir() {
            return None;
        }
        let is_point = || path.join(ENDPOINTS_POINT_FILE).is_file();
        let suite = suite_of_path(path).or_else(|| is_point().then_some(OtherSuite::Endpoints))?;
        Some(OtherSuiteResult { path: path.to_owned(), suite })
    })
}

/// Returns the first result in or below a directory whose summary is another suite's.
pub fn find_other_suite_summary(directory: &Path) -> Option<OtherSuiteResult> {
    folder::find_summary_folders(directory).into_iter().find_map(|relative| {
        let run =
            LoadgenRun { summary: folder::read_summary(directory, &relative).ok(), detail: None };
        Some(OtherSuiteResult {
            path: directory.join(relative),
            suite: OtherSuite::from_run(&run)?,
        })
    })
}

/// Returns the suite by the folders of a path below a submitter's `results`.
fn suite_of_path(path: &Path) -> Option<OtherSuite> {
    let parts = component_names(path);
    let mut names = parts.iter().map(String::as_str);
    names.find(|name| name.eq_ignore_ascii_case(RESULTS_FOLDER))?;
    OtherSuite::from_folder_names(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_another_suite_are_found_below_and_above() {
        let root = tempfile::tempdir().unwrap();
        let run = "Closed/DDN/results/AI400/unet3d-h100/runs/run1";
        std::fs::create_dir_all(root.path().join(run)).unwrap();
        for directory in ["", "Closed/DDN", run] {
            let found = find_other_suite(&root.path().join(directory)).unwrap();
            assert_eq!(found.suite, OtherSuite::Storage, "{directory}");
        }
        let point = root.path().join("LabOrg/1/results/8xH200/gpt-oss-120b/r64");
        std::fs::create_dir_all(&point).unwrap();
        assert_eq!(find_other_suite(&root.path().join("LabOrg")), None);
        std::fs::write(point.join(ENDPOINTS_POINT_FILE), "concurrency: 64\n").unwrap();
        for directory in [root.path().join("LabOrg"), point] {
            assert_eq!(find_other_suite(&directory).unwrap().suite, OtherSuite::Endpoints);
        }
        let other = root.path().join("Closed/DDN/systems");
        std::fs::create_dir_all(&other).unwrap();
        assert_eq!(find_other_suite(&other), None);
    }
}
