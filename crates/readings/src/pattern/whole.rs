//! Captured numbers and units that are only a part of what stands in the line.

use std::ops::Range;

use super::neighbours::{NeighbourSide, Neighbours};
use crate::extent;
use crate::nearest::truncate_for_message;
use crate::units;

/// Letters of a line that are shown before a number.
const MAX_CHARS_SHOWN_BEFORE: usize = 40;

/// A captured part of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialNumber {
    /// The captured text, shortened.
    pub captured: String,
    /// The number as it stands in the line.
    pub whole: String,
    /// The line around it.
    pub line: String,
}

/// A captured part of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialUnit {
    /// The captured text, shortened.
    pub captured: String,
    /// The unit as it stands in the line.
    pub whole: String,
}

/// Returns the longer number of which `group` captured a part, unless the pattern spells out what is
/// next to the group. `unit` is what the pattern captured as the unit, `figure_unit` the figure's.
pub(super) fn find_longer_number(
    line: &str,
    group: Range<usize>,
    unit: Option<Range<usize>>,
    figure_unit: &str,
    neighbours: &Neighbours,
) -> Option<PartialNumber> {
    if !line[group.clone()].contains(char::is_numeric) {
        return None;
    }
    let part = trim_to_number(line, group.clone());
    let mut whole = extent::number_begin(line, &part)..extent::number_end(line, &part, figure_unit);
    if whole == part {
        return None;
    }
    let before = &line[..part.start];
    let last = before.char_indices().next_back().map_or(0, |(at, _)| at);
    let is_spaced = before.ends_with(' ') && neighbours.requires_space(NeighbourSide::Before);
    if part.start == group.start
        && (is_spaced || neighbours.spells_out(NeighbourSide::Before, &before[last..]))
    {
        whole.start = part.start;
    }
    if is_spelled_behind(line, &part, &group, figure_unit, neighbours)
        || unit.is_some_and(|unit| is_next_unit(line, part.end, unit))
    {
        whole.end = part.end;
    }
    if whole == part {
        return None;
    }
    let before = line[..whole.start].char_indices().rev();
    let first_shown = before.take(MAX_CHARS_SHOWN_BEFORE).last();
    let begin = first_shown.map_or(whole.start, |(at, _)| at);
    Some(PartialNumber {
        captured: truncate_for_message(&line[part]),
        whole: truncate_for_message(&line[whole]),
        line: truncate_for_message(line[begin..].trim()),
    })
}

/// Returns where the number stands within what a group captured, without space around it, and without
/// the mark that ends a sentence or its part: `741.2` of `741.2.`, `7,412.6` of `7,412.6,`.
pub(super) fn trim_to_number(line: &str, group: Range<usize>) -> Range<usize> {
    let captured = &line[group.clone()];
    let without_leading_space = captured.trim_start();
    let start = group.end - without_leading_space.len();
    let trimmed = without_leading_space.trim_end();
    let end = start + trimmed.len();
    let is_last = line[end..].chars().next().is_none_or(char::is_whitespace);
    let number = trimmed.strip_suffix(['.', ',', ';', ':']);
    let ends_in_digit = |number: &&str| number.ends_with(|last: char| last.is_ascii_digit());
    match number.filter(ends_in_digit) {
        Some(number) if is_last => start..start + number.len(),
        _ => start..end,
    }
}

/// Returns whether the pattern itself has what is behind the number. A unit that contradicts the figure's is no
/// less wrong if the pattern has it.
fn is_spelled_behind(
    line: &str,
    part: &Range<usize>,
    group: &Range<usize>,
    figure_unit: &str,
    neighbours: &Neighbours,
) -> bool {
    let rest = &line[part.end..];
    let digits = rest.trim_start_matches(' ');
    let is_spaced = digits.len() < rest.len()
        && digits.starts_with(|first: char| first.is_ascii_digit())
        && neighbours.requires_space(NeighbourSide::Behind);
    let is_spelled =
        is_spaced || neighbours.spells_out(NeighbourSide::Behind, next_character(line, part.end));
    part.end == group.end && is_spelled && !extent::has_other_unit(line, part.end, figure_unit)
}

/// Returns the next character of a line, with a space before it.
fn next_character(line: &str, at: usize) -> &str {
    let behind = &line[at..];
    let count = 1 + usize::from(behind.starts_with(char::is_whitespace));
    let end = behind.char_indices().nth(count);
    &behind[..end.map_or(behind.len(), |(end, _)| end)]
}

/// Returns whether the pattern captured the letters behind a number as its unit.
fn is_next_unit(line: &str, end: usize, unit: Range<usize>) -> bool {
    let between = line.get(end..unit.start);
    !unit.is_empty()
        && between.is_some_and(|between| between.trim().is_empty())
        && line[unit.start..].starts_with(char::is_alphabetic)
}

/// Returns the longer unit of which `captured` is a part, where it is another than the one that
/// converts by `factor`: `m` of `ms`, or of `1m30s`.
pub(super) fn find_longer_unit(
    line: &str,
    captured: Range<usize>,
    figure_unit: &str,
    factor: f64,
) -> Option<PartialUnit> {
    let unit = &line[captured.clone()];
    let whole = units::leading_unit(&line[captured.start..]);
    let is_other = |other: f64| (other / factor - 1.0).abs() > 1e-9;
    let is_part = whole.len() > unit.len()
        && !unit.is_empty()
        && units::conversion_factor(whole, figure_unit).is_some_and(is_other);
    let behind = &line[captured.end..];
    let is_duration =
        units::is_time(unit) && behind.starts_with(|letter: char| letter.is_ascii_digit());
    (is_part || is_duration).then(|| PartialUnit {
        captured: truncate_for_message(unit),
        whole: truncate_for_message(whole),
    })
}
