//! The names of the tests.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// A test of the audit, read in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(
    serialize_all = "UPPERCASE",
    ascii_case_insensitive,
    parse_err_ty = UnknownTest,
    parse_err_fn = unknown
)]
pub enum Test {
    /// Accuracy in performance mode.
    Test01,
    /// Results are not cached.
    Test04,
    /// Other seeds (up to v4.1).
    Test05,
    /// Tokens of LLMs are consistent.
    Test06,
    /// Accuracy in performance mode, where the two have data sets of their own.
    Test07,
    /// Accuracy in performance mode of a streaming recommendation.
    Test08,
    /// Output tokens in performance mode.
    Test09,
}

impl Test {
    /// Returns the name of its folder: `TEST01`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A word that is no test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a test of the audit: TEST01, TEST04, TEST05, TEST06, TEST07, TEST08 or TEST09"
)]
pub struct UnknownTest(pub String);

fn unknown(text: &str) -> UnknownTest {
    UnknownTest(text.to_owned())
}
