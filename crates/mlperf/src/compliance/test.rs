//! The names of the tests.

use std::fmt;
use std::str::FromStr;

/// A test of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Test01,
        Self::Test04,
        Self::Test05,
        Self::Test06,
        Self::Test07,
        Self::Test08,
        Self::Test09,
    ];

    /// The name of its folder: `TEST01`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test01 => "TEST01",
            Self::Test04 => "TEST04",
            Self::Test05 => "TEST05",
            Self::Test06 => "TEST06",
            Self::Test07 => "TEST07",
            Self::Test08 => "TEST08",
            Self::Test09 => "TEST09",
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that is no test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no test of the audit: TEST01, TEST04, TEST05, TEST06, TEST07, TEST08 or TEST09")]
pub struct UnknownTest(pub String);

impl FromStr for Test {
    type Err = UnknownTest;

    fn from_str(text: &str) -> Result<Self, UnknownTest> {
        let mut all = Self::ALL.into_iter();
        all.find(|test| test.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownTest(text.to_owned()))
    }
}
