//! The names of the tests.

use retrial_document::words;

words! {
    /// A test of the audit, read in any case; the words are the names of their folders.
    pub enum Test: any case {
        /// Accuracy in performance mode.
        Test01 = "TEST01",
        /// Results are not cached.
        Test04 = "TEST04",
        /// Other seeds (up to v4.1).
        Test05 = "TEST05",
        /// Tokens of LLMs are consistent.
        Test06 = "TEST06",
        /// Accuracy in performance mode, where the two have data sets of their own.
        Test07 = "TEST07",
        /// Accuracy in performance mode of a streaming recommendation.
        Test08 = "TEST08",
        /// Output tokens in performance mode.
        Test09 = "TEST09",
    }
}

/// A word that is no test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a test of the audit: TEST01, TEST04, TEST05, TEST06, TEST07, TEST08 or TEST09"
)]
pub struct UnknownTest(pub String);
