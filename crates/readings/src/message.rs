//! Messages to a person. They may quote anything: the answer of an engine, a registry or a peer, the output of a
//! helper, the name of a file. Whatever writes a message to a terminal passes it through here.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::sanitize::sanitize;

/// The longest line that is shown, characters.
const MAX_LINE_CHARS: usize = 4_000;
/// The longest note of what is missing, characters: a line that was cut is not cut again.
const MAX_NOTE_CHARS: usize = 40;
/// The most lines that are shown.
const MAX_MESSAGE_LINES: usize = 2_000;

/// Returns a message without control characters in its lines, cut to a length that a person can read. What is missing
/// is stated.
pub fn sanitize_message(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_LINE_CHARS));
    for (number, line) in text.split('\n').enumerate() {
        if number == MAX_MESSAGE_LINES {
            let left = text.split('\n').count() - MAX_MESSAGE_LINES;
            let _ = write!(out, "\n… ({left} more lines)");
            break;
        }
        if number > 0 {
            out.push('\n');
        }
        out.push_str(&sanitize_message_line(line.strip_suffix('\r').unwrap_or(line)));
    }
    out
}

pub fn sanitize_message_line(line: &str) -> Cow<'_, str> {
    let mut letters = line.char_indices();
    let end = letters.nth(MAX_LINE_CHARS).filter(|_| letters.nth(MAX_NOTE_CHARS).is_some());
    let Some((end, _)) = end else {
        return sanitize(line);
    };
    let left = line.len() - end;
    Cow::Owned(format!("{}… ({left} more bytes)", sanitize(&line[..end])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_message_is_sanitized() {
        let text = "error: \u{1b}[31mred\u{1b}[0m \u{9b}2J\u{202e}\r\n  a\rb\u{8}\tc\n";
        assert_eq!(sanitize_message(text), "error: red \u{fffd}2J\u{fffd}\n  a␍b␈\tc\n");
    }

    #[test]
    fn a_long_line_is_cut_and_says_how_much_is_missing() {
        let text = format!("error: {}\n  help: less", "x".repeat(3_000_000));
        let shown = sanitize_message(&text);
        assert!(shown.len() < 5_000, "{}", shown.len());
        assert!(shown.contains("x… (2996007 more bytes)\n  help: less"), "{shown}");
        assert_eq!(sanitize_message(&shown), shown, "it is not cut again");
        // An escape sequence that the cut would split leaves nothing of itself.
        let text = format!("{}\u{1b}[31m{}", "é".repeat(MAX_LINE_CHARS - 2), "x".repeat(100));
        assert!(!sanitize_message(&text).contains('\u{1b}'));
    }

    #[test]
    fn many_lines_are_cut_and_counted() {
        let shown = sanitize_message(&"x\n".repeat(MAX_MESSAGE_LINES + 50));
        assert!(shown.ends_with("x\n… (51 more lines)"), "{shown}");
    }
}
