//! Escape sequences of a container's text: removed before figures are looked for, and before a
//! terminal shows it, by the same rule. A pattern matches the text that a person sees.

use std::borrow::Cow;

use retrial_document::is_harmful;

const ESCAPE: char = '\u{1b}';

/// Removes escape sequences (colours, titles), and nothing else. Bytes without any are borrowed.
pub fn strip_escapes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_escape = |rest: &[u8]| memchr::memchr(ESCAPE as u8, rest);
    if is_escape(bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = is_escape(rest) {
        let after = &rest[at + 1..];
        let length = sequence_length(after);
        // An escape character that begins no sequence stays.
        out.extend_from_slice(&rest[..at + usize::from(length == 0)]);
        rest = &after[length..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Removes escape sequences and shows every other control character as a picture, so that nothing a
/// container prints can move the cursor, set a title, or reorder the text next to it.
///
/// Tabs stay. A C0 control becomes its picture (`␇`), DEL `␡`, a C1 control or a bidirectional
/// override `�`. Text without any of these is borrowed as it is.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_harmful) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len());
    out.push_str(clean);
    let mut chars = rest.chars();
    while let Some(character) = chars.next() {
        if character == ESCAPE {
            let length = sequence_length(chars.as_str().as_bytes());
            if length == 0 {
                out.push(control_picture(ESCAPE));
            }
            chars = chars.as_str()[length..].chars();
        } else if is_harmful(character) {
            out.push(control_picture(character));
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn control_picture(character: char) -> char {
    match u32::from(character) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Returns the length of the escape sequence whose ESC has just been read: 0 if it is none. A sequence is
/// of ASCII characters, and never goes beyond its line.
fn sequence_length(rest: &[u8]) -> usize {
    let after_run = |from: usize, of: std::ops::RangeInclusive<u8>| {
        let run = rest[from..].iter().take_while(|byte| of.contains(byte));
        from + run.count()
    };
    let with_final = |at: usize, of: std::ops::RangeInclusive<u8>| {
        at + usize::from(rest.get(at).is_some_and(|byte| of.contains(byte)))
    };
    match rest.first() {
        // Control sequence (ECMA-48 5.4): parameters, intermediates, one final byte.
        Some(b'[') => with_final(after_run(1, 0x20..=0x3f), 0x40..=0x7e),
        // Strings to the terminal (title, clipboard): up to BEL or ESC \. One without its end on
        // this line loses its opening only, so that no text can be hidden behind it.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            match memchr::memchr3(0x07, ESCAPE as u8, b'\n', rest) {
                Some(end) if rest[end] == 0x07 => end + 1,
                Some(end) if rest[end..].starts_with(b"\x1b\\") => end + 2,
                _ => 1,
            }
        }
        // Two- and three-byte escapes such as ESC 7, ESC ( B.
        Some(b' '..=b'/') => with_final(after_run(0, 0x20..=0x2f), 0x30..=0x7e),
        Some(b'0'..=b'~') => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("plain\ttext, ünï", "plain\ttext, ünï")]
    #[case("\u{1b}[31mred\u{1b}[0m", "red")]
    #[case("\u{1b}]0;title\u{7}after", "after")]
    #[case("\u{1b}]52;c;aGk=\u{1b}\\after", "after")]
    #[case("\u{1b}]0;no end", "0;no end")]
    #[case("bell\u{7}", "bell␇")]
    #[case("a\u{1b}", "a␛")]
    #[case("a\rb\n", "a␍b␊")]
    #[case("\u{9b}31m", "\u{fffd}31m")]
    #[case("abc\u{202e}fed", "abc\u{fffd}fed")]
    #[case("\u{1b}(Bx\u{1b}7y", "xy")]
    #[case("\u{1b}[2", "")]
    #[case("\u{7f}", "␡")]
    fn harmful_text_is_sanitized(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(sanitize(text), clean);
    }

    #[rstest]
    #[case("speed: \u{1b}[1;32m42.5\u{1b}[0m", "speed: 42.5")]
    #[case("\u{1b}]0;title\u{7}bell\u{7}\r", "bell\u{7}\r")]
    #[case("\u{1b}]0;cut\n\u{7}\u{1b}", "0;cut\n\u{7}\u{1b}")]
    fn only_escapes_are_stripped(#[case] text: &str, #[case] stripped: &str) {
        assert_eq!(strip_escapes(text.as_bytes()), stripped.as_bytes());
    }

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(sanitize("Samples per second: 12"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_sanitized_completely(text in any::<String>()) {
            let clean = sanitize(&text);
            prop_assert!(!clean.contains(is_harmful));
            prop_assert_eq!(sanitize(&clean), clean.as_ref());
        }

        #[test]
        fn escapes_are_removed_anywhere(text in "[\u{1b}\u{7}\\[\\]PX^_0-9;mA(B\\\\é\t ]{0,40}") {
            prop_assert!(!sanitize(&text).contains(is_harmful));
        }
    }
}
