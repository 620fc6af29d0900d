//! A rule that was checked: its measured and its required value.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of evidence that a check is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleCheckKind {
    /// A measured value.
    #[default]
    Value,
    /// A value that `LoadGen`'s own statement on validity rests on: where that is INVALID, it says no
    /// more.
    ByLoadgen,
    /// A relation between values of a run's logs, which an unmodified `LoadGen` keeps.
    Relation,
    /// Something required that is missing; `required` says by what.
    Missing,
    /// A value that no log states. An excerpt of a log omits most values.
    NotStated,
    /// Only an excerpt of the log exists: it proves no value.
    Excerpt,
    /// A figure that was not found, so that nothing could be checked of it.
    NoFigure,
}

impl RuleCheckKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    fn is_value(&self) -> bool {
        *self == Self::Value
    }
}

/// The text in place of a value that no log states.
pub(crate) const NOT_STATED: &str = "not in the logs";

/// A rule that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleCheck {
    /// The subject of the check: `LoadGen's result`, or a figure's name.
    pub rule: String,
    /// The number of the trial, where the result has several.
    pub trial: Option<u32>,
    /// The measured value, as text.
    pub measured: String,
    /// The required value, as text.
    pub required: String,
    /// Whether the rule passed.
    pub passed: bool,
    /// It passed, but is worth attention: the round allows it, and it is unusual.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
    /// The kind of evidence; absent for a value.
    #[serde(default, skip_serializing_if = "RuleCheckKind::is_value")]
    pub kind: RuleCheckKind,
    /// The lines of a submission's files that state it; only of what was violated, or is a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<EvidenceLine>,
}

/// A line of a file that states what a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceLine {
    /// The file, below the root of the tree.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// Its text, shortened.
    pub text: String,
}

impl RuleCheck {
    /// Returns a check of a result that has one trial.
    pub fn new(
        rule: impl Into<String>,
        measured: impl Into<String>,
        required: impl Into<String>,
        passed: bool,
    ) -> Self {
        Self {
            rule: rule.into(),
            trial: None,
            measured: measured.into(),
            required: required.into(),
            passed,
            warning: false,
            kind: RuleCheckKind::Value,
            lines: Vec::new(),
        }
    }

    /// Returns a check of a value of the logs; none: no log states it.
    pub fn from_logs(
        rule: impl Into<String>,
        measured: Option<String>,
        required: impl Into<String>,
        passed: bool,
    ) -> Self {
        match measured {
            Some(measured) => Self::new(rule, measured, required, passed),
            None => Self {
                kind: RuleCheckKind::NotStated,
                ..Self::new(rule, NOT_STATED, required, passed)
            },
        }
    }

    /// Marks a check that `LoadGen`'s own statement on validity rests on.
    #[must_use]
    pub fn into_loadgen_check(self) -> Self {
        Self { kind: RuleCheckKind::ByLoadgen, ..self }
    }

    /// Returns a check that failed.
    pub fn violation(
        rule: impl Into<String>,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) -> Self {
        Self::new(rule, measured, required, false)
    }

    /// Returns a check of something that must be there, and is not: `this benchmark requires it`.
    pub fn missing_requirement(rule: impl Into<String>, required: impl Into<String>) -> Self {
        Self { kind: RuleCheckKind::Missing, ..Self::violation(rule, "missing", required) }
    }

    /// Returns a check that violates nothing, and that is shown.
    pub fn warning(
        rule: impl Into<String>,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) -> Self {
        Self { warning: true, ..Self::new(rule, measured, required, true) }
    }

    /// Returns whether it is shown unless all rules are: it was violated, or is a warning.
    pub fn is_notable(&self) -> bool {
        !self.passed || self.warning
    }

    /// Returns the same check, made on one of several trials.
    #[must_use]
    pub fn for_trial(self, trial: Option<u32>) -> Self {
        Self { trial, ..self }
    }
}

/// `min_duration: 5 s; required at least 600 s`
impl fmt::Display for RuleCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rule, measured, required) = (&self.rule, &self.measured, &self.required);
        if self.kind == RuleCheckKind::Missing {
            write!(formatter, "{rule} is missing; {required}")
        } else {
            write!(formatter, "{rule}: {measured}; required {required}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_survives_serialization() {
        let missing = RuleCheck::missing_requirement("TEST06", "this benchmark requires it");
        let stored = serde_json::to_string(&missing).unwrap();
        let read: RuleCheck = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.to_string(), "TEST06 is missing; this benchmark requires it");
        assert_eq!(read, missing);
    }
}
