//! Problems of a document, collected: all of them, each with its place.

use std::fmt;

use itertools::Itertools as _;
use serde::Serialize;

use super::source::Span;

/// More diagnostics do not help, and a hostile file must not use unbounded memory.
const MAX_STORED_DIAGNOSTICS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// The document can be used, but a person should check this part.
    Warning,
}

/// A problem of a document, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Whether the problem prevents the use of the document.
    pub severity: Severity,
    /// A stable word for it, for example `unknown-key`.
    pub code: &'static str,
    /// The problem in one line, lower-case, without a full stop.
    pub message: String,
    /// The position of the text that causes the problem.
    #[serde(flatten)]
    pub span: Span,
    /// How to fix it, or the text that was probably meant.
    pub help: Option<String>,
    /// The settings under which the problem occurs (`rocm=7.1.1`); none if it occurs under all variants.
    pub variants: Option<String>,
}

impl Diagnostic {
    /// Returns an error without help.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            help: None,
            variants: None,
        }
    }

    /// Returns a warning without help.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, span) }
    }

    /// Adds a line on how to fix the problem.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a line on how to fix the problem, if there is one.
    #[must_use]
    pub fn with_optional_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.span, self.message)?;
        match &self.help {
            Some(help) => write!(formatter, " ({help})"),
            None => Ok(()),
        }
    }
}

/// The problems of one or more documents, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    #[serde(skip)]
    omitted: usize,
}

impl Diagnostics {
    /// Adds a problem; the same problem at the same position is stored once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.contains(&diagnostic) {
            return;
        }
        if self.list.len() >= MAX_STORED_DIAGNOSTICS {
            self.omitted += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// Adds an error with a line on how to fix it.
    pub fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: &Span,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::error(code, message, span.clone()).with_help(help));
    }

    /// Adds a warning with a line on how to fix it.
    pub fn warning(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: &Span,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::warning(code, message, span.clone()).with_help(help));
    }

    /// Removes the problems for which `keep` returns false.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
    }

    /// Adds all problems of another list.
    pub fn extend(&mut self, others: Self) {
        self.omitted += others.omitted;
        for diagnostic in others.list {
            self.push(diagnostic);
        }
    }

    /// Counts problems that are not stored.
    pub fn add_omitted(&mut self, count: usize) {
        self.omitted += count;
    }

    /// Returns an iterator over all stored problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Returns whether no problem is stored.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of errors, problems beyond the limit included.
    pub fn error_count(&self) -> usize {
        self.severity_count(Severity::Error) + self.omitted
    }

    pub fn warning_count(&self) -> usize {
        self.severity_count(Severity::Warning)
    }

    /// Returns the number of problems that were found but not stored.
    pub fn omitted_count(&self) -> usize {
        self.omitted
    }

    /// Returns whether at least one problem is an error.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// `2 errors, 1 warning`
    pub fn count_summary(&self) -> String {
        let counts = [(self.error_count(), "error"), (self.warning_count(), "warning")];
        let counted = counts
            .into_iter()
            .filter_map(|(number, word)| match number {
                0 => None,
                1 => Some(format!("1 {word}")),
                _ => Some(format!("{number} {word}s")),
            })
            .join(", ");
        if counted.is_empty() {
            return "no problems".to_owned();
        }
        counted
    }

    fn severity_count(&self, severity: Severity) -> usize {
        let same = |diagnostic: &&Diagnostic| diagnostic.severity == severity;
        self.list.iter().filter(same).count()
    }

    /// Sorts by path, `first` before all others, then by byte offset.
    pub fn sort_by_place(&mut self, first: &str) {
        self.list.sort_by(|one, other| {
            let key = |diagnostic: &Diagnostic| {
                let path = diagnostic.span.source.path.clone();
                (*path != *first, path, diagnostic.span.start)
            };
            key(one).cmp(&key(other))
        });
    }

    /// Returns the value that was read, if there is one and no problem is an error.
    ///
    /// # Errors
    /// Returns all problems otherwise, sorted with the file `first` before all others.
    pub fn into_result<T>(mut self, read: Option<T>, first: &str) -> Result<T, Self> {
        if !self.has_errors()
            && let Some(value) = read
        {
            return Ok(value);
        }
        self.sort_by_place(first);
        Err(self)
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { list: vec![diagnostic], omitted: 0 }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.list.iter().format("\n"))
    }
}

impl std::error::Error for Diagnostics {}
