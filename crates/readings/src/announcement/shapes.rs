//! The parts of a pattern around its number.

use itertools::Itertools as _;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::words::MISSING;

/// A class of so few characters is a letter in both cases, or a choice of separators.
const MAX_SMALL_CLASS_CHARS: usize = 6;
/// Words of a pattern that say that a measurement is valid.
const SUCCESS_WORDS: [&str; 7] =
    ["VALID", "Valid", "valid", "PASSED", "passed", "SUCCESS", "success"];

/// Returns the parts of an expression before and behind a group, on the way that goes through it.
pub fn split_around_group(expression: &Hir, group: u32) -> Option<(Vec<Hir>, Vec<Hir>)> {
    match expression.kind() {
        HirKind::Capture(capture) if capture.index == group => Some((Vec::new(), Vec::new())),
        HirKind::Capture(capture) => split_around_group(&capture.sub, group),
        HirKind::Repetition(repetition) => split_around_group(&repetition.sub, group),
        HirKind::Alternation(branches) => {
            branches.iter().find_map(|branch| split_around_group(branch, group))
        }
        HirKind::Concat(parts) => {
            let mut tried = parts.iter().map(|part| split_around_group(part, group)).enumerate();
            let (at, inner) = tried.find_map(|(at, inner)| Some((at, inner?)))?;
            let before = parts[..at].iter().cloned().chain(inner.0);
            let after = inner.1.into_iter().chain(parts[at + 1..].iter().cloned());
            Some((before.collect(), after.collect()))
        }
        _ => None,
    }
}

/// Returns whether every match has a letter or digit that is stated.
pub fn has_word(expression: &Hir) -> bool {
    match expression.kind() {
        HirKind::Literal(literal) => {
            String::from_utf8_lossy(&literal.0).chars().any(char::is_alphanumeric)
        }
        HirKind::Class(class) => small_class_characters(class)
            .is_some_and(|all| all.len() <= 3 && all.iter().all(|one| one.is_alphabetic())),
        HirKind::Capture(capture) => has_word(&capture.sub),
        HirKind::Repetition(repetition) => repetition.min > 0 && has_word(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().any(has_word),
        HirKind::Alternation(branches) => branches.iter().all(has_word),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

pub fn is_space(expression: &Hir) -> bool {
    match expression.kind() {
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .all(|range| range.start().is_whitespace() && range.end().is_whitespace()),
        HirKind::Literal(literal) => literal.0.trim_ascii().is_empty(),
        HirKind::Repetition(repetition) => is_space(&repetition.sub),
        HirKind::Capture(capture) => is_space(&capture.sub),
        _ => false,
    }
}

pub fn small_class_characters(class: &Class) -> Option<Vec<char>> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let ranges = class.ranges().iter();
    let class_characters = ranges.flat_map(|range| range.start()..=range.end());
    let all = class_characters.take(MAX_SMALL_CLASS_CHARS + 1).collect_vec();
    (all.len() <= MAX_SMALL_CLASS_CHARS).then_some(all)
}

/// Returns the expression of several parts, in which a word for a missing number may stand for each number.
pub fn allow_missing_numbers(parts: &[Hir]) -> String {
    let texts = parts.iter().map(|part| match part.kind() {
        HirKind::Repetition(repetition)
            if repetition.min > 0 && is_number_class(&repetition.sub) =>
        {
            format!("(?:{part}|{MISSING})")
        }
        _ => part.to_string(),
    });
    texts.collect()
}

/// Returns whether an expression matches only what numbers consist of, and digits.
fn is_number_class(expression: &Hir) -> bool {
    let HirKind::Class(Class::Unicode(class)) = expression.kind() else {
        return false;
    };
    let is_of_number = |letter: char| letter.is_numeric() || ".,+-eE".contains(letter);
    let ranges = class.ranges();
    ranges.iter().any(|range| range.start().is_numeric())
        && ranges.iter().all(|range| is_of_number(range.start()) && is_of_number(range.end()))
}

/// Returns the first word that the parts behind a number state.
pub fn first_word(after: &[Hir]) -> Option<String> {
    let first = after.iter().find(|part| !is_space(part))?;
    let HirKind::Literal(literal) = first.kind() else {
        return None;
    };
    let text = String::from_utf8_lossy(&literal.0).into_owned();
    text.split_whitespace().next().map(str::to_owned)
}

/// Returns the part of a pattern before a word that says that the measurement is valid.
pub fn text_before_success(before: &[Hir]) -> Option<Hir> {
    for (number, part) in before.iter().enumerate() {
        let HirKind::Literal(literal) = part.kind() else {
            continue;
        };
        let text = std::str::from_utf8(&literal.0).ok()?;
        let found = SUCCESS_WORDS
            .iter()
            .find_map(|word| text.find(word))
            .filter(|at| *at == 0 || text[..*at].ends_with(|last: char| !last.is_alphanumeric()));
        if let Some(at) = found {
            let mut parts = before[..number].to_vec();
            parts.push(Hir::literal(&text.as_bytes()[..at]));
            let begin = Hir::concat(parts);
            return has_word(&begin).then_some(begin);
        }
    }
    None
}
