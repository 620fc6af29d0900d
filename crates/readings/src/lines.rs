//! Splits a stream of bytes into lines, in whatever chunks it arrives.
//!
//! - A carriage return goes back to the beginning of the line: a progress bar that redraws itself a
//!   thousand times is one line, its last state. `\r\n` is one newline.
//! - Escape sequences (colours) are removed: they would separate a figure from its name.
//! - Text that is not UTF-8 is read with replacement characters, never across a cut.
//! - A line longer than the limit comes in pieces marked as continued, so that memory stays
//!   bounded however long the stream.

use std::borrow::Cow;

use crate::decode::narrow_utf16;
use crate::sanitize::strip_escapes;

/// The most bytes of a line that is handed out in one piece.
pub const DEFAULT_LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Room for one whole UTF-8 character, so that a cut always makes progress.
const MIN_LINE_LIMIT_BYTES: usize = 8;

/// One line of a stream, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamLine<'a> {
    /// The text as UTF-8, without escape sequences.
    pub text: Cow<'a, str>,
    /// Whether the line was too long and continues in the next one.
    pub continues: bool,
    /// The offset of its first byte in the stream; of a piece, that of the whole line.
    pub begin: u64,
}

/// An incremental line splitter; the same bytes give the same lines in any chunking.
#[derive(Debug, Clone)]
pub struct LineSplitter {
    /// The visible bytes of the unfinished line: those since its last effective carriage return.
    shown: Vec<u8>,
    /// A carriage return was read, and only carriage returns after it.
    returned: bool,
    /// What a carriage return overwrites is handed out, too.
    emits_overwritten: bool,
    limit: usize,
    /// Bytes that were read or skipped.
    position: u64,
    /// The offset of the first byte of the line that is read.
    begin: u64,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LINE_LIMIT_BYTES)
    }
}

impl LineSplitter {
    /// Returns a splitter with the default limit of 64 KiB a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a splitter that yields longer lines in pieces of at most `limit` bytes (at least 8).
    pub fn with_limit(limit: usize) -> Self {
        Self {
            shown: Vec::new(),
            returned: false,
            emits_overwritten: false,
            limit: limit.max(MIN_LINE_LIMIT_BYTES),
            position: 0,
            begin: 0,
        }
    }

    /// Returns a splitter that also hands out what is overwritten after a carriage return, as a piece of its line.
    pub fn with_overwritten_text() -> Self {
        Self { emits_overwritten: true, ..Self::new() }
    }

    /// Reads the next bytes and hands each line that they finish to `emit`.
    pub fn push(&mut self, chunk: &[u8], mut emit: impl FnMut(StreamLine<'_>)) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.shown.is_empty() && !self.returned {
                rest = self.emit_whole_lines(rest, &mut emit);
            }
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (segment, from_end) = rest.split_at(end);
            self.append_segment(segment, &mut emit);
            let Some((&delimiter, after)) = from_end.split_first() else {
                break;
            };
            self.returned = delimiter == b'\r';
            self.position += 1;
            if delimiter == b'\n' {
                emit(decode_line(&self.shown, false, self.begin));
                self.shown.clear();
                self.begin = self.position;
            }
            rest = after;
        }
    }

    /// Hands out the last line where the stream ended without a newline. The splitter can then begin
    /// another stream.
    pub fn finish(&mut self, mut emit: impl FnMut(StreamLine<'_>)) {
        if !self.shown.is_empty() {
            emit(decode_line(&self.shown, false, self.begin));
        }
        *self = Self { emits_overwritten: self.emits_overwritten, ..Self::with_limit(self.limit) };
    }

    /// Leaves out whole lines of this length, between two lines.
    pub fn skip_bytes(&mut self, length: u64) {
        self.position += length;
        self.begin = self.position;
    }

    /// Returns the visible text of the unfinished line (a progress bar), where there is one.
    pub fn unfinished_line(&self) -> Option<Cow<'_, str>> {
        (!self.shown.is_empty()).then(|| decode_line(&self.shown, false, self.begin).text)
    }

    /// Emits the lines that are complete in this chunk: the common case, without a copy. Returns the rest.
    fn emit_whole_lines<'a>(
        &mut self,
        mut rest: &'a [u8],
        emit: &mut impl FnMut(StreamLine<'_>),
    ) -> &'a [u8] {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let length = match &rest[end..] {
                [b'\n', ..] => end + 1,
                [b'\r', b'\n', ..] => end + 2,
                _ => break,
            };
            if end > self.limit {
                break;
            }
            emit(decode_line(&rest[..end], false, self.position));
            self.skip_bytes(length as u64);
            rest = &rest[length..];
        }
        rest
    }

    fn append_segment(&mut self, mut segment: &[u8], emit: &mut impl FnMut(StreamLine<'_>)) {
        if segment.is_empty() {
            return;
        }
        self.position += segment.len() as u64;
        if std::mem::take(&mut self.returned) {
            if self.emits_overwritten {
                emit(decode_line(&self.shown, true, self.begin));
            }
            self.shown.clear();
        }
        while self.shown.len() + segment.len() > self.limit {
            let (fits, beyond) = segment.split_at(self.limit - self.shown.len());
            self.shown.extend_from_slice(fits);
            let cut = whole_characters_length(&self.shown);
            emit(decode_line(&self.shown[..cut], true, self.begin));
            self.shown.drain(..cut);
            segment = beyond;
        }
        self.shown.extend_from_slice(segment);
    }
}

fn decode_line(bytes: &[u8], continues: bool, begin: u64) -> StreamLine<'_> {
    let text = match narrow_utf16(bytes).map_or_else(|| strip_escapes(bytes), Cow::Owned) {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    };
    StreamLine { text, continues, begin }
}

/// Returns the length of `bytes` without a UTF-8 character that its end cuts in two.
fn whole_characters_length(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let length = match bytes[at] {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        return if length > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn split(chunks: &[&[u8]], limit: usize) -> Vec<(String, bool)> {
        let mut splitter = LineSplitter::with_limit(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, |line| {
                lines.push((line.text.into_owned(), line.continues));
            });
        }
        splitter.finish(|line| lines.push((line.text.into_owned(), line.continues)));
        lines
    }

    #[rstest]
    #[case("a\nb\n", &["a", "b"])]
    #[case("a\r\nb", &["a", "b"])]
    #[case("\n\n", &["", ""])]
    #[case("10 %\r50 %\r100 %\ndone\n", &["100 %", "done"])]
    #[case("10 %\r50 %\r\n", &["50 %"])]
    #[case("a\r\r\nb", &["a", "b"])]
    #[case("50 %\r", &["50 %"])]
    #[case("\r", &[])]
    #[case("", &[])]
    #[case("\rx\n", &["x"])]
    #[case("speed: \x1b[1;32m42.5\x1b[0m\n", &["speed: 42.5"])]
    fn lines_and_carriage_returns(#[case] text: &str, #[case] lines: &[&str]) {
        let actual: Vec<_> =
            split(&[text.as_bytes()], 64).into_iter().map(|(text, _)| text).collect();
        assert_eq!(actual, lines);
    }

    #[test]
    fn overwritten_text_is_handed_out_where_it_is_asked_for() {
        let mut splitter = LineSplitter::with_overwritten_text();
        let mut lines = Vec::new();
        let mut emit = |line: StreamLine<'_>| lines.push((line.text.into_owned(), line.continues));
        splitter.push(b"10 %\rout of memory\r\n", &mut emit);
        splitter.push(b"a\rb", &mut emit);
        splitter.finish(&mut emit);
        let expected = [("10 %", true), ("out of memory", false), ("a", true), ("b", false)];
        assert_eq!(lines, expected.map(|(text, continues)| (text.to_owned(), continues)));
    }

    #[test]
    fn utf16_that_was_appended_is_read() {
        let mut text = b"rate: 5\n".to_vec();
        text.extend("rate: 6\nrate: 7\n".encode_utf16().flat_map(u16::to_le_bytes));
        let lines: Vec<String> = split(&[&text], 64).into_iter().map(|(text, _)| text).collect();
        assert_eq!(lines, ["rate: 5", "rate: 6", "rate: 7", ""]);
    }

    #[test]
    fn a_line_has_its_offset() {
        let text = b"ab\n1 %\r2 %\n\r\nlong line\nx";
        for size in 1..=text.len() {
            let mut splitter = LineSplitter::with_limit(8);
            let mut begins = Vec::new();
            for chunk in text.chunks(size) {
                splitter.push(chunk, |line| begins.push(line.begin));
            }
            splitter.finish(|line| begins.push(line.begin));
            assert_eq!(begins, [0, 3, 11, 13, 13, 23], "{size}");
        }
    }

    #[test]
    fn a_character_split_across_chunks_is_joined() {
        assert_eq!(split(&[b"gr\xc3", b"\xbcn\n"], 64), [("grün".to_owned(), false)]);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(split(&[b"a\xffb\n"], 64), [("a\u{fffd}b".to_owned(), false)]);
    }

    #[test]
    fn a_long_line_is_split_at_character_boundaries() {
        let lines = split(&["1234567ü9\nnext\n".as_bytes()], 8);
        let expected = [("1234567", true), ("ü9", false), ("next", false)];
        assert_eq!(lines, expected.map(|(text, continues)| (text.to_owned(), continues)));
    }

    #[test]
    fn an_endless_line_or_progress_bar_uses_bounded_memory() {
        let mut splitter = LineSplitter::with_limit(64);
        for _ in 0..10_000 {
            splitter.push(b"\r 12 % of a download of some size", |_| panic!("no line ended"));
        }
        assert_eq!(splitter.unfinished_line().unwrap(), " 12 % of a download of some size");
        let mut pieces = 0;
        for _ in 0..10_000 {
            splitter.push(&[b'x'; 100], |line| pieces += usize::from(line.continues));
        }
        assert!(pieces > 10_000);
        assert!(splitter.shown.capacity() < 1024);
    }

    /// The definition, one byte at a time.
    fn reference(bytes: &[u8], limit: usize) -> Vec<(String, bool)> {
        let chunks: Vec<&[u8]> = bytes.chunks(1).collect();
        split(&chunks, limit)
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop_oneof![
            4 => "[a-z ]{0,12}".prop_map(String::into_bytes),
            2 => Just(b"\n".to_vec()),
            2 => Just(b"\r".to_vec()),
            1 => Just(b"\r\n".to_vec()),
            1 => "[üé漢😀]{1,4}".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunking(bytes in text(), cuts in prop::collection::vec(0_usize..400, 0..12), limit in 8_usize..40) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut begin = 0;
            let mut chunks = Vec::new();
            for cut in cuts {
                chunks.push(&bytes[begin..cut]);
                begin = cut;
            }
            prop_assert_eq!(split(&chunks, limit), reference(&bytes, limit));
        }

        #[test]
        fn plain_text_is_split_like_str_lines(text in "[a-zü \n]{0,200}") {
            let actual: Vec<_> = split(&[text.as_bytes()], 4096).into_iter().map(|(text, _)| text).collect();
            let expected: Vec<_> = text.lines().map(str::to_owned).collect();
            prop_assert_eq!(actual, expected);
        }
    }
}
