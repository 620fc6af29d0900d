//! An error as data, for a journal or a report: what failed, apart from what to do about it. Nothing decides by
//! these texts; code that decides matches the error itself.

use std::fmt;

use miette::Diagnostic;
use serde::{Deserialize, Serialize};

/// What failed, and what to do about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ErrorText {
    /// What failed, in one line without its remedy.
    pub message: String,
    /// The remedies, one a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

impl ErrorText {
    /// A message without a remedy.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: Vec::new() }
    }

    pub fn of(error: &dyn Diagnostic) -> Self {
        let help = error.help().map(|help| help.to_string());
        Self::new(error.to_string()).with_help(help.unwrap_or_default())
    }

    /// Adds a remedy, unless it is empty.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self.help.retain(|line| !line.is_empty());
        self
    }

    /// Adds remedies, each on a line of its own.
    #[must_use]
    pub fn with_helps(self, helps: impl IntoIterator<Item = String>) -> Self {
        helps.into_iter().fold(self, Self::with_help)
    }

    /// Says in front of the message what failed, or where.
    #[must_use]
    pub fn in_context(mut self, context: &str) -> Self {
        self.message = format!("{context}{}", self.message);
        self
    }

    /// The message, unless it is empty, and each remedy on a line of its own, `help: …`, as cargo and rustc print
    /// theirs.
    pub fn to_lines(&self) -> Vec<String> {
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        message.into_iter().chain(self.help_lines()).collect()
    }

    /// Each remedy on a line of its own, `help: …`.
    pub fn help_lines(&self) -> impl Iterator<Item = String> {
        self.help.iter().map(|line| format!("help: {line}"))
    }
}

impl From<String> for ErrorText {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ErrorText {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// In one line, for tables and lists: `message; help: …`.
impl fmt::Display for ErrorText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| {
            // A list of choices has one a line.
            let mut lines = help.lines().map(str::trim);
            write!(formatter, "; help: {}", lines.next().unwrap_or_default())?;
            let list: Vec<&str> = lines.collect();
            if list.is_empty() { Ok(()) } else { write!(formatter, " {}", list.join(", ")) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error, Diagnostic)]
    enum Fault {
        #[error("{name} is full")]
        #[diagnostic(help("empty {name}"))]
        Full { name: &'static str },
        #[error("gone")]
        Gone,
    }

    #[test]
    fn message_and_help_of_an_error_stay_apart() {
        let full = ErrorText::of(&Fault::Full { name: "disk" }).with_help("or wait");
        assert_eq!(full.message, "disk is full");
        assert_eq!(full.help, ["empty disk", "or wait"]);
        assert_eq!(full.to_string(), "disk is full; help: empty disk; help: or wait");
        assert_eq!(full.to_lines(), ["disk is full", "help: empty disk", "help: or wait"]);
        let list = ErrorText::new("full").with_help("choose one:\n  a\n  b");
        assert_eq!(list.to_string(), "full; help: choose one: a, b");
        assert_eq!(list.to_lines().join("\n"), "full\nhelp: choose one:\n  a\n  b");
        let gone = ErrorText::of(&Fault::Gone).in_context("on n1: ");
        assert_eq!(serde_json::to_string(&gone).unwrap(), r#"{"message":"on n1: gone"}"#);
    }
}
