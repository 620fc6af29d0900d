//! Characters that must not reach a terminal.

/// Whether a character moves a cursor or reorders text. A line's end is one.
pub fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\t')
        // Bidirectional embeddings, overrides, isolates and marks (CVE-2021-42574), line separators.
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text in which such characters, those that cannot be seen and all blanks after a first one are shown by
/// their code: `\u{a}`, `\u{202e}`.
pub fn escape_harmful(text: &str) -> String {
    let mut before = None;
    let mut shown = String::new();
    for character in text.chars() {
        let is_second_blank = character == ' ' && before == Some(' ');
        if is_second_blank || is_invisible(character) || is_harmful(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
        before = Some(character);
    }
    shown
}

/// Whether a character looks like nothing, or like a blank, but is not one.
fn is_invisible(character: char) -> bool {
    // Letters without a shape, of Korean and Braille.
    let is_empty_letter =
        matches!(character, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}');
    let is_printed = character.is_alphanumeric() || character.escape_debug().count() == 1;
    let is_quoted = matches!(character, '\'' | '"' | '\\');
    is_empty_letter || (character.is_whitespace() && character != ' ') || !(is_printed || is_quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_line() {
        assert_eq!(
            escape_harmful("/a\n host \u{1b}[2K\u{202e}ü b"),
            "/a\\u{a} host \\u{1b}[2K\\u{202e}ü b"
        );
        for invisible in "\u{200b}\u{ad}\u{feff}\u{3164}\u{e0041}\u{a0}\u{2003}\t".chars() {
            assert_ne!(escape_harmful(&invisible.to_string()), invisible.to_string());
        }
        assert_eq!(escape_harmful("x   y"), "x \\u{20}\\u{20}y", "no column of its own");
        assert_eq!(escape_harmful("it's \"a\\b\" 世界"), "it's \"a\\b\" 世界");
    }
}
