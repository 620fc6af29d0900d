//! A `JSONPath` (RFC 9535), read by `serde_json_path` without its panics.

use serde_json_path::JsonPath;

/// Reads a path.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<JsonPath, String> {
    // The parser panics where the text ends within a string, after `\u`.
    let mut within: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (within, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(quote), _) if quote == letter => within = None,
            (None, '\'' | '"') => within = Some(letter),
            _ => {}
        }
    }
    if let Some(quote) = within {
        return Err(format!("unclosed quote {quote}"));
    }
    JsonPath::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::member("$.a['it is \\'quoted\\'']", None)]
    #[case::other_quote(r#"$["it's"]"#, None)]
    #[case::ends_in_a_string(r#"$["\u"#, Some("unclosed quote \""))]
    #[case::ends_in_an_escape(r"$['\", Some("unclosed quote '"))]
    fn invalid_paths_are_refused(#[case] text: &str, #[case] reason: Option<&str>) {
        assert_eq!(parse(text).err().as_deref(), reason);
    }
}
