//! Blocks of an output: from a heading to the next of its kind.
//!
//! A heading is recognised by the recipe's expression (`below:`). Its block ends with the next line
//! that is a heading of the same kind, and the kind is derived from the expression: its numbers and
//! quoted texts stand for any (`users: 32$` for `users: 64`). In an expression without them the text
//! behind its last `:` or `=` does (`scenario: Offline`), or the text between marks (`=== Offline ===`).
//! With `until:`, only its lines end the block.

use itertools::Itertools as _;
use regex_syntax::hir::{Hir, HirKind};

use super::bounded::{BoundedRegex, Search};

/// Any number, with separators.
const NUMBER: &str = r"[0-9]+(?:[.,_][0-9]+)*";

/// A heading and the ends of its block.
#[derive(Debug, Clone)]
pub struct Heading {
    own: BoundedRegex,
    /// Whether the recipe states them.
    stated: bool,
    ends: Vec<BoundedRegex>,
}

impl Heading {
    /// A heading whose block ends with the next of its kind.
    pub fn new(own: BoundedRegex) -> Self {
        let kind = kind(own.as_str()).and_then(|kind| BoundedRegex::new(&kind).ok());
        Self {
            own,
            stated: false,
            ends: kind.into_iter().collect(),
        }
    }

    /// Ends the block with the lines that match this only.
    pub fn until(&mut self, end: BoundedRegex) {
        self.stated = true;
        self.ends = vec![end];
    }

    /// Ends the block with another heading, too, if it is of the same shape.
    pub fn end_with(&mut self, other: BoundedRegex) {
        if !self.stated && shape(other.as_str()) == shape(self.own.as_str()) {
            self.ends.push(other);
        }
    }

    /// Returns the heading's expression.
    pub fn expression(&self) -> &str {
        self.own.as_str()
    }

    /// A search of one text for the heading and the ends of its blocks.
    pub fn search(&self) -> HeadingSearch<'_> {
        HeadingSearch {
            own: self.own.search(),
            ends: self.ends.iter().map(BoundedRegex::search).collect(),
        }
    }
}

/// The search of one text for a heading and the ends of its blocks.
#[derive(Debug, Clone)]
pub struct HeadingSearch<'a> {
    own: Search<'a>,
    ends: Vec<Search<'a>>,
}

impl HeadingSearch<'_> {
    /// Returns the identity of a line that is the heading: the line without the numbers around the heading, such as
    /// times, the same for each repetition of a block.
    pub fn identity(&mut self, line: &str) -> Option<String> {
        let own = self.own.find(line)?;
        let around = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "0");
        let (before, after) = (&line[..own.start], &line[own.end..]);
        Some(format!("{}{}{}", around(before), &line[own], around(after)))
    }

    /// Returns whether a line that is not the heading ends its block.
    pub fn ends_at(&mut self, line: &str) -> bool {
        self.ends.iter_mut().any(|end| end.is_match(line))
    }

    /// The searches of its expressions.
    pub fn searches(&self) -> impl Iterator<Item = &Search<'_>> {
        std::iter::once(&self.own).chain(&self.ends)
    }
}

/// An expression for every heading of a kind; none where it has only the one.
fn kind(expression: &str) -> Option<String> {
    let parsed = regex_syntax::parse(expression).ok()?;
    let own = parsed.to_string();
    let by_number = rewritten(&parsed, &numbers_and_quotes);
    if by_number != rewritten(&parsed, &regex_syntax::escape) {
        return Some(by_number);
    }
    let parts = match parsed.kind() {
        HirKind::Concat(parts) => &parts[..],
        _ => std::slice::from_ref(&parsed),
    };
    let last = parts
        .iter()
        .rposition(|part| matches!(part.kind(), HirKind::Literal(_)))?;
    let HirKind::Literal(literal) = parts[last].kind() else {
        return None;
    };
    let text = text_generalised(std::str::from_utf8(&literal.0).ok()?)?;
    let pieces = parts.iter().enumerate().map(|(at, part)| {
        if at == last {
            text.clone()
        } else {
            part.to_string()
        }
    });
    let kind = pieces.collect::<String>();
    (kind != own).then_some(kind)
}

/// The expression with each literal text rewritten.
fn rewritten(expression: &Hir, rewrite: &dyn Fn(&str) -> String) -> String {
    match expression.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => rewrite(text),
            Err(_) => expression.to_string(),
        },
        HirKind::Capture(capture) => format!("(?:{})", rewritten(&capture.sub, rewrite)),
        HirKind::Repetition(repetition) => {
            let (min, max) = (repetition.min, repetition.max);
            let max = max.map_or(String::new(), |max| max.to_string());
            let lazy = if repetition.greedy { "" } else { "?" };
            let sub = rewritten(&repetition.sub, rewrite);
            format!("(?:{sub}){{{min},{max}}}{lazy}")
        }
        HirKind::Concat(parts) => parts.iter().map(|part| rewritten(part, rewrite)).collect(),
        HirKind::Alternation(branches) => {
            let branches = branches.iter().map(|branch| rewritten(branch, rewrite));
            format!("(?:{})", branches.collect_vec().join("|"))
        }
        _ => expression.to_string(),
    }
}

/// A text, escaped, with any number and any quoted text in place of its own.
fn numbers_and_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'')
            .then(|| rest[1..].find(first))
            .flatten();
        if let Some(length) = quoted {
            out.extend([first, '[', '^', first, ']', '*', first]);
            rest = &rest[length + 2..];
        } else if first.is_ascii_digit() {
            let digits = |text: &str| {
                text.len()
                    - text
                        .trim_start_matches(|one: char| one.is_ascii_digit())
                        .len()
            };
            let mut length = digits(rest);
            while rest[length..].starts_with(['.', ',', '_']) && digits(&rest[length + 1..]) > 0 {
                length += 1 + digits(&rest[length + 1..]);
            }
            out.push_str(NUMBER);
            rest = &rest[length..];
        } else {
            out.push_str(&regex_syntax::escape(&rest[..first.len_utf8()]));
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// A text, escaped, with any text behind its last separator, or between its marks.
fn text_generalised(text: &str) -> Option<String> {
    let escape = regex_syntax::escape;
    if let Some(at) = text
        .rfind([':', '='])
        .filter(|at| has_words(&text[at + 1..]))
    {
        let (name, value) = text.split_at(at + 1);
        let space = &value[..value.len() - value.trim_start().len()];
        return Some(format!(r"{}{}\S.*?", escape(name), escape(space)));
    }
    let begin = text.find(char::is_alphanumeric)?;
    let end = text.rfind(char::is_alphanumeric)? + 1;
    let (marks, closing) = (&text[..begin], text.get(end..)?);
    let mut letters = marks.trim_start().chars();
    let (first, second) = (letters.next()?, letters.next());
    let is_marked = first == '[' || (!first.is_whitespace() && second == Some(first));
    is_marked.then(|| format!(r"{}\w.*?{}", escape(marks), escape(closing)))
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// An expression with each of its words and numbers as one letter.
fn shape(expression: &str) -> String {
    let mut shape = String::new();
    for letter in expression.chars() {
        if !letter.is_alphanumeric() {
            shape.push(letter);
        } else if !shape.ends_with('w') {
            shape.push('w');
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[derive(Debug, PartialEq)]
    enum Role {
        Heading,
        End,
        Content,
    }

    fn role_of(heading: &Heading, line: &str) -> Role {
        let mut search = heading.search();
        match (search.identity(line).is_some(), search.ends_at(line)) {
            (true, _) => Role::Heading,
            (false, true) => Role::End,
            (false, false) => Role::Content,
        }
    }

    #[rstest]
    #[case::number("clients: 32$", "clients: 64", Role::End)]
    #[case::own("clients: 32$", "clients: 32", Role::Heading)]
    #[case::longer_number("clients: 32$", "clients: 1,024", Role::End)]
    #[case::in_a_group("clients: (8|16)$", "clients: 32", Role::End)]
    #[case::one_of_a_group("clients: (8|16)$", "clients: 16", Role::Heading)]
    #[case::any_case("(?i)clients: 32$", "Clients: 64", Role::End)]
    #[case::quoted("model \"a\"", "model \"b c\"", Role::End)]
    #[case::after_a_separator("^scenario: Offline$", "scenario: Server", Role::End)]
    #[case::assigned("mode=fast", "mode=slow", Role::End)]
    #[case::between_marks("^=== Offline ===$", "=== Single stream ===", Role::End)]
    #[case::in_brackets(r"^\[Offline\]", "[Server]", Role::End)]
    #[case::other_kind("clients: 32$", "---- first token ----", Role::Content)]
    #[case::summary("^=== batch 8 ===$", "=== summary ===", Role::Content)]
    #[case::a_line_of_marks("^=== Offline ===$", "==================", Role::Content)]
    #[case::one_word("^Server", "Offline", Role::Content)]
    fn lines(#[case] heading: &str, #[case] line: &str, #[case] expected: Role) {
        let heading = Heading::new(BoundedRegex::new(heading).unwrap());
        assert_eq!(role_of(&heading, line), expected);
    }

    #[test]
    fn ends_can_be_stated() {
        let mut heading = Heading::new(BoundedRegex::new("clients: 32$").unwrap());
        heading.until(BoundedRegex::new("^done").unwrap());
        heading.end_with(BoundedRegex::new("clients: 64$").unwrap());
        assert_eq!(role_of(&heading, "clients: 64"), Role::Content);
        assert_eq!(role_of(&heading, "done"), Role::End);
    }

    #[test]
    fn headings_of_one_shape_end_each_other() {
        let mut heading = Heading::new(BoundedRegex::new("^Server$").unwrap());
        heading.end_with(BoundedRegex::new("^Offline$").unwrap());
        heading.end_with(BoundedRegex::new("^-- Offline").unwrap());
        assert_eq!(role_of(&heading, "Offline"), Role::End);
        assert_eq!(role_of(&heading, "-- Offline"), Role::Content);
    }

    proptest! {
        #[test]
        fn any_expression_is_of_its_own_kind(text in "[-A-Za-z0-9:='\" \\[\\]#]{1,20}") {
            let expression = regex_syntax::escape(&text);
            if let Some(kind) = kind(&expression) {
                prop_assert!(BoundedRegex::new(&kind).unwrap().search().is_match(&text), "{kind}");
            }
        }
    }
}
