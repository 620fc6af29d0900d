//! The extent of a number in its line: where it begins and ends, whichever part of it a pattern
//! captured.
//!
//! A number is read whole or not at all: `[0-9.]+` captures 5 of `5,388.43`, 1.04 of `1.04e+06` and
//! 12.3 of `12.3k`. A unit behind a number (`45.2ms`, `41.5 %`) is no part of it unless it says
//! another multiple of the figure's unit; what separates two values (`12.5,12.7`, `8/16`) ends one.
//! Where a line can be read in both ways (`128,256,512`, `12,5`, `1 764`), the longer number counts.

mod unit_behind;

use std::ops::Range;

use super::figure::SEPARATORS;
use unit_behind::other_multiple_length;
pub use unit_behind::{find_unit_of_other_kind, has_other_unit};

/// The most letters of a number that are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// Characters that stand for omitted text.
const ELLIPSES: [char; 3] = ['…', '⋯', '‥'];
/// Minus signs, and the dashes that stand for one.
const MINUSES: [char; 3] = ['-', '−', '–'];
/// A character that could not be decoded; between digits it was a separator.
const UNDECODED: char = '\u{fffd}';

/// Returns where the number begins that the line has at `part`: before `part` if its beginning was
/// not captured.
pub fn number_begin(line: &str, part: &Range<usize>) -> usize {
    if !is_cut_before(line, part) {
        return part.start;
    }
    let mut start = part.start;
    if let Some(group) = digit_group_length_before(&line[..start], &line[part.clone()]) {
        return start - group;
    }
    while let Some(letter) = line[..start].chars().next_back() {
        let before = start - letter.len_utf8();
        // The letter of an exponent or a duration; a name before the number is none of it.
        let is_within = letter.is_alphabetic() && line[..before].ends_with(is_digit);
        if part.start - before > MAX_SHOWN_CHARS || !(is_within || is_shown_in_number(letter)) {
            break;
        }
        start = before;
    }
    let shown = line[start..part.start].trim_start_matches([':', ',', '\'', '_', '\u{a0}']);
    // The character that shows the cut belongs to the number in any case.
    let last = line[..part.start].char_indices().next_back();
    let last_char_start = last.map_or(part.start, |(at, _)| at);
    last_char_start.min(part.start - shown.len())
}

/// Returns where the number ends that the line has at `part`, a figure in `unit`: behind `part` if its
/// end was not captured.
pub fn number_end(line: &str, part: &Range<usize>, unit: &str) -> usize {
    let Some(least) = min_cut_length_behind(line, part, unit) else {
        return part.end;
    };
    let least = part.end + least;
    let run_letters = line[least..].chars().take(MAX_SHOWN_CHARS);
    let run: usize = run_letters
        .take_while(|letter| letter.is_alphabetic() || is_shown_in_number(*letter))
        .map(char::len_utf8)
        .sum();
    let shown = &line[least..least + run];
    // A sentence's point and comma are none of the number, an ellipsis is.
    let shown = if shown.ends_with("..") {
        shown
    } else {
        shown.trim_end_matches(['.', ',', '-', '\'', '\u{a0}'])
    };
    least + shown.len()
}

/// Returns whether a character is shown as part of a number.
fn is_shown_in_number(letter: char) -> bool {
    letter.is_numeric()
        || matches!(letter, '.' | '^' | '+' | '×' | ':' | UNDECODED)
        || MINUSES.contains(&letter)
        || ELLIPSES.contains(&letter)
        || SEPARATORS.contains(&letter)
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// Returns the number of digits that a text begins with.
fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the number of digits that a text ends in.
fn trailing_digits(text: &str) -> usize {
    text.bytes().rev().take_while(u8::is_ascii_digit).count()
}

fn is_integer(text: &str) -> bool {
    !text.is_empty() && leading_digits(text) == text.len()
}

fn is_cut_before(line: &str, part: &Range<usize>) -> bool {
    let before = &line[..part.start];
    let captured = &line[part.clone()];
    let Some(last) = before.chars().next_back() else {
        return false;
    };
    let head = &before[..before.len() - last.len_utf8()];
    if captured.starts_with(MINUSES) {
        // A hyphen or the dash of a range looks like a sign.
        return last.is_alphanumeric();
    }
    let previous = head.chars().next_back();
    let follows_digit = previous.is_some_and(is_digit);
    match last {
        _ if last.is_numeric() || ELLIPSES.contains(&last) => true,
        '.' => begins_fraction(head, previous),
        ',' => follows_digit && is_one_number(&comma_separated_elements(line, part)),
        UNDECODED => follows_digit,
        ' ' => digit_group_length_before(before, captured).is_some(),
        _ if SEPARATORS.contains(&last) => {
            let group = leading_digits(captured);
            follows_digit && group == 3 && (1..=3).contains(&trailing_digits(head))
        }
        ':' => is_clock(head, captured),
        '^' => head.ends_with("10"),
        _ if MINUSES.contains(&last) => ends_in_sign(head),
        '+' => ends_in_exponent(head),
        'e' | 'E' => follows_digit || is_hexadecimal(head),
        'd' | 'h' | 'm' => follows_digit,
        _ if last.is_ascii_alphanumeric() => is_hexadecimal(before),
        _ => false,
    }
}

/// Returns the length of a group of digits, and of the space behind it, before `captured`: `1 ` of
/// `delay: 1 764.6`. Behind a word it is a number of its own (`batch 8 128.3`).
fn digit_group_length_before(before: &str, captured: &str) -> Option<usize> {
    let head = before.strip_suffix(' ')?;
    let digits = trailing_digits(head);
    let label = head[..head.len() - digits].trim_end_matches(' ');
    let is_group = (1..=3).contains(&digits)
        && leading_digits(captured) == 3
        && label.ends_with([':', '=', '|', '│']);
    is_group.then_some(digits + 1)
}

/// Returns whether a space parts groups of one number: `12 345.6`, but not `12 2026` or `8 128x128`.
fn is_grouped_behind(captured: &str, after: &str) -> bool {
    let behind = after.get(3..).and_then(|rest| rest.chars().next());
    let ends = behind.is_none_or(|letter| {
        letter.is_whitespace()
            || letter != 'x' && letter.is_alphabetic()
            || matches!(letter, '.' | ',' | ';' | ')' | ']' | '%' | '|' | '│')
    });
    is_integer(captured) && captured.len() <= 3 && leading_digits(after) == 3 && ends
}

/// Returns whether a point behind `head` is the point of a number, or the end of an ellipsis.
fn begins_fraction(head: &str, previous: Option<char>) -> bool {
    let dots = head.len() - head.trim_end_matches('.').len();
    match (dots, previous) {
        (0, None) => true,
        // Not `file.5`, `list[0].5`.
        (0, Some(letter)) => !letter.is_alphabetic() && !matches!(letter, ')' | ']' | '_' | '/'),
        // Not `loading...5`, nor the dots of a table of contents.
        (1 | 2, _) => !head.trim_end_matches('.').ends_with(char::is_alphabetic),
        _ => false,
    }
}

/// Returns whether a dash behind `head` is the sign of a number or of its exponent, or makes a range.
fn ends_in_sign(head: &str) -> bool {
    let Some(last) = head.chars().next_back() else {
        return true;
    };
    last.is_numeric()
        || ends_in_exponent(head)
        || !(last.is_alphabetic()
            || MINUSES.contains(&last)
            || matches!(last, ')' | ']' | '}' | '_' | '+'))
}

/// Returns whether `head` ends like `1.5e`.
fn ends_in_exponent(head: &str) -> bool {
    head.strip_suffix(['e', 'E']).is_some_and(|number| number.ends_with(is_digit))
}

/// Returns whether the last word of `head` begins with `0x`.
fn is_hexadecimal(head: &str) -> bool {
    let before = head.trim_end_matches(|letter: char| letter.is_ascii_hexdigit());
    before.ends_with("0x") || before.ends_with("0X")
}

/// Returns whether `head:captured` is a time of day or a duration: `12:30`.
fn is_clock(head: &str, captured: &str) -> bool {
    let hours = trailing_digits(head);
    let is_word = head[..head.len() - hours].ends_with(char::is_alphabetic);
    (1..=3).contains(&hours) && !is_word && begins_minutes(captured)
}

/// Returns whether a text begins with two digits of minutes or seconds.
fn begins_minutes(text: &str) -> bool {
    leading_digits(text) == 2 && text.as_bytes()[0] <= b'5'
}

/// Returns how many bytes behind `part` belong to the number at least.
fn min_cut_length_behind(line: &str, part: &Range<usize>, unit: &str) -> Option<usize> {
    let captured = line[part.clone()].trim_start_matches(['+', '-', '−', '–']);
    let rest = &line[part.end..];
    let first = rest.chars().next()?;
    let after = &rest[first.len_utf8()..];
    let precedes_digit = after.starts_with(is_digit);
    let least = first.len_utf8();
    let is_part = match first {
        _ if first.is_numeric() || ELLIPSES.contains(&first) => true,
        '.' => precedes_digit || after.starts_with('.') || captured.ends_with('.'),
        ',' => precedes_digit && is_one_number(&comma_separated_elements(line, part)),
        UNDECODED => precedes_digit,
        ' ' if is_grouped_behind(captured, after) => true,
        _ if SEPARATORS.contains(&first) && leading_digits(after) == 3 => {
            let group = trailing_digits(captured);
            // Digits behind the point are grouped too, from the point.
            let is_fraction = captured.contains('.');
            group == 3 || !is_fraction && (1..=3).contains(&group)
        }
        ':' => is_integer(captured) && captured.len() <= 3 && begins_minutes(after),
        _ if MINUSES.contains(&first) => precedes_digit,
        _ => {
            return exponent_length(rest)
                .or_else(|| power_of_ten_length(rest))
                .or_else(|| hexadecimal_prefix_length(captured, rest))
                .or_else(|| other_multiple_length(rest, unit));
        }
    };
    is_part.then_some(least)
}

/// `e+06`, `E6`, Fortran's `D+06`; behind a space with a sign only.
fn exponent_length(rest: &str) -> Option<usize> {
    let attached = rest.strip_prefix(' ').unwrap_or(rest);
    let digits = attached.strip_prefix(['e', 'E', 'd', 'D'])?;
    let unsigned = digits.trim_start_matches(['+', '-', '−']);
    let is_signed = unsigned.len() < digits.len();
    let is_exponent = unsigned.starts_with(is_digit) && (is_signed || rest.starts_with(['e', 'E']));
    is_exponent.then(|| rest.len() - unsigned.len())
}

/// `×10^6`, `x 10^6`, `*10**6`, `×10⁶`.
fn power_of_ten_length(rest: &str) -> Option<usize> {
    let times = rest.trim_start_matches([' ', '\u{a0}']);
    let ten = times.strip_prefix(['×', '✕', 'x', '*', '·'])?.trim_start();
    let power = ten.strip_prefix("10")?;
    let is_power = power.starts_with('^')
        || power.starts_with("**")
        || power.starts_with(|letter: char| letter.is_numeric() && !letter.is_ascii());
    is_power.then(|| rest.len() - power.len())
}

fn hexadecimal_prefix_length(captured: &str, rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix(['x', 'X'])?;
    let begins = captured == "0" && digits.starts_with(|letter: char| letter.is_ascii_hexdigit());
    begins.then_some(2)
}

/// Returns the numbers around `part` that only commas separate, itself among them.
fn comma_separated_elements<'a>(line: &'a str, part: &Range<usize>) -> Vec<&'a str> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut start = part.start;
    while let Some(head) = line[..start].strip_suffix(',') {
        let number = head.len() - head.trim_end_matches(is_part).len();
        if number == 0 {
            break;
        }
        start = head.len() - number;
    }
    let mut end = part.end;
    while let Some(tail) = line[end..].strip_prefix(',') {
        let number = tail.len() - tail.trim_start_matches(is_part).len();
        if !tail.starts_with(is_digit) {
            break;
        }
        end += 1 + number;
    }
    let whole = line[start..end].trim_end_matches('.');
    let unsigned_whole = whole.trim_start_matches(['+', '-', '−']);
    unsigned_whole.split(',').collect()
}

/// Returns whether numbers with commas between them may be parts of one number, or of several numbers of
/// which each has parts: `1,234.5`, `128,256,512`, `12,34,567` (lakh), `12,5` and `1.234,5`
/// (decimal commas).
fn is_one_number(elements: &[&str]) -> bool {
    match elements {
        [whole, decimals] if is_integer(decimals) => is_grouped_by_points(whole),
        _ => are_digit_groups(elements) || are_lakhs(elements),
    }
}

/// Returns whether a text is an integer, perhaps as `1.234.567`.
fn is_grouped_by_points(text: &str) -> bool {
    let mut groups = text.split('.');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_grouped = (1..=3).contains(&first.len()) && !first.starts_with('0');
    is_integer(first)
        && (rest.peek().is_none() || is_grouped)
        && rest.all(|group| group.len() == 3 && is_integer(group))
}

/// Returns whether each is part of a number with groups of three digits.
fn are_digit_groups(elements: &[&str]) -> bool {
    let mut rest = elements;
    while let [head, after @ ..] = rest {
        if !(is_integer(head) && (1..=3).contains(&head.len())) {
            return false;
        }
        let whole = after.iter().take_while(|group| group.len() == 3 && is_integer(group)).count();
        let last = after.get(whole).is_some_and(|group| {
            group.split_once('.').is_some_and(|(group, decimals)| {
                group.len() == 3 && is_integer(group) && is_integer(decimals)
            })
        });
        let tails = whole + usize::from(last);
        if tails == 0 {
            return false;
        }
        rest = &after[tails..];
    }
    true
}

/// Groups as in India: `12,34,567`.
fn are_lakhs(elements: &[&str]) -> bool {
    let [head, middle @ .., last] = elements else {
        return false;
    };
    let last_integer = last.split_once('.').map_or(*last, |(whole, _)| whole);
    let is_group = |text: &str, length: usize| text.len() == length && is_integer(text);
    (1..=2).contains(&head.len())
        && is_integer(head)
        && middle.iter().all(|group| is_group(group, 2))
        && is_group(last_integer, 3)
}

#[cfg(test)]
mod tests;
