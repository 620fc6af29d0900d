//! Lines of another machine: bytes, since a login banner may be in any encoding, and of a limited length, since
//! it may never end.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum LimitedLine {
    /// The line is within the limit.
    Complete(Vec<u8>),
    /// The line is longer than the limit: its beginning.
    Truncated(Vec<u8>),
}

impl LimitedLine {
    /// Returns the line's bytes, of a longer one the beginning.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Complete(bytes) | Self::Truncated(bytes) => bytes,
        }
    }
}

/// Reads lines of a limited length.
pub struct LineReader<R> {
    input: BufReader<R>,
    max_bytes: usize,
    /// The rest of the last line is skipped.
    is_cut: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of at most `max_bytes`.
    pub fn new(input: R, max_bytes: usize) -> Self {
        Self { input: BufReader::new(input), max_bytes, is_cut: false }
    }

    /// The next line; none at the end, or if reading fails. A line that is too long is returned as soon as that
    /// is known.
    pub async fn next_line(&mut self) -> Option<LimitedLine> {
        let mut line = Vec::new();
        loop {
            let block = match self.input.fill_buf().await {
                Ok(block) if !block.is_empty() => block,
                _ => return (!line.is_empty()).then_some(LimitedLine::Complete(line)),
            };
            let end = block.iter().position(|byte| *byte == b'\n');
            let rest = &block[..end.unwrap_or(block.len())];
            let used = end.map_or(block.len(), |end| end + 1);
            if self.is_cut {
                self.is_cut = end.is_none();
                self.input.consume(used);
                continue;
            }
            let room = self.max_bytes - line.len();
            if rest.len() > room {
                line.extend_from_slice(&rest[..room]);
                self.is_cut = end.is_none();
                self.input.consume(used);
                return Some(LimitedLine::Truncated(line));
            }
            line.extend_from_slice(rest);
            self.input.consume(used);
            if end.is_some() {
                return Some(LimitedLine::Complete(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], max_bytes: usize) -> Vec<LimitedLine> {
        let mut reader = LineReader::new(text, max_bytes);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().await {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_bytes_and_have_a_limit() {
        let whole = |text: &[u8]| LimitedLine::Complete(text.to_vec());
        let found = lines(b"gr\xfc\xdfe\n\nlonger than 8\nnext\nlast", 8).await;
        let cut = LimitedLine::Truncated(b"longer t".to_vec());
        let expected = [whole(b"gr\xfc\xdfe"), whole(b""), cut, whole(b"next"), whole(b"last")];
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_returned_at_its_limit() {
        let mut reader = LineReader::new(tokio::io::repeat(b'x'), 1000);
        assert_eq!(reader.next_line().await, Some(LimitedLine::Truncated(vec![b'x'; 1000])));
    }
}
