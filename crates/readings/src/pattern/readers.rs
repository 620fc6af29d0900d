//! Named readers within a pattern: `${number}` stands for a number however it is printed.

use std::borrow::Cow;

use regex_syntax::ast::{Ast, GroupKind, parse::Parser};

/// Reasons why a named reader cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// No reader has this name.
    #[error("unknown reader `${{{name}}}`; `${{number}}` reads a number")]
    Unknown {
        /// The name between `${` and `}`.
        name: String,
    },
    /// The figure may be any of several.
    #[error("several `${{number}}`; write the figure's as `(?<value>${{number}})`")]
    Several,
}

/// A sign, digits that may be in groups of three, a fraction, an exponent, and a suffix with its factor, whatever the flags
/// of the pattern around it.
const NUMBER: &str = concat!(
    r"(?-ixU:[-+−]?(?:(?:[0-9]{1,3}(?:[,_'’\u{a0}\u{2007}\u{2009}\u{202f}][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)",
    r"(?:[eE][-+−]?[0-9]+|[ \u{a0}]?[×x*·][ \u{a0}]?10\^[-+−]?[0-9]+)?",
    r"(?:[ \u{a0}]?[kKMGTP]\b)?)"
);
/// The same between commas that the pattern has, which are none of the number.
const NUMBER_IN_COMMAS: &str = concat!(
    r"(?-ixU:[-+−]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)",
    r"(?:[eE][-+−]?[0-9]+|[ \u{a0}]?[×x*·][ \u{a0}]?10\^[-+−]?[0-9]+)?",
    r"(?:[ \u{a0}]?[kKMGTP]\b)?)"
);
/// A number does not begin within a word: that of `p99`.
const WORD_BEGIN: &str = r"(?-u:\b{start-half})";

/// Returns whether an expression ends with a letter or digit that it spells out, or with a class of them.
fn follows_word(expression: &str) -> bool {
    let mut last = expression.chars().rev();
    last.next().is_some_and(|last| last.is_alphanumeric() || last == '_')
        && last.next() != Some('\\')
}

/// Returns the regular expression of a pattern: each `${number}` replaced by what it stands for. The
/// only one of a pattern that has no group `value` is that group.
///
/// # Errors
/// [`ReaderError`]: another name, or several of which none is said to be the figure.
pub fn expand_readers(pattern: &str) -> Result<Cow<'_, str>, ReaderError> {
    let places = find_readers(pattern);
    if places.is_empty() {
        return Ok(Cow::Borrowed(pattern));
    }
    let unknown = places.iter().find(|(_, name)| *name != "number");
    if let Some((_, name)) = unknown {
        return Err(ReaderError::Unknown { name: (*name).to_owned() });
    }
    let has_value = pattern.contains("(?<value>") || pattern.contains("(?P<value>");
    if places.len() > 1 && !has_value {
        return Err(ReaderError::Several);
    }
    let mut expression = String::with_capacity(pattern.len() + NUMBER.len());
    let mut done = 0;
    for (at, name) in places {
        expression.push_str(&pattern[done..at]);
        done = at + "${}".len() + name.len();
        let begin = if follows_word(&expression) { "" } else { WORD_BEGIN };
        let (open, close) = if has_value { ("", "") } else { ("(?<value>", ")") };
        let is_in_commas = expression.ends_with(',') || pattern[done..].starts_with(',');
        let number = if is_in_commas { NUMBER_IN_COMMAS } else { NUMBER };
        expression.extend([begin, open, number, close]);
    }
    expression.push_str(&pattern[done..]);
    Ok(Cow::Owned(expression))
}

/// Returns the named readers of a text and their places. `$` before `{3}` is an anchor, `\$` a character.
pub fn find_readers(pattern: &str) -> Vec<(usize, &str)> {
    let mut places = Vec::new();
    for (at, _) in pattern.match_indices("${") {
        let before = &pattern[..at];
        let escapes = before.len() - before.trim_end_matches('\\').len();
        let Some((name, _)) = pattern[at + 2..].split_once('}') else {
            continue;
        };
        let is_name = name.starts_with(|letter: char| letter.is_alphabetic())
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if is_name && escapes.is_multiple_of(2) {
            places.push((at, name));
        }
    }
    places
}

/// Returns the pattern with `${number}` in place of its group of this index; none where it has no such
/// group.
pub(super) fn replace_group_with_number(pattern: &str, group: usize) -> Option<String> {
    let (begin, end) = match find_readers(pattern)[..] {
        [] if group == 0 => return None,
        [] => span_of_group(&Parser::new().parse(pattern).ok()?, group)?,
        [(at, name)] if !pattern.contains("<value>") => (at, at + "${}".len() + name.len()),
        _ => return None,
    };
    Some(format!("{}${{number}}{}", &pattern[..begin], &pattern[end..]))
}

/// Returns the pattern with `${number}` and a group for the unit in place of its group of this index.
pub(super) fn replace_group_with_number_and_unit(pattern: &str, group: usize) -> Option<String> {
    let with_number = replace_group_with_number(pattern, group)?;
    let (before, after) = with_number.split_once("${number}")?;
    let with_unit = format!(r"{before}${{number}}\s*(?<unit>\S+){after}");
    (!pattern.contains("<unit>")).then_some(with_unit)
}

fn span_of_group(part: &Ast, group: usize) -> Option<(usize, usize)> {
    let inner = match part {
        Ast::Group(found) => {
            let index = match &found.kind {
                GroupKind::CaptureIndex(index) => Some(*index),
                GroupKind::CaptureName { name, .. } => Some(name.index),
                GroupKind::NonCapturing(_) => None,
            };
            if index.is_some_and(|index| index as usize == group) {
                return Some((found.span.start.offset, found.span.end.offset));
            }
            std::slice::from_ref(&*found.ast)
        }
        Ast::Repetition(repetition) => std::slice::from_ref(&*repetition.ast),
        Ast::Alternation(alternation) => &alternation.asts[..],
        Ast::Concat(concat) => &concat.asts[..],
        _ => return None,
    };
    inner.iter().find_map(|part| span_of_group(part, group))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unknown("speed: ${numbr}", Some("numbr"))]
    #[case::anchor("${3}", None)]
    #[case::escaped(r"cost: \${number}", None)]
    #[case::unclosed("speed: ${number", None)]
    #[case::number("speed: ${number}", None)]
    fn only_known_readers_are_read(#[case] pattern: &str, #[case] unknown: Option<&str>) {
        let found = match expand_readers(pattern) {
            Err(ReaderError::Unknown { name, .. }) => Some(name),
            _ => None,
        };
        assert_eq!(found.as_deref(), unknown);
    }

    #[test]
    fn one_of_two_numbers_must_be_named() {
        let two = expand_readers("${number} GPUs: ${number} tokens/s");
        assert!(matches!(two, Err(ReaderError::Several)));
        assert!(expand_readers("${number} GPUs: (?<value>${number}) tokens/s").is_ok());
    }

    #[rstest]
    #[case("speed: ([0-9.]+) items", 1, "speed: ${number} items")]
    #[case(r"(?<n>\d+) (?<value>[\d.(]+)$", 2, r"(?<n>\d+) ${number}$")]
    #[case("(?:a|b (c))+", 1, "(?:a|b ${number})+")]
    fn a_group_is_replaced(#[case] pattern: &str, #[case] group: usize, #[case] expected: &str) {
        assert_eq!(replace_group_with_number(pattern, group).as_deref(), Some(expected));
    }
}
