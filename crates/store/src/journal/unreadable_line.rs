//! A damaged line of a journal, as errors and verdicts name it.

use std::fmt;

/// A line of a journal that is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableLine {
    /// From 1.
    pub line: usize,
    /// Why, as a fragment.
    pub reason: String,
}

impl fmt::Display for UnreadableLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}
