//! The forms in which a secret may be written.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use itertools::Itertools as _;

/// Shorter secrets are searched for only in plain form: their encoded forms would match anywhere.
pub const MIN_ENCODED_SECRET_BYTES: usize = 8;

/// Forms in which a secret may be printed: as it is, in a URL, in JSON, quoted for a shell, and each line of a
/// multi-line secret. A step's filter searches for these: each costs time during a measurement.
pub fn printed_forms(value: &str) -> Vec<String> {
    let json_text = serde_json::to_string(value).unwrap_or_default();
    let json_content = json_text.get(1..json_text.len().saturating_sub(1));
    let quoted = json_content.unwrap_or_default();
    let mut forms = vec![
        value.to_owned(),
        percent_encode(value, true),
        percent_encode(value, false),
        quoted.to_owned(),
        quoted.replace('/', "\\/"),
        // As Go writes JSON.
        quoted.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e"),
        value.replace('\'', "'\\''"),
    ];
    let lines = value.lines().filter(|line| line.len() >= MIN_ENCODED_SECRET_BYTES);
    forms.extend(lines.map(str::to_owned));
    // Searched for line by line.
    forms.retain(|form| !form.contains('\n'));
    sort_and_deduplicate(forms)
}

/// All forms of a secret: also in HTML, in base64, in hexadecimal, reversed, and without line breaks.
pub fn all_forms(value: &str) -> Vec<String> {
    let mut forms = printed_forms(value);
    forms.push(value.to_owned());
    forms.extend(html_forms(value));
    if value.len() >= MIN_ENCODED_SECRET_BYTES {
        forms.push(value.chars().rev().collect());
        forms.extend([hex::encode(value), hex::encode_upper(value)]);
        forms.extend(base64_forms(value.as_bytes()));
    }
    for form in &mut forms {
        form.retain(|letter| letter != '\n' && letter != '\r');
    }
    sort_and_deduplicate(forms)
}

fn sort_and_deduplicate(found_forms: Vec<String>) -> Vec<String> {
    let forms = found_forms.into_iter().filter(|form| !form.is_empty());
    forms.sorted().dedup().collect()
}

fn percent_encode(value: &str, upper: bool) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            write!(text, "{}", char::from(byte))
        } else if upper {
            write!(text, "%{byte:02X}")
        } else {
            write!(text, "%{byte:02x}")
        };
        text
    })
}

/// HTML encodings of templates and libraries: named or numeric entities for special characters.
fn html_forms(value: &str) -> Vec<String> {
    let written = |entity: &dyn Fn(char) -> Option<String>| -> String {
        let characters = value.chars();
        let letters = characters.map(|letter| entity(letter).unwrap_or_else(|| letter.to_string()));
        letters.collect()
    };
    let named = |quotes: [&'static str; 4]| {
        written(&|letter| {
            let at = "\"'/=".find(letter);
            let entity = match letter {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                _ => at.map(|at| quotes[at]).filter(|entity| !entity.is_empty())?,
            };
            Some(entity.to_owned())
        })
    };
    let special = |letter: char| "&<>\"'/=`".contains(letter).then_some(u32::from(letter));
    vec![
        named(["", "", "", ""]),
        named(["&quot;", "&#39;", "", ""]),
        named(["&quot;", "&#039;", "", ""]),
        named(["&quot;", "&#x27;", "", ""]),
        named(["&quot;", "&apos;", "", ""]),
        // Go, Mustache.
        named(["&#34;", "&#39;", "", ""]),
        named(["&quot;", "&#39;", "&#x2F;", "&#x3D;"]),
        written(&|letter| Some(format!("&#{};", special(letter)?))),
        written(&|letter| Some(format!("&#x{:X};", special(letter)?))),
        written(&|letter| Some(format!("&#x{:x};", special(letter)?))),
    ]
}

/// The substrings that the base64 of any text with the value contains: it may start at any of three offsets in
/// a group, as in `user:token`.
fn base64_forms(value: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        // The characters that depend on no other byte.
        let own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let text = alphabet.encode(&bytes);
            forms.extend(text.get(own.clone()).map(str::to_owned));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_at_any_offset() {
        let value = "hf_/&?0123456789";
        for around in ["", "u:", "me:", "user:"] {
            let text = STANDARD_NO_PAD.encode(format!("{around}{value}{around}"));
            let forms = all_forms(value);
            assert!(forms.iter().any(|form| text.contains(form)), "{text}");
        }
    }

    #[test]
    fn short_secrets_have_no_encoded_forms() {
        assert_eq!(all_forms("a"), ["a"]);
    }
}
