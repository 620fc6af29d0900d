//! A `JSONPath` (RFC 9535), read by `serde_json_path` without its panics.

pub use serde_json_path::JsonPath;

const MAX_PATH_BYTES: usize = 1000;
/// The most descents to any depth, `..`: each multiplies the nodes by the depth of a document.
const MAX_DESCENTS: usize = 2;

/// The reason why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// More bytes than are read.
    #[error("it has {bytes} bytes; the limit is {MAX_PATH_BYTES}")]
    TooLong {
        /// How long the path is, bytes; a path of a recipe is short.
        bytes: usize,
    },
    /// A string without its end.
    #[error("unclosed quote {0}")]
    UnclosedQuote(char),
    /// More descents than a search can afford.
    #[error("more than {MAX_DESCENTS} descents `..`")]
    Descents,
    /// A filter that searches the whole document for each node.
    #[error("a filter cannot begin at the root `$`; begin at `@`")]
    RootInFilter,
    /// A function that compiles a regular expression for each node.
    #[error("`{0}…)` is not supported; compare with `==`")]
    Function(&'static str),
    /// No path of RFC 9535.
    #[error("{reason}")]
    Syntax {
        /// Its parser's message, since its error cannot be compared.
        reason: String,
    },
}

/// Reads a path, in which nothing makes a search grow faster than a document: both may be untrusted.
///
/// # Errors
/// It is no path, or one that could make a search slow.
pub fn parse_json_path(text: &str) -> Result<JsonPath, JsonPathError> {
    if text.len() > MAX_PATH_BYTES {
        return Err(JsonPathError::TooLong { bytes: text.len() });
    }
    let mut plain = String::new();
    // The parser panics where the text ends within a string, after `\u`.
    let mut within: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (within, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(quote), _) if quote == letter => within = None,
            (None, '\'' | '"') => within = Some(letter),
            (None, _) => plain.push(letter),
            (Some(_), _) => {}
        }
    }
    if let Some(quote) = within {
        return Err(JsonPathError::UnclosedQuote(quote));
    }
    if plain.matches("..").count() > MAX_DESCENTS {
        return Err(JsonPathError::Descents);
    }
    if plain.matches('$').count() > 1 {
        return Err(JsonPathError::RootInFilter);
    }
    // Each would compile an expression for each node.
    if let Some(name) = ["match(", "search("].iter().find(|name| plain.contains(**name)) {
        return Err(JsonPathError::Function(name));
    }
    JsonPath::parse(text).map_err(|error| {
        let reason = error.to_string();
        JsonPathError::Syntax { reason }
    })
}

/// Returns the path to the nodes that have what a path selects as a member, and the member's name; none
/// where it selects by something else than a name.
pub fn split_last_member(text: &str) -> Option<(JsonPath, String)> {
    let (before, name) = match text.strip_suffix(']') {
        Some(rest) => {
            let quote = rest.chars().next_back().filter(|last| matches!(last, '\'' | '"'))?;
            rest.strip_suffix(quote)?.rsplit_once(&format!("[{quote}"))?
        }
        None => text.rsplit_once('.')?,
    };
    let is_quoted = text.ends_with(']');
    let is_name = !name.is_empty()
        && !name.contains(['[', ']', '\\', '\'', '"'])
        && (is_quoted || !name.contains(['*', '(', ')', '?']));
    let parent = parse_json_path(before).ok().filter(|_| is_name)?;
    Some((parent, name.to_owned()))
}

/// Returns the name of a path that selects the members of one name wherever they are.
pub fn descendant_member_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix("$..")?;
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::member("$.a.b", Some(("$.a", "b")))]
    #[case::in_brackets("$.runs[*]['time to train']", Some(("$.runs[*]", "time to train")))]
    #[case::root("$.rate", Some(("$", "rate")))]
    #[case::descendant("$..rate", None)]
    #[case::index("$.runs[1]", None)]
    #[case::wildcard("$.runs.*", None)]
    #[case::filter("$.runs[?@.name == 'a']", None)]
    fn the_parent_of_a_member_is_known(#[case] text: &str, #[case] expected: Option<(&str, &str)>) {
        let actual = split_last_member(text).map(|(path, name)| (path.to_string(), name));
        let expected = expected
            .map(|(path, name)| (parse_json_path(path).unwrap().to_string(), name.to_owned()));
        assert_eq!(actual, expected);
    }

    #[rstest]
    #[case::member("$.a['it is \\'quoted\\'']", None)]
    #[case::other_quote(r#"$["it's"]"#, None)]
    #[case::ends_in_a_string(r#"$["\u"#, Some("unclosed quote \""))]
    #[case::ends_in_an_escape(r"$['\", Some("unclosed quote '"))]
    #[case::descents("$..a..b", None)]
    #[case::more_descents("$..*..*..*", Some("more than 2 descents `..`"))]
    #[case::dots_in_a_name("$..a['x...y..z']", None)]
    #[case::filter("$.runs[?@.name == '$']", None)]
    #[case::from_the_root(
        "$[?@.a == $..b]",
        Some("a filter cannot begin at the root `$`; begin at `@`")
    )]
    #[case::expression(
        "$[?search(@.a, 'b')]",
        Some("`search(…)` is not supported; compare with `==`")
    )]
    fn invalid_paths_are_refused(#[case] text: &str, #[case] reason: Option<&str>) {
        let error = parse_json_path(text).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), reason);
    }
}
