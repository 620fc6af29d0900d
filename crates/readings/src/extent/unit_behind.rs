//! Reads the unit behind a number: whether it belongs to the number, or contradicts the figure's unit.

use std::ops::Range;

use crate::units;

/// Returns the unit behind a number, `ms` of ` ms` and of ` (ms)`, and how much of `rest` ends with it.
fn unit_behind(rest: &str) -> (&str, usize) {
    let inner = rest.trim_start_matches([' ', '\u{a0}', '\t']);
    let bracketed = inner.strip_prefix(['(', '[']);
    let word = units::leading_unit(bracketed.unwrap_or(inner));
    let length = rest.len() - bracketed.unwrap_or(inner).len() + word.len();
    let is_closed = bracketed.is_none() || rest[length..].starts_with([')', ']']);
    if is_closed { (word, length) } else { ("", 0) }
}

/// Returns whether the unit behind the number that ends at `end` is another multiple of the figure's unit:
/// `941 MB/s` with `GB/s`. Suffixes and prefixes alone are not units.
pub fn has_other_unit(line: &str, end: usize, unit: &str) -> bool {
    let (word, _) = unit_behind(&line[end..]);
    let is_prefix = units::is_number_suffix(word) || matches!(word, "n" | "u" | "µ" | "μ" | "m");
    (!is_prefix || units::is_time(word) && units::is_time(unit))
        && units::is_other_multiple(word, unit)
}

/// Returns the unit behind the number `part` if it is of another kind than the figure's: `ms` of `speed: 100 ms` with
/// `items/s`. The label of the next value is not a unit: `tokens: 500`.
pub fn find_unit_of_other_kind(line: &str, part: &Range<usize>, unit: &str) -> Option<String> {
    let rest = &line[part.end..];
    let (word, length) = unit_behind(rest);
    let mut printed = word.to_owned();
    let mut behind = rest[length..].trim_start();
    // `tokens per second`, `tokens / s`
    while let Some(below) = behind.strip_prefix("per ").or_else(|| behind.strip_prefix('/')) {
        let below = below.trim_start();
        let divisor = units::leading_unit(below);
        if divisor.is_empty() {
            break;
        }
        printed = format!("{printed}/{divisor}");
        behind = below[divisor.len()..].trim_start();
    }
    let labels_have_marks = line[..part.start].trim_end().ends_with([':', '=']);
    let is_label = word != "%"
        && (behind.starts_with([':', '='])
            || !labels_have_marks && behind.starts_with(|next: char| next.is_ascii_digit()));
    (!is_label && units::is_other_kind(&printed, unit)).then_some(printed)
}

/// Returns the length of a suffix (`k`, ` M`), or of a unit that is another multiple of the figure's: `12.3ktok/s`.
pub(super) fn other_multiple_length(rest: &str, unit: &str) -> Option<usize> {
    let is_spaced = rest.starts_with([' ', '\u{a0}', '\t', '(', '[']);
    let (word, length) = unit_behind(rest);
    let letters = word.len() - word.trim_start_matches(char::is_alphabetic).len();
    let (suffix, behind) = word.split_at(letters);
    if is_spaced {
        let after = &rest[length..];
        let is_alone = suffix.len() == 1 && behind.is_empty() || units::is_number_word(word);
        let is_multiple = is_alone
            && (after.is_empty()
                || after.starts_with(|next: char| !next.is_alphanumeric() && next != '-'))
            && units::is_number_suffix(suffix)
            && !units::is_own_suffix(suffix, unit);
        let is_inverse = word != unit && units::is_inverse(word, unit);
        let is_other = is_inverse || has_other_unit(rest, 0, unit);
        return (is_multiple || is_other).then_some(length);
    }
    // `1m30s`
    if matches!(suffix, "d" | "h" | "m" | "min" | "s")
        && behind.starts_with(|next: char| next.is_ascii_digit())
    {
        return Some(length);
    }
    let is_alone = !behind.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    if is_alone && (units::is_number_suffix(suffix) || suffix == "B" && !units::is_of_bytes(unit)) {
        // `12.3k/s` has its suffix as well as `12.3k`.
        return (!units::is_own_suffix(suffix, unit)).then_some(suffix.len());
    }
    let is_other = units::is_other_multiple(word, unit) || units::is_inverse(word, unit);
    is_other.then_some(length)
}
