//! A rule that was checked: its measured and its required value, and the lines of logs that state it.

use std::borrow::Cow;
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
    /// A file of figures that is missing or cannot be read: the cause of the figures that were not found.
    File,
}

impl RuleCheckKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    fn is_value(&self) -> bool {
        *self == Self::Value
    }
}

/// The text in place of a value that no log states.
pub(crate) const NOT_STATED: &str = "not in the logs";

/// Lines of a result's files that state what a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatingLines {
    /// Entries of `LoadGen`'s detail log with one of these keys.
    Entries(Vec<Cow<'static, str>>),
    /// The line of this number, from 1.
    Line { file: Cow<'static, str>, number: u64 },
    /// Entries of the detail log that report an error.
    Errors,
    /// Entries of the detail log and lines of `accuracy.txt` that state the figure of this name.
    Figure(String),
    /// Entries of the detail log that state figures whose names begin so.
    Figures(String),
    /// Lines of a file that contain one of these texts.
    Texts { file: &'static str, texts: Vec<Cow<'static, str>> },
}

/// The subject of a check. A plain name is that of a rule about files, folders, or several logs: no line of one states
/// it. A rule about a value of a log names the lines that it was read from.
#[derive(Debug, Clone)]
pub struct Rule {
    name: String,
    stated_in: Vec<StatingLines>,
}

impl Rule {
    pub fn stated_in(name: impl Into<String>, lines: StatingLines) -> Self {
        Self { name: name.into(), stated_in: vec![lines] }
    }

    /// Returns a rule about the values of these keys of the detail log.
    pub fn of_entries<const KEYS: usize>(
        name: impl Into<String>,
        keys: [&'static str; KEYS],
    ) -> Self {
        Self::stated_in(name, StatingLines::Entries(keys.map(Cow::Borrowed).into()))
    }

    pub fn of_figure(name: impl Into<String>, figure: &str) -> Self {
        Self::stated_in(name, StatingLines::Figure(figure.to_owned()))
    }

    /// Returns a rule about lines of a file that contain the text.
    pub fn of_text(
        name: impl Into<String>,
        file: &'static str,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::stated_in(name, StatingLines::Texts { file, texts: vec![text.into()] })
    }

    /// Returns the rule with these lines in place of its own.
    #[must_use]
    pub fn with_lines(self, stated_in: Vec<StatingLines>) -> Self {
        Self { stated_in, ..self }
    }

    #[must_use]
    pub fn or_in(mut self, lines: StatingLines) -> Self {
        self.stated_in.push(lines);
        self
    }
}

impl From<String> for Rule {
    fn from(name: String) -> Self {
        Self { name, stated_in: Vec::new() }
    }
}

impl From<&str> for Rule {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl From<&String> for Rule {
    fn from(name: &String) -> Self {
        name.clone().into()
    }
}

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
    /// The missing folder that it is about, below the root of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The lines of a submission's files that state it; only of what was violated, or is a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<EvidenceLine>,
    /// The lines that state it, in files that are still to be searched for them.
    #[serde(skip)]
    pub stated_in: Vec<StatingLines>,
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
        rule: impl Into<Rule>,
        measured: impl Into<String>,
        required: impl Into<String>,
        passed: bool,
    ) -> Self {
        let Rule { name, stated_in } = rule.into();
        Self {
            rule: name,
            trial: None,
            measured: measured.into(),
            required: required.into(),
            passed,
            warning: false,
            kind: RuleCheckKind::Value,
            path: None,
            lines: Vec::new(),
            stated_in,
        }
    }

    /// Returns a check of a value of the logs; none: no log states it.
    pub fn from_logs(
        rule: Rule,
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
        rule: impl Into<Rule>,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) -> Self {
        Self::new(rule, measured, required, false)
    }

    /// Returns a check of something that must be there, and is not: `this benchmark requires it`.
    pub fn missing_requirement(rule: impl Into<Rule>, required: impl Into<String>) -> Self {
        Self { kind: RuleCheckKind::Missing, ..Self::violation(rule, "missing", required) }
    }

    /// Returns a check that violates nothing, and that is shown.
    pub fn warning(
        rule: impl Into<Rule>,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) -> Self {
        Self { warning: true, ..Self::new(rule, measured, required, true) }
    }

    /// Returns whether it is shown unless all rules are: it was violated, or is a warning.
    pub fn is_notable(&self) -> bool {
        !self.passed || self.warning
    }

    /// Returns whether it differs from another at most in the lines that state it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let stated_in = &other.stated_in;
        *other == Self { stated_in: stated_in.clone(), ..self.clone() }
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
