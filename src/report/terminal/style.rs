//! Colours. Without colour there is no escape at all.

use crate::verdict::Outcome;

/// Paints text, or leaves it.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Paint {
    /// Whether to.
    pub color: bool,
}

impl Paint {
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn outcome(self, outcome: Outcome, text: &str) -> String {
        self.with(color(outcome), text)
    }

    pub fn verdict(self, outcome: Outcome, text: &str) -> String {
        self.with(&format!("1;{}", color(outcome)), text)
    }

    /// In the colour of an escape's code.
    pub fn with(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

pub(super) fn color(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Reproduced => "32",
        Outcome::Measured => "36",
        Outcome::Inconclusive => "33",
        Outcome::NotReproduced | Outcome::Invalid | Outcome::Failed => "31",
    }
}
