//! JSON that is none: `NaN`, `-nan`, `inf` and `Infinity` as Python, C++ and JavaScript print them.

use std::borrow::Cow;

/// Names of values that JSON has no numbers for, the longer before its beginning.
const NON_FINITE_NAMES: [&[u8]; 4] = [b"infinity", b"inf", b"nan(ind)", b"nan"];

/// Returns the text with such values as texts (`"-nan"`), so that they are members like others.
pub fn quote_non_finite_numbers(text: &[u8]) -> Cow<'_, [u8]> {
    // Every name has one of these pairs.
    let has = |pair: &[u8]| memchr::memmem::find(text, pair).is_some();
    if ![&b"na"[..], b"NA", b"Na", b"in", b"IN", b"In"].into_iter().any(has) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 64);
    let (mut quoted, mut at) = (false, 0);
    while at < text.len() {
        let rest = &text[at..];
        let begins = at == 0 || !is_word_byte(text[at - 1]);
        if !quoted
            && begins
            && let Some(length) = non_finite_length(rest)
        {
            out.push(b'"');
            out.extend_from_slice(&rest[..length]);
            out.push(b'"');
            at += length;
        } else if quoted && rest[0] == b'\\' && rest.len() > 1 {
            out.extend_from_slice(&rest[..2]);
            at += 2;
        } else {
            quoted ^= rest[0] == b'"';
            out.push(rest[0]);
            at += 1;
        }
    }
    Cow::Owned(out)
}

/// Returns the length of such a value at the beginning of a text.
fn non_finite_length(text: &[u8]) -> Option<usize> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let rest = &text[sign..];
    let mut names = NON_FINITE_NAMES.into_iter();
    let name = names.find(|name| {
        let length = name.len();
        let is_it = rest.get(..length).is_some_and(|word| word.eq_ignore_ascii_case(name));
        is_it && !rest.get(length).copied().is_some_and(is_word_byte)
    })?;
    Some(sign + name.len())
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+' | b'(' | 0x80..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    #[rstest]
    #[case(r#"{"v": nan}"#, r#"{"v": "nan"}"#)]
    #[case(r#"{"v": [-nan,Infinity, -inf,+INF]}"#, r#"{"v": ["-nan","Infinity", "-inf","+INF"]}"#)]
    #[case(
        r#"{"nan": "a nan, \" inf", "v": -nan(ind)}"#,
        r#"{"nan": "a nan, \" inf", "v": "-nan(ind)"}"#
    )]
    #[case(r#"{"v": nano, "w": info}"#, r#"{"v": nano, "w": info}"#)]
    fn values_that_json_has_not_become_texts(#[case] text: &str, #[case] expected: &str) {
        let actual = quote_non_finite_numbers(text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&actual), expected);
    }

    proptest! {
        #[test]
        fn json_is_unchanged(text in "\\PC{0,20}(NaN|inf|\\\\|\"){0,3}\\PC{0,9}") {
            let document = serde_json::json!({ "t": text, "v": 1.5 }).to_string();
            let read: Value = serde_json::from_slice(&quote_non_finite_numbers(document.as_bytes())).unwrap();
            prop_assert_eq!(read["t"].as_str(), Some(text.as_str()));
        }
    }
}
