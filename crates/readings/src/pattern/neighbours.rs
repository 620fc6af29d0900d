//! The parts of a pattern right before and right behind a group.
//!
//! The author of `^run,(\d+),` knows that a comma ends the number, that of `([0-9.]+).*` does not. So
//! only characters that the pattern spells out count; one that is optional, one of several, or in a
//! wide class may as well be a part of the number that was overlooked.

use regex_syntax::hir::{Class, Hir, HirKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighbourSide {
    /// The characters that stand before the captured number.
    Before,
    /// The characters that follow the captured number.
    Behind,
}

/// The parts of an expression around one of its groups, the nearest first.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    before: Vec<Hir>,
    behind: Vec<Hir>,
}

/// The match of a part of an expression with the character next to the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdjacentMatch {
    /// Always, and only this one.
    Exact,
    /// As one of several, or perhaps.
    Possible,
    /// Never, and it may match nothing: the part after it is the neighbour then.
    Skippable,
    /// Never: it requires another character.
    Never,
}

impl Neighbours {
    /// Finds what is around the group of this index.
    pub fn around_group(expression: &str, group: usize) -> Self {
        let mut neighbours = Self::default();
        if let Ok(parsed) = regex_syntax::parse(expression) {
            neighbours.collect_around(&parsed, group);
        }
        neighbours
    }

    /// Collects what is around the group; returns whether the group is in this part.
    fn collect_around(&mut self, part: &Hir, group: usize) -> bool {
        match part.kind() {
            HirKind::Capture(capture) if capture.index as usize == group => true,
            HirKind::Capture(capture) => self.collect_around(&capture.sub, group),
            HirKind::Repetition(repetition) => self.collect_around(&repetition.sub, group),
            HirKind::Alternation(parts) => {
                parts.iter().any(|part| self.collect_around(part, group))
            }
            HirKind::Concat(parts) => {
                let Some(at) = parts.iter().position(|part| self.collect_around(part, group))
                else {
                    return false;
                };
                self.before.extend(parts[..at].iter().rev().cloned());
                self.behind.extend(parts[at + 1..].iter().cloned());
                true
            }
            _ => false,
        }
    }

    /// Returns whether the pattern requires white space next to the group.
    pub fn requires_space(&self, side: NeighbourSide) -> bool {
        let mut parts = match side {
            NeighbourSide::Before => self.before.iter(),
            NeighbourSide::Behind => self.behind.iter(),
        };
        parts.find_map(|part| part_requires_space(part, side)) == Some(true)
    }

    /// Returns the literal text of the pattern behind the group, up to its last whole word; white space is a space.
    pub fn text_behind(&self) -> String {
        let mut text = String::new();
        for part in &self.behind {
            match part.kind() {
                HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
                HirKind::Empty | HirKind::Look(_) => {}
                _ if is_space(part) => text.push(' '),
                _ => {
                    let whole = text.trim_end_matches(|letter: char| !letter.is_whitespace());
                    return whole.to_owned();
                }
            }
        }
        text
    }

    /// Returns whether the pattern spells out this text, which is next to the group in a line.
    pub fn spells_out(&self, side: NeighbourSide, text: &str) -> bool {
        let parts = match side {
            NeighbourSide::Before => &self.before,
            NeighbourSide::Behind => &self.behind,
        };
        let mut letters: Vec<char> = text.chars().collect();
        if side == NeighbourSide::Before {
            letters.reverse();
        }
        let mut parts = &parts[..];
        // A space between a number and its suffix, which `\s*` matches as well.
        if letters.len() > 1 && letters[0].is_whitespace() {
            if let [first, rest @ ..] = parts
                && let HirKind::Literal(literal) = first.kind()
            {
                let literal = String::from_utf8_lossy(&literal.0);
                return literal.starts_with(text)
                    || literal.trim().is_empty() && is_spelled(rest, side, letters[1]);
            }
            while let [first, rest @ ..] = parts
                && is_space(first)
            {
                parts = rest;
            }
            letters.remove(0);
        }
        letters.first().is_some_and(|letter| is_spelled(parts, side, *letter))
    }
}

fn part_requires_space(part: &Hir, side: NeighbourSide) -> Option<bool> {
    match part.kind() {
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            Some(match side {
                NeighbourSide::Before => text.ends_with(char::is_whitespace),
                NeighbourSide::Behind => text.starts_with(char::is_whitespace),
            })
        }
        HirKind::Capture(capture) => part_requires_space(&capture.sub, side),
        HirKind::Empty | HirKind::Look(_) => None,
        HirKind::Repetition(repetition) if is_space(&repetition.sub) => {
            (repetition.min > 0).then_some(true)
        }
        _ => Some(is_space(part)),
    }
}

fn is_spelled(parts: &[Hir], side: NeighbourSide, letter: char) -> bool {
    let adjacent = parts.iter().map(|part| match_adjacent(part, side, letter));
    let mut decisive = adjacent.filter(|adjacent| *adjacent != AdjacentMatch::Skippable);
    decisive.next() == Some(AdjacentMatch::Exact)
}

fn match_adjacent(part: &Hir, side: NeighbourSide, letter: char) -> AdjacentMatch {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => AdjacentMatch::Skippable,
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            let nearest = match side {
                NeighbourSide::Before => text.chars().next_back(),
                NeighbourSide::Behind => text.chars().next(),
            };
            if nearest == Some(letter) { AdjacentMatch::Exact } else { AdjacentMatch::Never }
        }
        HirKind::Class(class) => match_class(class, letter),
        HirKind::Capture(capture) => match_adjacent(&capture.sub, side, letter),
        HirKind::Repetition(repetition) => match match_adjacent(&repetition.sub, side, letter) {
            AdjacentMatch::Exact | AdjacentMatch::Possible if repetition.min == 0 => {
                AdjacentMatch::Possible
            }
            AdjacentMatch::Never if repetition.min == 0 => AdjacentMatch::Skippable,
            other => other,
        },
        HirKind::Concat(parts) => {
            let nearest_first: Vec<&Hir> = match side {
                NeighbourSide::Before => parts.iter().rev().collect(),
                NeighbourSide::Behind => parts.iter().collect(),
            };
            let adjacent = nearest_first.into_iter().map(|part| match_adjacent(part, side, letter));
            let mut decisive = adjacent.filter(|adjacent| *adjacent != AdjacentMatch::Skippable);
            decisive.next().unwrap_or(AdjacentMatch::Skippable)
        }
        HirKind::Alternation(parts) => {
            let branch_matches = parts.iter().map(|part| match_adjacent(part, side, letter));
            let branches: Vec<AdjacentMatch> = branch_matches.collect();
            let all = |is: AdjacentMatch| branches.iter().all(|branch| *branch == is);
            let none_matches = |branch: &AdjacentMatch| {
                matches!(branch, AdjacentMatch::Skippable | AdjacentMatch::Never)
            };
            if all(AdjacentMatch::Exact) {
                AdjacentMatch::Exact
            } else if all(AdjacentMatch::Never) {
                AdjacentMatch::Never
            } else if branches.iter().all(none_matches) {
                AdjacentMatch::Skippable
            } else {
                AdjacentMatch::Possible
            }
        }
    }
}

/// Returns how a class matches a letter: one of its small and capital form spells it.
fn match_class(class: &Class, letter: char) -> AdjacentMatch {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
        Class::Bytes(class) => {
            class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
    };
    let code = u32::from(letter);
    if !ranges.iter().any(|(first, last)| (*first..=*last).contains(&code)) {
        return AdjacentMatch::Never;
    }
    let is_same = |other: u32| {
        char::from_u32(other).is_some_and(|other| other.to_lowercase().eq(letter.to_lowercase()))
    };
    let is_one = ranges.iter().all(|(first, last)| first == last && is_same(*first));
    if is_one { AdjacentMatch::Exact } else { AdjacentMatch::Possible }
}

/// Returns whether a part matches only white space, or nothing.
fn is_space(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().all(|range| range.start().is_whitespace() && range.end().is_whitespace())
        }
        HirKind::Repetition(repetition) => is_space(&repetition.sub),
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).is_ok_and(|text| text.trim().is_empty())
        }
        HirKind::Empty | HirKind::Look(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::suffix(r"speed (\d+)k items", NeighbourSide::Behind, "k", true)]
    #[case::both_cases(r"(?i)speed (\d+)k items", NeighbourSide::Behind, "K", true)]
    #[case::cell(r"^run,(\d+),\d+", NeighbourSide::Behind, ",", true)]
    #[case::cell_before(r"(?:[^,]*,){2}\s*(\d+)", NeighbourSide::Before, ",", true)]
    #[case::boundary(r"(\d+)\b,", NeighbourSide::Behind, ",", true)]
    #[case::named(r",(?<name>,)(?<value>\d+)", NeighbourSide::Before, ",", true)]
    #[case::anything(r"(\d+).*", NeighbourSide::Behind, ",", false)]
    #[case::no_space(r"(\d+)\S*", NeighbourSide::Behind, "k", false)]
    #[case::optional(r"(\d+),?", NeighbourSide::Behind, ",", false)]
    #[case::one_of_two(r"(\d+)[kM]", NeighbourSide::Behind, "k", false)]
    #[case::comma_or_space(r"(\d+)(?:,|\s)", NeighbourSide::Behind, ",", false)]
    #[case::not_matched(r"speed (\d+)", NeighbourSide::Behind, "k", false)]
    #[case::spaced(r"speed (\d+) k items", NeighbourSide::Behind, " k", true)]
    #[case::perhaps_spaced(r"speed (\d+)\s*k items", NeighbourSide::Behind, " k", true)]
    #[case::only_the_space(r"speed (\d+) \w+", NeighbourSide::Behind, " k", false)]
    fn only_spelled_out_characters_count(
        #[case] pattern: &str,
        #[case] side: NeighbourSide,
        #[case] text: &str,
        #[case] expected: bool,
    ) {
        let regex = crate::bounded::BoundedRegex::new(pattern).unwrap();
        let named = regex.group_names().position(|name| name == Some("value"));
        let neighbours = Neighbours::around_group(pattern, named.unwrap_or(1));
        assert_eq!(neighbours.spells_out(side, text), expected);
    }
}
