//! OpenSSH's lists of patterns (`ssh_config(5)`, "PATTERNS").

/// A pattern of as many bytes makes OpenSSH take the whole list for one that does not match.
const MAX_PATTERN_BYTES: usize = 1023;

/// Returns whether a list of patterns matches: at least one matches, and none that begins with `!` does. Nothing
/// follows a comma at its end.
pub fn matches_list(list: &[u8], text: &[u8]) -> bool {
    let mut found = false;
    let mut rest = list;
    while !rest.is_empty() {
        let negated = rest.strip_prefix(b"!");
        let begin = negated.unwrap_or(rest);
        let end = begin.iter().position(|byte| *byte == b',');
        let pattern = &begin[..end.unwrap_or(begin.len())];
        if pattern.len() >= MAX_PATTERN_BYTES {
            return false;
        }
        rest = end.map_or(&[][..], |end| &begin[end + 1..]);
        match (matches_pattern(pattern, text), negated) {
            (true, Some(_)) => return false,
            (true, None) => found = true,
            (false, _) => {}
        }
    }
    found
}

/// Matches a pattern: `*` matches any number of characters, `?` exactly one.
fn matches_pattern(pattern: &[u8], text: &[u8]) -> bool {
    // The latest star, and the end of the text that it matches.
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((star_at, until)) => {
                    star = Some((star_at, until + 1));
                    at = star_at + 1;
                    read = until + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a*c", "abc", true)]
    #[case("a*c", "abcd", false)]
    #[case("*a*b", "xxaxxbxb", true)]
    #[case("a?c", "ac", false)]
    #[case("", "", true)]
    #[case("*", "", true)]
    fn patterns_match_as_in_openssh(
        #[case] pattern: &str,
        #[case] text: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(matches_pattern(pattern.as_bytes(), text.as_bytes()), expected);
    }
}
