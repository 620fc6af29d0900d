//! The latest whole lines of a growing output, for a view that cannot show them all.

use retrial_readings::sanitize;

/// Bytes that are kept: more than a terminal's tail can show.
const KEPT: usize = 8 << 10;
/// Lines that are given at once.
const LINES: usize = 8;

/// Gathers output and gives its latest lines now and then.
#[derive(Debug, Default)]
pub struct Latest {
    bytes: Vec<u8>,
    /// The beginning was dropped, so that the first line may be a part of one.
    cut: bool,
}

impl Latest {
    /// Takes more output in.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes
            .extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let over = self.bytes.len().saturating_sub(KEPT);
        if over > 0 || bytes.len() > KEPT {
            self.cut = true;
        }
        self.bytes.drain(..over);
    }

    /// Output was left out: what is kept has no connection to what comes.
    pub fn skip(&mut self) {
        self.bytes.clear();
        self.cut = true;
    }

    /// The latest lines since the last call that are whole; carriage returns end lines too, as
    /// progress bars use them. With `all`, also a line that has no end.
    pub fn lines(&mut self, all: bool) -> Vec<String> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let whole = if all {
            self.bytes.len()
        } else {
            self.bytes.iter().rposition(is_end).map_or(0, |end| end + 1)
        };
        let mut bytes: Vec<u8> = self.bytes.drain(..whole).collect();
        if whole > 0 && std::mem::take(&mut self.cut) {
            let first = bytes.iter().position(is_end).map_or(0, |end| end + 1);
            if first < bytes.len() {
                bytes.drain(..first);
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text
            .split(['\n', '\r'])
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines[lines.len().saturating_sub(LINES)..]
            .iter()
            .map(|line| sanitize(line).into_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Latest;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut latest = Latest::default();
        latest.push(b"one\ntw");
        assert_eq!(latest.lines(false), ["one"]);
        assert!(latest.lines(false).is_empty());
        latest.push(b"o\nthree\rfour");
        assert_eq!(latest.lines(false), ["two", "three"]);
        assert_eq!(latest.lines(true), ["four"]);
        assert!(latest.lines(true).is_empty());
    }

    #[test]
    fn only_the_latest_are_kept_and_none_is_cut() {
        let mut latest = Latest::default();
        for number in 0..5000 {
            latest.push(format!("line {number}\n").as_bytes());
        }
        let eight: Vec<String> = (4992..5000)
            .map(|number| format!("line {number}"))
            .collect();
        assert_eq!(latest.lines(false), eight);
        latest.push(("x".repeat(20_000) + "\nend\n").as_bytes());
        assert_eq!(latest.lines(false), ["end"]);
        latest.push("y".repeat(20_000).as_bytes());
        assert!(latest.lines(false).is_empty());
        assert_eq!(latest.lines(true)[0].len(), 8 << 10);
    }
}
