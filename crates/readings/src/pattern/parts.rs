//! The parts of a pattern around its number: the figure's name, and what is spelled out next to the number.
//!
//! The name ends with the last word that the pattern states before its number. Without one, what stands behind the
//! number is the name; of a table without either, the entry is. A line that has the name is a record of the figure.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::lexer::Spelled;

/// A class of so few characters is a letter in both cases, or a choice of separators.
const MAX_SMALL_CLASS_CHARS: usize = 6;
/// The name does not end within a word.
const WORD_END: &str = r"(?-u:\b{end-half})";

/// The parts of an expression before, in and behind one of its groups, on the way that goes through it.
#[derive(Debug, Clone)]
pub struct PatternParts {
    before: Vec<Hir>,
    group: Hir,
    after: Vec<Hir>,
    /// The number of parts up to the end of the name, if that is before the number.
    name: Option<usize>,
}

impl PatternParts {
    /// Returns the parts around the group of this index; none if it is not in the expression.
    pub fn around_group(expression: &str, group: usize) -> Option<Self> {
        let parsed = regex_syntax::parse(expression).ok()?;
        let (before, group, after) = split_around_group(&parsed, u32::try_from(group).ok()?)?;
        let name = before.iter().rposition(has_word).map(|last| last + 1);
        Some(Self { before, group, after, name })
    }

    /// Returns an expression for lines that have the figure's name, what each of them contains, and whether only a
    /// table's entry names the figure. The name of a table's figure has all of its entries' groups.
    pub fn name_expression(&self, is_table: bool) -> Option<(String, Hir, bool)> {
        let is_entry = is_table && self.name.is_none() && !self.before.is_empty();
        if self.name.is_none() && !is_entry {
            let behind = Hir::concat(self.after.clone());
            return self.has_word_behind().then(|| (behind.to_string(), behind, false));
        }
        let end = self.name.filter(|_| !is_table).unwrap_or(self.before.len());
        let mut parts = self.before[..end].to_vec();
        while parts.last().is_some_and(is_space_repeated) {
            parts.pop();
        }
        let (last, ends_in_word) = trim_end(&parts.pop()?);
        parts.push(last);
        let name = Hir::concat(parts);
        let boundary = if ends_in_word && !is_table { WORD_END } else { "" };
        let required = if is_entry { Hir::empty() } else { name.clone() };
        Some((format!("{name}{boundary}"), required, is_entry))
    }

    /// Returns whether the name stands before the number.
    pub fn is_named_before(&self) -> bool {
        self.name.is_some()
    }

    pub fn has_word_behind(&self) -> bool {
        self.after.iter().any(has_word)
    }

    /// Returns an expression for any number in the place of the group, with what precedes it.
    pub fn place_expression(&self, number: &str) -> String {
        format!("{}{number}", Hir::concat(self.before.clone()))
    }

    /// Returns the expression with a group for what lies between name and number, if a wildcard may skip anything there;
    /// what a word behind the number identifies may skip anything.
    pub fn gap_expression(&self, gap: &str) -> Option<String> {
        let end = self.name.filter(|_| !self.has_word_behind())?;
        let between = &self.before[end..];
        let is_open = has_open_wildcard(between);
        is_open.then(|| {
            let concat = |parts: &[Hir]| Hir::concat(parts.to_vec());
            let (name, after) = (concat(&self.before[..end]), concat(&self.after));
            format!("{name}(?<{gap}>{}){}{after}", concat(between), self.group)
        })
    }

    /// Returns what the expression spells out on either side of the number: literals, and white space as one space.
    pub fn spelled(&self) -> Spelled {
        let mut before = Vec::new();
        for part in self.before.iter().rev() {
            let Some(text) = spelled_text(part) else {
                before.extend(last_literal(part));
                break;
            };
            before.push(text);
        }
        let before = before.into_iter().rev().collect();
        let behind = self.after.iter().map_while(spelled_text).collect();
        Spelled { before, behind }
    }

    /// Returns whether a word that is not spelled out right behind the number identifies the line, too.
    pub fn has_later_word(&self) -> bool {
        let rest = self.after.iter().skip_while(|part| spelled_text(part).is_some());
        rest.into_iter().any(has_word)
    }

    /// Returns what the expression spells out behind the number, up to the last whole word.
    pub fn words_behind(&self) -> String {
        let mut text = self.spelled().behind;
        if self.after.iter().any(|part| spelled_text(part).is_none()) {
            text.truncate(text.trim_end_matches(|letter: char| !letter.is_whitespace()).len());
        }
        text
    }
}

fn split_around_group(expression: &Hir, group: u32) -> Option<(Vec<Hir>, Hir, Vec<Hir>)> {
    match expression.kind() {
        HirKind::Capture(capture) if capture.index == group => {
            Some((Vec::new(), expression.clone(), Vec::new()))
        }
        HirKind::Capture(capture) => split_around_group(&capture.sub, group),
        HirKind::Repetition(repetition) => split_around_group(&repetition.sub, group),
        HirKind::Alternation(branches) => {
            branches.iter().find_map(|branch| split_around_group(branch, group))
        }
        HirKind::Concat(parts) => {
            let mut tried = parts.iter().map(|part| split_around_group(part, group)).enumerate();
            let (at, inner) = tried.find_map(|(at, inner)| Some((at, inner?)))?;
            let before = parts[..at].iter().cloned().chain(inner.0);
            let after = inner.2.into_iter().chain(parts[at + 1..].iter().cloned());
            Some((before.collect(), inner.1, after.collect()))
        }
        _ => None,
    }
}

/// Returns whether every match has a letter or digit that is stated.
fn has_word(expression: &Hir) -> bool {
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

fn small_class_characters(class: &Class) -> Option<Vec<char>> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let ranges = class.ranges().iter();
    let class_characters = ranges.flat_map(|range| range.start()..=range.end());
    let all: Vec<char> = class_characters.take(MAX_SMALL_CLASS_CHARS + 1).collect();
    (all.len() <= MAX_SMALL_CLASS_CHARS).then_some(all)
}

/// Returns a part without white space at its end, and whether it ends with a letter or a digit.
fn trim_end(part: &Hir) -> (Hir, bool) {
    let HirKind::Literal(literal) = part.kind() else {
        return (part.clone(), true);
    };
    let text = String::from_utf8_lossy(&literal.0).into_owned();
    let trimmed = text.trim_end();
    (Hir::literal(trimmed.as_bytes()), trimmed.ends_with(|last: char| last.is_ascii_alphanumeric()))
}

/// Returns whether one of several parts is a wildcard that no mark ends.
fn has_open_wildcard(parts: &[Hir]) -> bool {
    parts.iter().enumerate().any(|(at, part)| {
        is_wildcard(part) && !parts.get(at + 1).is_some_and(|next| ends_field(part, next))
    })
}

/// Returns whether a part repeats a class that has letters as well as white space.
fn is_wildcard(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Repetition(repetition) if repetition.max.is_none_or(|max| max > 1) => {
            matches_any(&repetition.sub)
        }
        HirKind::Capture(capture) => is_wildcard(&capture.sub),
        HirKind::Concat(parts) => has_open_wildcard(parts),
        HirKind::Alternation(parts) => parts.iter().any(is_wildcard),
        _ => false,
    }
}

fn matches_any(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Class(class) => [' ', 'e'].into_iter().all(|letter| class_has(class, letter)),
        HirKind::Capture(capture) => matches_any(&capture.sub),
        HirKind::Alternation(parts) => parts.iter().any(matches_any),
        _ => is_wildcard(part),
    }
}

fn class_has(class: &Class, letter: char) -> bool {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&letter))
        }
        Class::Bytes(class) => class.ranges().iter().any(|range| {
            (range.start()..=range.end()).contains(&u8::try_from(letter).unwrap_or_default())
        }),
    }
}

/// Returns whether a part is a field, which the mark behind it ends: `[^,]*` before `,`, anything before a closing bracket.
/// What parts a name from its value ends none.
fn ends_field(part: &Hir, next: &Hir) -> bool {
    let class = match part.kind() {
        HirKind::Repetition(repetition) => repetition.sub.kind(),
        _ => return false,
    };
    let HirKind::Literal(literal) = next.kind() else {
        return false;
    };
    let mark = String::from_utf8_lossy(&literal.0).chars().next();
    mark.is_some_and(|mark| {
        matches!(mark, ')' | ']' | '}')
            || !matches!(mark, ':' | '=' | ' ')
                && matches!(class, HirKind::Class(class) if !class_has(class, mark))
    })
}

/// Returns the literal with which every match of a part ends.
fn last_literal(part: &Hir) -> Option<String> {
    match part.kind() {
        HirKind::Literal(literal) => Some(String::from_utf8_lossy(&literal.0).into_owned()),
        HirKind::Capture(capture) => last_literal(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => last_literal(&repetition.sub),
        HirKind::Concat(parts) => last_literal(parts.last()?),
        _ => None,
    }
}

/// Returns the text of a part that is spelled out; white space is one space.
fn spelled_text(part: &Hir) -> Option<String> {
    match part.kind() {
        HirKind::Literal(literal) => Some(String::from_utf8_lossy(&literal.0).into_owned()),
        HirKind::Empty | HirKind::Look(_) => Some(String::new()),
        HirKind::Capture(capture) => spelled_text(&capture.sub),
        HirKind::Class(class) => is_space(part).then(|| " ".to_owned()).or_else(|| {
            match &small_class_characters(class)?[..] {
                // A letter in both cases.
                [one, other] if one.to_lowercase().eq(other.to_lowercase()) => {
                    Some(one.to_string())
                }
                _ => None,
            }
        }),
        HirKind::Repetition(repetition) if is_space(&repetition.sub) => {
            Some(if repetition.min > 0 { " " } else { "" }.to_owned())
        }
        HirKind::Concat(parts) => parts.iter().map(spelled_text).collect(),
        _ => None,
    }
}

fn is_space_repeated(part: &Hir) -> bool {
    matches!(part.kind(), HirKind::Repetition(repetition) if is_space(&repetition.sub))
}

fn is_space(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .all(|range| range.start().is_whitespace() && range.end().is_whitespace()),
        HirKind::Literal(literal) => literal.0.trim_ascii().is_empty(),
        HirKind::Capture(capture) => is_space(&capture.sub),
        _ => false,
    }
}
