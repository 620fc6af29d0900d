//! A rule that was checked: its measured and its required value.

/// One rule of a benchmark, checked in the files of one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The rule: `TEST06 end of sequence`.
    pub rule: String,
    /// The measured value.
    pub measured: String,
    /// The required value.
    pub required: String,
    /// Whether the rule passed.
    pub passed: bool,
}

impl Check {
    /// Returns a check of a rule.
    pub fn new(
        rule: impl Into<String>,
        measured: impl Into<String>,
        required: impl Into<String>,
        passed: bool,
    ) -> Self {
        Self {
            rule: rule.into(),
            measured: measured.into(),
            required: required.into(),
            passed,
        }
    }
}
