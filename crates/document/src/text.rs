//! Characters that must not reach a terminal.

/// Whether a character moves a cursor or reorders text. A line's end is one.
pub fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\t')
        // Bidirectional embeddings, overrides, isolates and marks (CVE-2021-42574), line separators.
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
