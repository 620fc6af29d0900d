//! The places of records in the texts that were read.

use std::ops::Range;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordLocation {
    /// The number of the file among several, from 0.
    pub file: usize,
    pub position: TextPosition,
    /// The columns of the number in its line, from 1: the first and the last.
    pub columns: Option<(u32, u32)>,
    /// The number of the value among those that a path selects in its JSON document, from 0.
    pub value: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPosition {
    /// The number of the line, from 1.
    Line(u64),
    /// The offset of the first byte of its line, in the text as UTF-8: of a log that is read in parts.
    Offset(u64),
}

impl Default for TextPosition {
    fn default() -> Self {
        Self::Offset(0)
    }
}

impl RecordLocation {
    /// Returns the place at the line of this number, from 1.
    pub fn at_line(file: usize, line: u64) -> Self {
        let position = TextPosition::Line(line);
        Self { file, position, ..Self::default() }
    }

    /// Returns the place at the line that begins at this offset.
    pub fn at_offset(file: usize, offset: u64) -> Self {
        let position = TextPosition::Offset(offset);
        Self { file, position, ..Self::default() }
    }

    /// Returns the place of a number within its line.
    #[must_use]
    pub fn with_columns(self, line: &str, number: &Range<usize>) -> Self {
        let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let before = count(&line[..number.start]);
        let last = before.saturating_add(count(&line[number.clone()]).max(1));
        Self { columns: Some((before.saturating_add(1), last)), ..self }
    }

    /// Returns the place of the value of this number in its document, from 0.
    #[must_use]
    pub fn with_value(self, number: Option<usize>) -> Self {
        Self { value: number.and_then(|number| u32::try_from(number).ok()), ..self }
    }
}

/// Counts the lines of a text that is read in order.
#[derive(Debug)]
pub(crate) struct LineCounter<'a> {
    text: &'a [u8],
    counted: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    /// Returns a counter for a text whose first line has this number.
    pub fn new(text: &'a [u8], first: u64) -> Self {
        Self { text, counted: 0, line: first }
    }

    /// Returns the number of the line of the record that follows an offset and white space.
    pub fn line_after(&mut self, offset: usize) -> u64 {
        let rest = self.text.get(offset..).unwrap_or_default();
        let begin = offset + rest.len() - rest.trim_ascii_start().len();
        let passed = self.text.get(self.counted..begin).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.counted = self.counted.max(begin);
        self.line
    }
}

/// A record that announces a figure, and whose number cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadableRecord<E> {
    /// The file and the line in which it begins.
    pub place: RecordLocation,
    /// The reason why it cannot be read, with the record's text.
    pub error: E,
}

/// Records that announce the figure, cannot be read, and do not matter, since a later one counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SkippedRecords {
    pub count: u64,
    /// The first: where it stands, and why it cannot be read.
    pub first: Option<(RecordLocation, String)>,
}

impl SkippedRecords {
    /// Counts a record; the first one is stored with its place and its error.
    pub fn add_record<E: std::fmt::Display>(&mut self, record: &UnreadableRecord<E>) {
        self.count += 1;
        self.first.get_or_insert_with(|| (record.place, record.error.to_string()));
    }
}
