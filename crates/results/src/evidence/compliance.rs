//! The audit's tests in their folders, `TEST01/` … `TEST09/`, against the requirements of a round.

use std::fs::FileType;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use super::{accuracy, folder};
use crate::verdict::RuleCheck;
use retrial_mlperf::compliance::{
    self, ComplianceFiles, ComplianceResult, Test, TestFileError, TestRequirements,
};
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::rounds::{InferenceRules, check_audit};
use retrial_mlperf::submission_layout::{ACCURACY_FOLDER, PERFORMANCE_RUN};
use retrial_store::open;

/// The files that the tests' scripts write.
pub const VERIFY_FILES: [&str; 3] =
    ["verify_accuracy.txt", "verify_performance.txt", "verify_output_len.txt"];
/// The largest text that is read: the longest that was published has 140 kB.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// More names than this are no folder of a test.
const MAX_NAMES: usize = 100;

/// Returns every folder in or below a directory in which the script of a test left what it found.
pub fn find_test_folders(directory: &Path) -> Vec<PathBuf> {
    folder::find_folders_with(directory, folder::MAX_SEARCH_DEPTH, |name| {
        VERIFY_FILES.into_iter().any(|verified| name == verified)
    })
}

/// Checks a test that is in no submission tree, where the round need not be known: what its script
/// found, and the settings of its run.
pub fn check_loose_test(
    folder: &Path,
    test: Test,
    rules: Option<&InferenceRules>,
    run: &LoadgenRun,
) -> Vec<RuleCheck> {
    let requirements = TestRequirements::new(test, rules, false);
    let mut checks = check_test_folder(folder, &requirements).checks;
    let mut audit_rules = rules.iter().flat_map(|rules| &rules.compliance);
    let audit = audit_rules.find(|(name, _)| name == test.word());
    if let (Some((_, audit)), true) = (audit, run.detail.is_some()) {
        checks.extend(check_audit(audit, &run.run_settings()));
    }
    checks
}

pub fn check_test_folder(folder: &Path, requirements: &TestRequirements) -> ComplianceResult {
    let unreadable = |reason| TestFileError::Unreadable { reason };
    let text = |name: &str| {
        open::read_text_beneath(folder, Path::new(name), MAX_TEXT_BYTES)
            .map_err(|error| unreadable(error.reason_without_path()))
    };
    let accuracy = |name: &str| {
        accuracy::read_accuracy(
            folder,
            &Path::new(ACCURACY_FOLDER).join(name),
            &requirements.deltas,
        )
        .map_err(|error| unreadable(error.to_string()))
    };
    let mut files = ComplianceFiles::default();
    match requirements.test {
        Test::Test01 => {
            files.verify_accuracy = text("verify_accuracy.txt");
            files.verify_performance = text("verify_performance.txt");
            files.accuracy = file_names(&folder.join(ACCURACY_FOLDER));
            files.performance = file_names(&folder.join(PERFORMANCE_RUN));
            files.baseline = accuracy("baseline_accuracy.txt");
            files.compliance = accuracy("compliance_accuracy.txt");
        }
        Test::Test04 | Test::Test05 => {
            files.verify_performance = text("verify_performance.txt");
            files.performance = file_names(&folder.join(PERFORMANCE_RUN));
        }
        Test::Test06 | Test::Test07 | Test::Test08 => {
            files.verify_accuracy = text("verify_accuracy.txt");
        }
        Test::Test09 => files.verify_output_len = text("verify_output_len.txt"),
    }
    compliance::check_test(requirements, &files)
}

/// Returns the files in a folder, sorted; nothing where it is none, or a link.
fn file_names(folder: &Path) -> Option<Vec<String>> {
    let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let files = is_folder.then(|| folder::entry_names(folder, FileType::is_file))?;
    Some(files.take(MAX_NAMES).sorted().collect())
}
