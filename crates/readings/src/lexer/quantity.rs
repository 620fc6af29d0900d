//! Texts that are one quantity: cells, texts of JSON, published values.

use super::number::leading_number_length;
use super::{NotPlain, SPREADS, is_digit, parse_number};
use crate::figure::PrintedNumber;
use crate::nearest::truncate_for_message;
use crate::units;

/// Reads a text that is one quantity of a figure in `unit`: a number, with its spread, its suffix or its unit, which is
/// the figure's.
///
/// # Errors
/// [`NotPlain`]
pub fn read_quantity(text: &str, unit: &str) -> Result<PrintedNumber, NotPlain> {
    let (number, printed) = split_quantity(text)?;
    if printed.is_empty() || units::is_same(&printed, unit) {
        return Ok(number);
    }
    let is_suffix = units::prefix_factor(&printed).is_some();
    let scale = units::suffix_factor(&printed, unit).filter(|_| is_suffix);
    scale.map(|scale| number.scale_by(scale)).ok_or_else(|| {
        let unit = unit.to_owned();
        NotPlain::Unit { printed, unit }
    })
}

/// Reads a published value and its unit, which may be empty: `42.0 items/s`, `12.3k tok/s`, `28 min 59 s`.
///
/// # Errors
/// [`NotPlain`]
pub fn read_published(text: &str) -> Result<(PrintedNumber, String), NotPlain> {
    let (number, unit) = split_quantity(text)?;
    let (first, rest) = unit.split_once(' ').unwrap_or((&unit, ""));
    match units::prefix_factor(first) {
        Some(scale) if !units::is_time(first) => {
            Ok((number.scale_by(scale), rest.trim().to_owned()))
        }
        _ => Ok((number, unit)),
    }
}

/// Splits a text that is one quantity into its number and its unit, which may be empty; a suffix of the number is
/// the unit's beginning (`12.3k tok/s`), a spread is left out, a duration in parts is in its largest unit.
fn split_quantity(text: &str) -> Result<(PrintedNumber, String), NotPlain> {
    let text = text.trim();
    if let Some(duration) = whole_duration(text) {
        return Ok(duration);
    }
    let length = leading_number_length(text);
    let number = text[..length].replace(' ', "\u{a0}");
    let printed = parse_number(&number).ok_or_else(|| {
        let has_digit = text.starts_with(is_digit);
        if has_digit { NotPlain::Touched(truncate_for_message(text)) } else { NotPlain::NoNumber }
    })?;
    let mut rest = text[length..].trim_start();
    if let Some(spread) = SPREADS.iter().find_map(|sign| rest.strip_prefix(sign)) {
        let spread = spread.trim_start();
        let digits = leading_number_length(spread);
        if parse_number(&spread[..digits]).is_none() {
            return Err(NotPlain::Touched(truncate_for_message(text)));
        }
        rest = spread[digits..].trim_start();
    }
    if rest.contains(is_digit) && !units::is_unit(rest) {
        return Err(NotPlain::Touched(truncate_for_message(text)));
    }
    let begins = rest.chars().next();
    let is_unit = begins.is_none_or(|first| first.is_alphabetic() || "%/([µμ°".contains(first));
    if !is_unit {
        return Err(NotPlain::Touched(truncate_for_message(text)));
    }
    Ok((printed, rest.to_owned()))
}

/// Reads a text that is a duration in parts, in the unit of its first part.
fn whole_duration(text: &str) -> Option<(PrintedNumber, String)> {
    let (mut rest, mut first, mut previous, mut total) = (text, None, f64::INFINITY, 0.0);
    let mut half = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let length = leading_number_length(rest);
        let printed = parse_number(&rest[..length])?;
        let unit = units::unit_behind(&rest[length..])?;
        let seconds = units::seconds_of(&unit.text).filter(|seconds| *seconds < previous)?;
        total += printed.value * seconds;
        half = printed.half_digit * seconds;
        previous = seconds;
        first.get_or_insert((seconds, unit.text.clone()));
        rest = rest[length + unit.length..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        parts += 1;
    }
    let (seconds, unit) = first.filter(|_| parts > 1)?;
    Some((PrintedNumber { value: total / seconds, half_digit: half / seconds }, unit))
}
