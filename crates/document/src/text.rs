//! Characters that must not reach a terminal.

/// Whether a character moves a cursor or reorders text. A line's end is one.
pub fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\t')
        // Bidirectional embeddings, overrides, isolates and marks (CVE-2021-42574), line separators.
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text in which such characters are shown as in Rust: `\n`, `\u{202e}`.
pub fn escape_harmful(text: &str) -> String {
    let shown = |character: char| {
        if is_harmful(character) || character == '\t' {
            character.escape_default().to_string()
        } else {
            character.to_string()
        }
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_line() {
        assert_eq!(
            escape_harmful("/a\n  host  \u{1b}[2K\u{202e}ü b"),
            "/a\\n  host  \\u{1b}[2K\\u{202e}ü b"
        );
    }
}
