//! The signs by which a running command counts as failed.

use std::time::Duration;

use retrial_document::{FieldType as T, object};
use retrial_readings::formats::REGEX;
use serde::{Deserialize, Serialize};

object! {
    /// A pattern of a failure.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FailurePattern: "a pattern of a failure", or T::Text(REGEX) => FailurePattern::from_pattern;
    keys {
        /// A regular expression that a line of the output matches. A group `gpu` captures which GPU failed: `GPU (?<gpu>\d+): out of memory`.
        pattern: String [required] = T::Text(REGEX),
        /// Lines before this time, from the start of the command, are no failure: `Polling server` is none while a model is loaded.
        after: Option<Duration>,
    }
}

impl FailurePattern {
    #[expect(clippy::unnecessary_wraps, reason = "a reader")]
    fn from_pattern(text: &str) -> Option<Self> {
        Some(Self { pattern: text.to_owned(), after: None })
    }
}

object! {
    /// The least progress that a command makes.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ProgressRule: "a rule of progress";
    keys {
        /// A regular expression that lines of the output match again and again.
        pattern: String [required] = T::Text(REGEX),
        /// The longest time without such a line.
        within: Duration [required],
        /// One such line is enough: it shows that the program has got so far.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool [default = "false"],
    }
}
