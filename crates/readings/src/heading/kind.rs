//! The kind of a heading: expressions for the others like it.

use itertools::Itertools as _;
use regex_syntax::escape;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Any number, with separators.
const NUMBER: &str = r"[0-9]+(?:[.,_][0-9]+)*";

/// An expression for headings of a kind.
pub struct HeadingKind {
    pub expression: String,
    /// Whether any text may stand between marks, so that lines of a log look alike.
    pub is_any_text: bool,
}

/// Returns expressions for every heading of a kind; none where it has only the one.
pub fn heading_kinds(expression: &str) -> Vec<HeadingKind> {
    let Ok(parsed) = regex_syntax::parse(expression) else {
        return Vec::new();
    };
    let own = rewrite_literals(&parsed, &escape);
    let mut kinds = Vec::new();
    let mut add = |expression: String, is_any_text| {
        if expression != own {
            kinds.push(HeadingKind { expression, is_any_text });
        }
    };
    add(rewrite_literals(&parsed, &generalize_numbers_and_quotes), false);
    add(rewrite_literals(&parsed, &generalize_values), false);
    let parts = match parsed.kind() {
        HirKind::Concat(parts) => &parts[..],
        _ => std::slice::from_ref(&parsed),
    };
    let is_literal = |part: &Hir| matches!(part.kind(), HirKind::Literal(_));
    let Some(last) = parts.iter().rposition(is_literal) else {
        return kinds;
    };
    let HirKind::Literal(literal) = parts[last].kind() else {
        return kinds;
    };
    let Ok(text) = std::str::from_utf8(&literal.0) else {
        return kinds;
    };
    let pieces = |text: &str| {
        let pieces = parts
            .iter()
            .enumerate()
            .map(|(at, part)| if at == last { text.to_owned() } else { part.to_string() });
        pieces.collect::<String>()
    };
    if !has_number_of_its_own(text)
        && let Some((text, is_any_text)) = generalize_text(text)
    {
        add(pieces(&text), is_any_text);
    }
    let look = |part: Option<&Hir>, look: Look| {
        part.is_some_and(|part| matches!(part.kind(), HirKind::Look(found) if *found == look))
    };
    let is_anchored = last == 1 && look(parts.first(), Look::Start);
    let ends = look(parts.get(last + 1), Look::End);
    if is_anchored && let Some(text) = generalize_first_word(text, ends) {
        add(pieces(&text), false);
    }
    kinds
}

/// Returns the expression with each literal text rewritten.
fn rewrite_literals(expression: &Hir, rewrite: &dyn Fn(&str) -> String) -> String {
    match expression.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => rewrite(text),
            Err(_) => expression.to_string(),
        },
        HirKind::Capture(capture) => format!("(?:{})", rewrite_literals(&capture.sub, rewrite)),
        HirKind::Repetition(repetition) => {
            let (min, max) = (repetition.min, repetition.max);
            let max_text = max.map_or(String::new(), |max| max.to_string());
            let lazy = if repetition.greedy { "" } else { "?" };
            let sub = rewrite_literals(&repetition.sub, rewrite);
            format!("(?:{sub}){{{min},{max_text}}}{lazy}")
        }
        HirKind::Concat(parts) => {
            parts.iter().map(|part| rewrite_literals(part, rewrite)).collect()
        }
        HirKind::Alternation(branches) => {
            let rewritten_branches =
                branches.iter().map(|branch| rewrite_literals(branch, rewrite));
            format!("(?:{})", rewritten_branches.collect_vec().join("|"))
        }
        _ => expression.to_string(),
    }
}

/// Returns a text, escaped, with any number and any quoted text in place of its own.
fn generalize_numbers_and_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'').then(|| rest[1..].find(first)).flatten();
        if let Some(length) = quoted {
            out.extend([first, '[', '^', first, ']', '*', first]);
            rest = &rest[length + 2..];
        } else if first.is_ascii_digit() {
            let digits = |text: &str| {
                text.len() - text.trim_start_matches(|one: char| one.is_ascii_digit()).len()
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

/// Returns a text, escaped, with any value for each of its names: `model=llama tp=8`, `--model llama --tp 8`,
/// `clients: 32`.
fn generalize_values(text: &str) -> String {
    let mut out = String::new();
    let mut is_value = false;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end();
        let space = &word[bare.len()..];
        let assigned = bare
            .split_once('=')
            .filter(|(name, value)| !name.is_empty() && !value.is_empty() && has_words(value));
        match assigned {
            _ if is_value && has_words(bare) && !bare.starts_with('-') => out.push_str(r"\S+"),
            Some((name, _)) => out.extend([&escape(name), r"=\S+"]),
            None => out.push_str(&escape(bare)),
        }
        out.push_str(space);
        is_value = bare.ends_with(':') || bare.starts_with("--") && !bare.contains('=');
    }
    out
}

/// Returns whether a text has a number that is no part of a name: `batch 8`, but not `bf16` or `llama-3`.
fn has_number_of_its_own(text: &str) -> bool {
    let words = text.split(|letter: char| letter.is_whitespace() || "=:,()[]".contains(letter));
    let mut nonempty_words = words.filter(|word| !word.is_empty());
    nonempty_words.any(|word| word.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

/// Returns a text, escaped, with any text behind its last separator, or between its marks; and whether it is
/// between marks.
fn generalize_text(text: &str) -> Option<(String, bool)> {
    if let Some(at) = text.rfind([':', '=']).filter(|at| has_words(&text[at + 1..])) {
        let (name, value) = text.split_at(at + 1);
        let space = &value[..value.len() - value.trim_start().len()];
        let is_level = super::is_log_line(name);
        let any = format!(r"{}{}\S.*?", escape(name), escape(space));
        return (!is_level).then_some((any, false));
    }
    let begin = text.find(char::is_alphanumeric)?;
    let end = text.rfind(char::is_alphanumeric)? + 1;
    let (marks, closing) = (&text[..begin], text.get(end..)?);
    let mut letters = marks.trim_start().chars();
    let (first, second) = (letters.next()?, letters.next());
    let is_marked = first == '[' || (!first.is_whitespace() && second == Some(first));
    // Of one kind are `[Offline]` and `[Server]`, but not `[rank0]`.
    let letter = match text[begin..].chars().next()? {
        first if first.is_uppercase() => r"[\p{Lu}\d]",
        _ if marks.trim_start().starts_with('#') => r"\w",
        first if first.is_lowercase() => r"[\p{Ll}\d]",
        _ => r"\w",
    };
    is_marked.then(|| {
        let any = format!("{}{letter}.*?{}", escape(marks), escape(closing));
        (any, true)
    })
}

/// Returns a text, escaped, with any word in place of its first: `Offline (8 GPUs)`, `Server:`, or a line of
/// one word.
fn generalize_first_word(text: &str, ends: bool) -> Option<String> {
    let length = text.find(|letter: char| !letter.is_alphanumeric());
    let (word, rest) = text.split_at(length.unwrap_or(text.len()));
    word.starts_with(char::is_uppercase).then_some(())?;
    match rest {
        "" if ends => Some(r"\p{Lu}\w*".to_owned()),
        ":" => Some(r"\p{Lu}\w*:\s*$".to_owned()),
        _ if rest.starts_with(" (") => {
            Some(format!(r"\p{{Lu}}\w*{}", generalize_numbers_and_quotes(rest)))
        }
        _ => None,
    }
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use crate::bounded::BoundedRegex;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_expression_is_of_its_own_kind(text in "[-A-Za-z0-9:='\" \\[\\]#]{1,20}") {
            let expression = regex_syntax::escape(&text);
            for kind in heading_kinds(&expression) {
                let kind = kind.expression;
                prop_assert!(BoundedRegex::new(&kind).unwrap().start_search().is_match(&text), "{kind}");
            }
        }
    }
}
