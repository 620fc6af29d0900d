//! Makes a container's text harmless for a terminal.

use std::borrow::Cow;

use retrial_document::is_harmful;

const ESCAPE: char = '\u{1b}';

/// Removes escape sequences and shows every other control character as a picture, so that nothing a
/// container prints can move the cursor, set a title, or reorder what stands beside it.
///
/// Tabs stay. A C0 control becomes its picture (`␇`), DEL `␡`, a C1 control or a bidirectional
/// override `�`. Text without any of these is borrowed as it is.
#[must_use]
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
            let after = skip_sequence(chars.as_str());
            if after.len() == chars.as_str().len() {
                out.push(picture(ESCAPE));
            }
            chars = after.chars();
        } else if is_harmful(character) {
            out.push(picture(character));
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn picture(character: char) -> char {
    match u32::from(character) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// What follows the escape sequence whose ESC has just been read; the whole rest where it is none.
fn skip_sequence(rest: &str) -> &str {
    match rest.as_bytes().first() {
        // Control sequence (ECMA-48 5.4): parameters, intermediates, one final byte.
        Some(b'[') => {
            let body = rest[1..].trim_start_matches(|c: char| ('\u{20}'..='\u{3f}').contains(&c));
            match body.chars().next() {
                Some('\u{40}'..='\u{7e}') => &body[1..],
                _ => body,
            }
        }
        // Strings to the terminal (title, clipboard): up to BEL or ESC \. One without its end on
        // this line loses its opening only, so that no text can be hidden behind it.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let body = &rest[1..];
            match body.find(['\u{7}', ESCAPE]) {
                Some(end) if body[end..].starts_with('\u{7}') => &body[end + 1..],
                Some(end) if body[end + 1..].starts_with('\\') => &body[end + 2..],
                _ => body,
            }
        }
        // Two- and three-byte escapes such as ESC 7, ESC ( B.
        Some(b' '..=b'/') => {
            let body = rest.trim_start_matches(|c: char| ('\u{20}'..='\u{2f}').contains(&c));
            match body.chars().next() {
                Some('\u{30}'..='\u{7e}') => &body[1..],
                _ => body,
            }
        }
        Some(b'0'..=b'~') => &rest[1..],
        _ => rest,
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
    fn harmful_text_is_made_harmless(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(sanitize(text), clean);
    }

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(
            sanitize("Samples per second: 12"),
            Cow::Borrowed(_)
        ));
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text in any::<String>()) {
            let clean = sanitize(&text);
            prop_assert!(!clean.contains(is_harmful));
            prop_assert_eq!(sanitize(&clean), clean.as_ref());
        }

        #[test]
        fn escapes_in_every_place(text in "[\u{1b}\u{7}\\[\\]PX^_0-9;mA(B\\\\é\t ]{0,40}") {
            prop_assert!(!sanitize(&text).contains(is_harmful));
        }
    }
}
