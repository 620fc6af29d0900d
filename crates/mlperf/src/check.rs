//! A rule that was checked: what was found, what was asked.

/// One rule of a benchmark, looked at in the files of one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Which rule: `TEST06 end of sequence`.
    pub rule: String,
    /// What was found.
    pub found: String,
    /// What is asked.
    pub asked: String,
    /// Whether the rule is kept.
    pub passed: bool,
}

impl Check {
    /// A rule with what was found and asked.
    pub fn new(
        rule: impl Into<String>,
        found: impl Into<String>,
        asked: impl Into<String>,
        passed: bool,
    ) -> Self {
        Self {
            rule: rule.into(),
            found: found.into(),
            asked: asked.into(),
            passed,
        }
    }
}
