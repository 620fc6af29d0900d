//! The audit's tests: checks what their scripts wrote into `TEST01/` … `TEST09/`.
//!
//! A test is run by the submitter; its script compares logs and ends in `TEST PASS` or `TEST FAIL`.
//! MLCommons' checker requires the word. The figures next to it are checked too, where a file has
//! them: a word that its own figures contradict does not pass.

mod accuracy;
mod checker;
mod performance;
mod script_result;
mod test;
#[cfg(test)]
mod tests;

use super::accuracy::Accuracy;
use super::check::RuleCheck;
use super::loadgen::TestScenario;
use super::rounds::{ComplianceTest, InferenceRules};
use checker::Checker;
pub use test::{Test, UnknownTest};

#[derive(Debug, Clone, PartialEq)]
pub struct TestRequirements {
    pub test: Test,
    /// The scenario of the result that was tested.
    pub scenario: Option<TestScenario>,
    /// The round's own rules for it.
    pub rules: ComplianceTest,
    /// TEST01: by how much the two accuracies may differ, a share, for each figure of the
    /// benchmark.
    pub deltas: Vec<(String, f64)>,
    /// TEST01's logs are required even where it passed (rounds up to v5.1).
    pub always_logs: bool,
}

impl TestRequirements {
    /// Returns a round's requirements for a test of one benchmark in one scenario; no more than the
    /// test's own where the round is unknown.
    pub fn new(test: Test, rules: Option<&InferenceRules>, always_logs: bool) -> Self {
        let mut tests = rules.iter().flat_map(|rules| &rules.compliance);
        let entry = tests.find(|(name, _)| name == test.word());
        Self {
            test,
            scenario: rules.map(|rules| rules.scenario),
            rules: entry.map(|(_, rules)| rules.clone()).unwrap_or_default(),
            deltas: rules.map(|rules| rules.accuracy_delta.clone()).unwrap_or_default(),
            always_logs: always_logs && rules.is_some(),
        }
    }
}

/// The reason why there is nothing to check in a file of a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TestFileError {
    /// The test's folder does not have the file.
    #[error("it is missing")]
    Missing,
    /// A file that cannot be read.
    #[error("{reason}")]
    Unreadable {
        /// The error of whoever read it, as a lower-case fragment.
        reason: String,
    },
}

/// The files in a test's folder, or why one has nothing to check.
#[derive(Debug, Clone, PartialEq)]
pub struct ComplianceFiles {
    /// `verify_accuracy.txt`.
    pub verify_accuracy: Result<String, TestFileError>,
    /// `verify_performance.txt`.
    pub verify_performance: Result<String, TestFileError>,
    /// `verify_output_len.txt`.
    pub verify_output_len: Result<String, TestFileError>,
    /// Names in `accuracy/`; none where there is no such folder.
    pub accuracy: Option<Vec<String>>,
    /// Names in `performance/run_1/`; none where there is no such folder.
    pub performance: Option<Vec<String>>,
    /// `accuracy/baseline_accuracy.txt`.
    pub baseline: Result<Accuracy, TestFileError>,
    /// `accuracy/compliance_accuracy.txt`.
    pub compliance: Result<Accuracy, TestFileError>,
}

impl Default for ComplianceFiles {
    /// Returns the files of an empty folder: all are missing.
    fn default() -> Self {
        Self {
            verify_accuracy: Err(TestFileError::Missing),
            verify_performance: Err(TestFileError::Missing),
            verify_output_len: Err(TestFileError::Missing),
            accuracy: None,
            performance: None,
            baseline: Err(TestFileError::Missing),
            compliance: Err(TestFileError::Missing),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ComplianceResult {
    pub test: Test,
    /// Its checks; a test passes when all of them do.
    pub checks: Vec<RuleCheck>,
    /// Checks that its logs exist.
    pub log_checks: Vec<RuleCheck>,
}

impl ComplianceResult {
    pub fn has_passed(&self) -> bool {
        let mut all = self.checks.iter().chain(&self.log_checks);
        all.all(|check| check.passed)
    }
}

pub fn check_test(requirements: &TestRequirements, files: &ComplianceFiles) -> ComplianceResult {
    let test = requirements.test;
    let mut checker = Checker { requirements, files, checks: Vec::new(), log_checks: Vec::new() };
    match test {
        Test::Test01 => {
            accuracy::check_sampled_answers(&mut checker);
            performance::check_performance(&mut checker);
        }
        Test::Test04 | Test::Test05 => performance::check_performance(&mut checker),
        Test::Test06 => accuracy::check_tokens(&mut checker),
        Test::Test07 => accuracy::check_accuracy_threshold(&mut checker),
        Test::Test08 => accuracy::check_entropy(&mut checker),
        Test::Test09 => accuracy::check_output_length(&mut checker),
    }
    ComplianceResult { test, checks: checker.checks, log_checks: checker.log_checks }
}
