//! A pattern over a whole output, block by block: only lines that can match are looked at.
//!
//! A line matches only if it has every literal that the pattern requires, so the longest of them is
//! searched in whole blocks, and the lines around a hit take the ordinary path: splitter,
//! regular expression. Where a pattern requires no literal, all lines do. The figures are the same
//! either way; a step that prints 300 MB is scanned about as fast as it can be read.

use memchr::memmem::Finder;

use super::lines::LineSplitter;
use super::pattern::{Pattern, PatternReader};

/// Reads one output and stores the figures of the pattern.
#[derive(Debug)]
pub struct Scanner<'a> {
    reader: PatternReader<'a>,
    splitter: LineSplitter,
    /// Whether the bytes so far end in the middle of a line.
    within_line: bool,
    literal: Option<&'a Finder<'static>>,
}

impl<'a> Scanner<'a> {
    /// Returns a scanner for one output.
    pub fn new(pattern: &'a Pattern) -> Self {
        Self::starting_at(pattern, 0, 0)
    }

    /// Returns a scanner for a part of one of several files, from this offset on.
    pub fn starting_at(pattern: &'a Pattern, file: usize, offset: u64) -> Self {
        let mut splitter = LineSplitter::new();
        splitter.skip_bytes(offset);
        Self {
            reader: pattern.reader().with_file(file),
            splitter,
            within_line: false,
            literal: pattern.required_literal(),
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, block: &[u8]) {
        let Some(last_end) = memchr::memrchr(b'\n', block) else {
            self.read_bytes(block);
            self.within_line |= !block.is_empty();
            return;
        };
        let (mut whole, rest) = block.split_at(last_end + 1);
        if self.within_line {
            let end = memchr::memchr(b'\n', whole).map_or(whole.len(), |end| end + 1);
            self.read_bytes(&whole[..end]);
            whole = &whole[end..];
        }
        match self.literal {
            // An escape sequence may split the literal, and so do the zeros of UTF-16.
            Some(literal) if memchr::memchr2(0x1b, 0, whole).is_none() => {
                self.read_lines_with(literal, whole);
            }
            _ => self.read_bytes(whole),
        }
        self.read_bytes(rest);
        self.within_line = !rest.is_empty();
    }

    /// Returns the figures, after the last byte.
    pub fn finish(mut self) -> PatternReader<'a> {
        let reader = &mut self.reader;
        self.splitter.finish(|line| reader.feed_line_at(&line.text, line.begin));
        reader.finish_text();
        self.reader
    }

    fn read_bytes(&mut self, bytes: &[u8]) {
        let reader = &mut self.reader;
        self.splitter.push(bytes, |line| reader.feed_line_at(&line.text, line.begin));
    }

    /// Reads those of whole lines that have the literal.
    fn read_lines_with(&mut self, literal: &Finder<'_>, mut lines: &[u8]) {
        while let Some(at) = literal.find(lines) {
            let begin = memchr::memrchr(b'\n', &lines[..at]).map_or(0, |before| before + 1);
            let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end + 1);
            self.splitter.skip_bytes(begin as u64);
            self.read_bytes(&lines[begin..end]);
            lines = &lines[end..];
        }
        self.splitter.skip_bytes(lines.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::figure::PrintedNumber;
    use crate::pattern::{MatchSelection, PatternError};

    fn values(reader: PatternReader<'_>) -> Result<Vec<PrintedNumber>, PatternError> {
        let entries = reader.into_entries()?.into_values();
        let values = entries.map(|entry| match entry.unreadable_announcement() {
            Some(record) => Err(record.error.clone()),
            None => Ok(entry.into_values()),
        });
        Ok(values.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Every line, one after the other.
    fn plainly(pattern: &Pattern, bytes: &[u8]) -> Result<Vec<PrintedNumber>, PatternError> {
        let mut reader = pattern.reader();
        let mut splitter = LineSplitter::new();
        splitter.push(bytes, |line| reader.feed_line(&line.text));
        splitter.finish(|line| reader.feed_line(&line.text));
        reader.finish_text();
        values(reader)
    }

    fn in_blocks(
        pattern: &Pattern,
        bytes: &[u8],
        size: usize,
    ) -> Result<Vec<PrintedNumber>, PatternError> {
        let mut scanner = Scanner::new(pattern);
        bytes.chunks(size).for_each(|block| scanner.push(block));
        values(scanner.finish())
    }

    fn output() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop_oneof![
            3 => "speed [0-9]{1,3}".prop_map(String::into_bytes),
            1 => Just(b"sp\x1b[1meed\x1b[0m \x1b[32m7".to_vec()),
            1 => Just(b"speed x".to_vec()),
            1 => Just(b"speed: nan".to_vec()),
            2 => "speed: [0-9]{1,3}".prop_map(String::into_bytes),
            1 => Just(b"speed ".to_vec()),
            2 => "[a-z ]{0,6}".prop_map(String::into_bytes),
            3 => Just(b"\n".to_vec()),
            1 => Just(b"\r".to_vec()),
            1 => Just(b"\r\n".to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn scanning_finds_the_figures_of_every_line(
            bytes in output(),
            size in 1_usize..60,
            expression in prop::sample::select(vec![r"speed (\d+)", r"^speed (\d+)$", r"speed (\S+)", r"(\d+)", r"speed\s+(\d+)", r"speed: (\d+)", r"^speed: (\d+)$"]),
            take in prop::sample::select(vec![MatchSelection::First, MatchSelection::Last, MatchSelection::All, MatchSelection::Min, MatchSelection::Sum]),
            cut in 0_usize..200,
        ) {
            let pattern = Pattern::new(expression, take, "").unwrap();
            let expected = plainly(&pattern, &bytes);
            prop_assert_eq!(&in_blocks(&pattern, &bytes, size), &expected);
            // The same in two parts, each by a scanner of its own.
            let cut = cut.min(bytes.len());
            let cut = memchr::memchr(b'\n', &bytes[cut..]).map_or(bytes.len(), |end| cut + end + 1);
            let mut joined = pattern.reader();
            for part in [&bytes[..cut], &bytes[cut..]] {
                let mut scanner = Scanner::new(&pattern);
                scanner.push(part);
                joined.append(scanner.finish());
            }
            prop_assert_eq!(values(joined), expected);
        }
    }

    #[test]
    fn a_line_longer_than_the_splitter_limit_is_matched() {
        let pattern = Pattern::new(r"speed (\d+)", MatchSelection::All, "").unwrap();
        let mut bytes = b"speed 1 ".to_vec();
        bytes.extend(vec![b'x'; 70_000]);
        bytes.extend(b" speed 2\nspeed 3\n");
        let expected = plainly(&pattern, &bytes).unwrap();
        assert_eq!(expected.len(), 3);
        for size in [100, 65_536, 1 << 20] {
            assert_eq!(in_blocks(&pattern, &bytes, size).unwrap(), expected);
        }
    }
}
