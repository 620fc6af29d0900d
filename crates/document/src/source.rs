//! A text with its name, and places in it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// The largest document that is read, bytes. Documents are written by people; one of more than a
/// mebibyte is a mistake or an attack.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// A document's text, with the path as the user knows it.
#[derive(Clone, Eq)]
pub struct Source {
    /// The path or option as shown to the user: `mine.yaml`, `--set`.
    pub path: Arc<str>,
    /// The complete text of the document, UTF-8.
    pub text: Arc<str>,
}

impl Source {
    /// Returns a source of this text under this path.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Returns the span of a range of bytes, cut to the length of the text.
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

/// A range of bytes in a source.
#[derive(Clone, PartialEq, Eq)]
pub struct Span {
    /// The document that contains the span.
    pub source: Source,
    /// The byte offset of the first byte.
    pub start: usize,
    /// The byte offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Returns line and column of the first byte, from 1; the column counts characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = &self.source.text.as_bytes()[..self.start];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = before.split(|&byte| byte == b'\n').count();
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        (line, column)
    }

    pub fn slice(&self) -> &str {
        self.source.text.get(self.start..self.end).unwrap_or("")
    }

    /// Returns a part of the span, by byte offsets from its start.
    #[must_use]
    pub fn sub_span(&self, range: Range<usize>) -> Self {
        self.source.span(self.start + range.start..self.start + range.end)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (line, column) = self.line_and_column();
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
        let (line, column) = self.line_and_column();
        write!(formatter, "{}:{line}:{column}", self.source.path)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}[{}..{}]", self.source.path, self.start, self.end)
    }
}
