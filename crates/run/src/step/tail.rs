//! The latest whole lines of a growing output, for a view that cannot show them all.

use itertools::Itertools as _;

use retrial_readings::sanitize;

/// The maximum number of buffered bytes: more than a terminal can show.
const MAX_BUFFERED_BYTES: usize = 8 << 10;
/// The maximum number of lines returned at once.
const MAX_RETURNED_LINES: usize = 8;

/// Buffers output, and returns its latest lines on request.
#[derive(Debug, Default)]
pub struct OutputTail {
    bytes: Vec<u8>,
    /// The beginning was dropped, so that the first line may be a part of one.
    starts_mid_line: bool,
}

impl OutputTail {
    /// Adds output; only its last 8 KiB are buffered.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(&bytes[bytes.len().saturating_sub(MAX_BUFFERED_BYTES)..]);
        let over = self.bytes.len().saturating_sub(MAX_BUFFERED_BYTES);
        if over > 0 || bytes.len() > MAX_BUFFERED_BYTES {
            self.starts_mid_line = true;
        }
        self.bytes.drain(..over);
    }

    /// Output was skipped: the buffer is not contiguous with the next bytes.
    pub fn mark_gap(&mut self) {
        self.bytes.clear();
        self.starts_mid_line = true;
    }

    /// The latest whole lines since the last call; carriage returns end lines too, as progress bars use them.
    /// With `all`, also an unterminated line.
    pub fn drain_lines(&mut self, all: bool) -> Vec<String> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let whole = if all {
            self.bytes.len()
        } else {
            self.bytes.iter().rposition(is_end).map_or(0, |end| end + 1)
        };
        let mut bytes: Vec<u8> = self.bytes.drain(..whole).collect();
        if whole > 0 && std::mem::take(&mut self.starts_mid_line) {
            let first = bytes.iter().position(is_end).map_or(0, |end| end + 1);
            if first < bytes.len() {
                bytes.drain(..first);
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.split(['\n', '\r']);
        let latest = lines.filter(|line| !line.trim().is_empty()).tail(MAX_RETURNED_LINES);
        latest.map(|line| sanitize(line).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::OutputTail;

    #[test]
    fn lines_are_complete_with_any_chunking() {
        let mut tail = OutputTail::default();
        tail.push(b"one\ntw");
        assert_eq!(tail.drain_lines(false), ["one"]);
        assert!(tail.drain_lines(false).is_empty());
        tail.push(b"o\nthree\rfour");
        assert_eq!(tail.drain_lines(false), ["two", "three"]);
        assert_eq!(tail.drain_lines(true), ["four"]);
        assert!(tail.drain_lines(true).is_empty());
    }

    #[test]
    fn only_the_latest_lines_are_stored_and_none_is_cut() {
        let mut tail = OutputTail::default();
        for number in 0..5000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let eight: Vec<String> = (4992..5000).map(|number| format!("line {number}")).collect();
        assert_eq!(tail.drain_lines(false), eight);
        tail.push(("x".repeat(20_000) + "\nend\n").as_bytes());
        assert_eq!(tail.drain_lines(false), ["end"]);
        tail.push("y".repeat(20_000).as_bytes());
        assert!(tail.drain_lines(false).is_empty());
        assert_eq!(tail.drain_lines(true)[0].len(), 8 << 10);
    }
}
