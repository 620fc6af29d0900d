//! The folders of a directory in which results are known by the names of their files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::evidence::result_path::ResultPath;
use crate::evidence::{compliance, endpoints, folder};

/// The folder of a power measurement's ranging run.
const RANGING_FOLDER: &str = "ranging";

/// What the files of a folder are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateKind {
    Endpoint,
    /// A summary of `LoadGen`.
    LoadGen,
    /// The findings of a test's script.
    Test,
}

pub(super) struct Candidate {
    pub kind: CandidateKind,
    /// Its path below the directory.
    pub relative: PathBuf,
    pub folder: PathBuf,
    pub place: ResultPath,
}

/// Finds the candidates in or below a directory. The results of a recipe belong together, whatever the names of their
/// folders.
pub(super) fn find_candidates(directory: &Path, has_recipe: bool) -> Vec<Candidate> {
    // A power measurement's first run finds the meter's range, and is no trial of the result.
    let is_run = |path: &PathBuf| path.file_name() != Some(OsStr::new(RANGING_FOLDER));
    let summaries = folder::find_summary_folders(directory).into_iter().filter(is_run);
    let found = [
        (CandidateKind::Endpoint, endpoints::find_result_folders(directory)),
        (CandidateKind::LoadGen, summaries.collect_vec()),
        (CandidateKind::Test, compliance::find_test_folders(directory)),
    ];
    let candidates = found.into_iter().flat_map(|(kind, folders)| {
        folders.into_iter().map(move |relative| {
            let folder = directory.join(&relative);
            let mut place = ResultPath::parse(&folder);
            if has_recipe && place.scenario.is_none() {
                directory.clone_into(&mut place.group);
            }
            Candidate { kind, relative, folder, place }
        })
    });
    candidates.collect()
}
