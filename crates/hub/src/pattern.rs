//! Patterns that select files: Python's `fnmatchcase`, where `*` also matches `/`.

use regex_lite::Regex;

/// Returns whether a path is selected: it matches one of `allow`, if there are any, and none of `ignore`.
pub fn is_selected(path: &str, allow: &[String], ignore: &[String]) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, path));
    (allow.is_empty() || any(allow)) && !any(ignore)
}

/// Returns whether a path matches; a pattern that ends with `/` matches everything below.
fn matches_pattern(pattern: &str, path: &str) -> bool {
    let normalized = pattern.replace('\\', "/");
    let rest = if normalized.ends_with('/') { ".*" } else { "" };
    // A range that is out of order, `[z-a]`, matches nothing.
    Regex::new(&format!("(?s)^{}{rest}$", pattern_to_regex(&normalized)))
        .is_ok_and(|regex| regex.is_match(&path.replace('\\', "/")))
}

/// The regular expression of a pattern, as Python's `fnmatch.translate` makes it.
fn pattern_to_regex(pattern: &str) -> String {
    let mut regex = String::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => match translate_set(rest.as_str()) {
                Some((inside, after)) => {
                    regex.push_str(&inside);
                    rest = after.chars();
                }
                None => regex.push_str("\\["),
            },
            other => regex.push_str(&regex_lite::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex
}

/// The set that follows a `[`, and what follows it; none if it is not closed.
fn translate_set(text: &str) -> Option<(String, &str)> {
    let (negation, text) = match text.strip_prefix('!') {
        Some(text) => ("^", text),
        None => ("", text),
    };
    // A `]` in the first position is literal.
    let first = text.chars().next()?.len_utf8();
    let end = text[first..].find(']')? + first;
    let escaped: String = text[..end]
        .chars()
        .flat_map(|character| {
            let is_special = character.is_ascii_punctuation() && character != '-';
            is_special.then_some('\\').into_iter().chain([character])
        })
        .collect();
    Some((format!("[{negation}{escaped}]"), &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // Each was checked with Python's fnmatch.fnmatchcase.
    #[rstest]
    #[case("*.safetensors", "model-00001-of-00002.safetensors", true)]
    #[case("*.safetensors", "original/model.safetensors", true)]
    #[case("*.json", "config.JSON", false)]
    #[case("original/*", "original/a/b", true)]
    #[case("original/", "original/a/b", true)]
    #[case("original", "original/a", false)]
    #[case("model-0000?-of-*", "model-00001-of-00002.safetensors", true)]
    #[case("model-0000[12]*", "model-00003-of-4", false)]
    #[case("model-0000[!12]*", "model-00003-of-4", true)]
    #[case("[a-c]x", "bx", true)]
    #[case("[a-c]x", "dx", false)]
    #[case("[]]", "]", true)]
    #[case("[!]]", "]", false)]
    #[case("[abc", "[abc", true)]
    #[case("a[-]b", "a-b", true)]
    #[case("[z-a]", "z", false)]
    #[case("", "", true)]
    #[case("*", "", true)]
    #[case("a*b*c", "aXbYbZc", true)]
    #[case("a*b*c", "aXbYbZ", false)]
    #[case("a.b", "axb", false)]
    fn patterns_match_like_python_fnmatch(
        #[case] pattern: &str,
        #[case] path: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(matches_pattern(pattern, path), expected);
    }

    #[test]
    fn allow_and_ignore() {
        let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        assert!(is_selected("a.json", &[], &[]));
        assert!(is_selected("a.json", &list(&["*.txt", "*.json"]), &[]));
        assert!(!is_selected("a.json", &list(&["*.txt"]), &[]));
        assert!(!is_selected("a.json", &list(&["*.json"]), &list(&["a*"])));
    }
}
