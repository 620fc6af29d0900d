//! The grammar of a number.

use std::borrow::Cow;

use super::{is_digit, leading_digits};
use crate::figure::PrintedNumber;
use crate::units;

/// Separators of groups of three digits: commas, underscores, apostrophes, and spaces that do not
/// end a word (no-break, figure, thin, narrow no-break).
pub(super) const SEPARATORS: [char; 8] =
    [',', '_', '\'', '’', '\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// Reads a text that is one number and nothing else: `103480`, `-0.5`, `1.04615e+06`, `14,164.25`, `1_000`,
/// `1'234.5`, `1.2×10^6`.
///
/// Separators are of one kind and part groups of exactly three digits, of which the first does not begin with zero:
/// `1,5` and `0,512` are fractions to one reader and not to another. `nan` and `inf` are no numbers.
pub fn parse_number(text: &str) -> Option<PrintedNumber> {
    let plain = normalize_notation(text.trim());
    let plain = strip_separators(&plain)?;
    let digits = plain.trim_start_matches(['+', '-']);
    // `f64` also reads `nan`, `inf` and `infinity`, which LoadGen prints for a test of no length.
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then(|| PrintedNumber { value, half_digit: half_digit(&plain) })
}

/// Reads a number that may have a suffix, of a figure in `unit`: `12.3k` with `tokens/s` is 12,300. The suffix
/// that is the unit's own is no factor: `107.9G` with `GiB`.
pub fn parse_with_suffix(text: &str, unit: &str) -> Option<PrintedNumber> {
    let trimmed = text.trim();
    let number = trimmed.trim_end_matches(['k', 'K', 'M', 'G', 'T', 'P']);
    let suffix = &trimmed[number.len()..];
    if suffix.is_empty() {
        return parse_number(trimmed);
    }
    let printed = parse_number(number)?;
    Some(printed.scale_by(units::suffix_factor(suffix, unit)?))
}

/// Returns the length of the number that a text begins with: its digits, separators, fraction and exponent.
pub(super) fn leading_number_length(text: &str) -> usize {
    let unsigned = text.trim_start_matches(['+', '-', '−']);
    let mut end = text.len() - unsigned.len();
    let mut letters = text[end..].char_indices().peekable();
    let begin = end;
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let joins = letter == '.' || letter == ' ' || SEPARATORS.contains(&letter);
        // Digits behind a space are of the number only as a group.
        let is_group = letter != ' ' || leading_digits(&text[begin + at + 1..]) == 3;
        if is_digit(letter) || joins && is_group && next.is_some_and(is_digit) {
            end = begin + at + letter.len_utf8();
        } else {
            break;
        }
    }
    end + exponent_length(&text[end..])
}

/// Returns the length of an exponent that a text begins with: `e+06`, `×10^6`.
fn exponent_length(text: &str) -> usize {
    let power = text.strip_prefix(['e', 'E']).or_else(|| {
        let sign = text.trim_start().strip_prefix(['×', 'x', '*', '·'])?;
        sign.trim_start().strip_prefix("10^")
    });
    let digits = power.map(|power| power.trim_start_matches(['+', '-', '−']));
    let digits = digits.filter(|digits| digits.starts_with(is_digit));
    digits.map_or(0, |digits| text.len() - digits.len() + leading_digits(digits))
}

/// Returns the number with ASCII's minus, and with `e` for a power of ten.
fn normalize_notation(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('^') {
        return Cow::Borrowed(text);
    }
    let ascii_minus = text.replace('−', "-");
    let Some((before, power)) = ascii_minus.split_once("10^") else {
        return Cow::Owned(ascii_minus);
    };
    match before.trim_end().strip_suffix(['×', 'x', '*', '·']) {
        Some(mantissa) => Cow::Owned(format!("{}e{power}", mantissa.trim_end())),
        None => Cow::Owned(ascii_minus),
    }
}

fn strip_separators(text: &str) -> Option<Cow<'_, str>> {
    let Some(separator) = text.chars().find(|letter| SEPARATORS.contains(letter)) else {
        return Some(Cow::Borrowed(text));
    };
    let unsigned = text.trim_start_matches(['+', '-']);
    let whole_length = unsigned
        .find(|letter: char| !(letter.is_ascii_digit() || letter == separator))
        .unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(whole_length);
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let well_grouped = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups.all(|group| group.len() == 3);
    (well_grouped && !rest.contains(SEPARATORS)).then(|| {
        let digits: String = text.chars().filter(|letter| *letter != separator).collect();
        Cow::Owned(digits)
    })
}

/// Returns half of the last digit of a plain decimal or scientific number.
fn half_digit(plain: &str) -> f64 {
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let exponent_value: i32 = exponent.parse().unwrap_or(0);
    let decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    0.5 * 10_f64.powi(exponent_value.saturating_sub(decimals))
}
