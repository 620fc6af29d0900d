//! A text with its name, and places in it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// The largest document that is read, bytes. Documents are written by people; one of more than a
/// mebibyte is a mistake or an attack.
pub const SIZE_LIMIT: usize = 1 << 20;

/// A document's text, with the path as the user knows it.
#[derive(Clone, Eq)]
pub struct Source {
    /// As shown to the user.
    pub path: Arc<str>,
    /// The text.
    pub text: Arc<str>,
}

impl Source {
    /// A source of this text.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// A place in this source.
    pub fn span(&self, range: Range<usize>) -> Span {
        Span {
            source: self.clone(),
            start: range.start.min(self.text.len()),
            end: range.end.min(self.text.len()),
        }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        // Places in one file are compared all the time, and its text is long.
        Arc::ptr_eq(&self.text, &other.text) && Arc::ptr_eq(&self.path, &other.path)
            || self.path == other.path && self.text == other.text
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Source({}, {} B)", self.path, self.text.len())
    }
}

/// A place in a source, byte offsets.
#[derive(Clone, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub source: Source,
    /// First byte.
    pub start: usize,
    /// After the last byte.
    pub end: usize,
}

impl Span {
    /// Line and column of its start, from 1; the column counts characters.
    pub fn position(&self) -> (usize, usize) {
        let before = &self.source.text.as_bytes()[..self.start];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let line = before.split(|&byte| byte == b'\n').count();
        let column = String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count()
            + 1;
        (line, column)
    }

    /// The text there.
    pub fn slice(&self) -> &str {
        self.source.text.get(self.start..self.end).unwrap_or("")
    }

    /// A part of it, offsets from its start.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        self.source
            .span(self.start + range.start..self.start + range.end)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (line, column) = self.position();
        let mut fields = serializer.serialize_struct("Span", 5)?;
        fields.serialize_field("path", &*self.source.path)?;
        fields.serialize_field("line", &line)?;
        fields.serialize_field("column", &column)?;
        fields.serialize_field("offset", &self.start)?;
        fields.serialize_field("length", &(self.end - self.start))?;
        fields.end()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(formatter, "{}:{line}:{column}", self.source.path)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}[{}..{}]",
            self.source.path, self.start, self.end
        )
    }
}
