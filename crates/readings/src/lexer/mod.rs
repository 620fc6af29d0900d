//! The one grammar of numbers: for lines of an output, texts of JSON, cells, published values, logs of MLPerf.
//!
//! A number is *plain* if it is a token of its own: digits, perhaps in groups of three, a fraction, an exponent, a
//! suffix; and nothing touches it but white space, brackets, quotation marks, the marks of a sentence, and a unit. Only
//! a plain number becomes a figure. What it may be instead is said by [`NotPlain`]. Of words it knows
//! units, and the `to` of a range.

mod number;
mod quantity;

use std::ops::Range;

use crate::figure::PrintedNumber;
use crate::units;
use number::{SEPARATORS, leading_number_length};
pub use number::{parse_number, parse_with_suffix};
pub use quantity::{read_published, read_quantity};

/// Minus signs, and the dashes that stand for one, or for `to`.
const DASHES: [char; 4] = ['-', '−', '–', '—'];
/// Signs of a product, a ratio or a power.
const OPERATORS: [char; 7] = ['/', 'x', '×', '*', '·', '÷', '^'];
/// Signs of a bound or an estimate.
const BOUNDS: [char; 6] = ['<', '≤', '≥', '~', '≈', '∼'];
/// Letters that multiply the number before them.
const MULTIPLES: [&str; 6] = ["k", "K", "M", "G", "T", "P"];
/// What stands before the spread of another number.
const SPREADS: [&str; 3] = ["±", "+/-", "+-"];
/// The most characters of a number and its surroundings that are shown.
const MAX_SHOWN_CHARS: usize = 24;

/// The reason why a number is not plain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlain {
    #[error("it is no number")]
    NoNumber,
    #[error("`{0}` is one text: what touches the number may be a part of it")]
    Touched(String),
    #[error("`{0}` may be one number, in groups of digits")]
    Grouped(String),
    #[error("`{0}` is a range")]
    Range(String),
    #[error("`{0}` is a ratio, a product or a power")]
    Expression(String),
    #[error("`{0}` is a bound or an estimate")]
    Bound(String),
    #[error("`{0}` is the spread of another number")]
    Spread(String),
    #[error("`{0}` is a duration in parts")]
    Duration(String),
    #[error("`{printed}` is not in `{unit}`")]
    Unit { printed: String, unit: String },
}

impl NotPlain {
    /// Returns the text that is no plain number, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::NoNumber | Self::Unit { .. } => None,
            Self::Touched(text)
            | Self::Grouped(text)
            | Self::Range(text)
            | Self::Expression(text)
            | Self::Bound(text)
            | Self::Spread(text)
            | Self::Duration(text) => Some(text),
        }
    }
}

/// What a pattern states next to its number, on either side: white space is one space.
#[derive(Debug, Clone, Default)]
pub struct Spelled {
    pub before: String,
    pub behind: String,
}

/// Reads the number of a line that begins at this byte, whole.
///
/// # Errors
/// [`NotPlain`]
pub fn read_number_from(line: &str, begin: usize) -> Result<PrintedNumber, NotPlain> {
    let number = begin..begin + leading_number_length(&line[begin..]);
    if !line[number.clone()].contains(is_digit) {
        return Err(NotPlain::NoNumber);
    }
    check_surroundings(line, &number, "", &Spelled::default())?;
    parse_number(&line[number]).ok_or(NotPlain::NoNumber)
}

/// Returns where the number stands within what a pattern captured: without white space around it, and without the mark
/// that ends a sentence or its part.
pub fn trim_capture(line: &str, captured: Range<usize>) -> Range<usize> {
    let text = &line[captured.clone()];
    let start = captured.end - text.trim_start().len();
    let trimmed = line[start..captured.end].trim_end();
    let is_last = line[start + trimmed.len()..].chars().next().is_none_or(char::is_whitespace);
    let number = trimmed.trim_end_matches(['.', ',', ';', ':']);
    let end = if is_last && number.ends_with(is_digit) { number.len() } else { trimmed.len() };
    start..start + end
}

/// Checks that the number in a line is plain, of a figure in `unit`; what the pattern spells out next to it parts it from
/// the text around.
///
/// # Errors
/// [`NotPlain`]
pub fn check_surroundings(
    line: &str,
    number: &Range<usize>,
    unit: &str,
    spelled: &Spelled,
) -> Result<(), NotPlain> {
    let (head, rest) = (&line[..number.start], &line[number.end..]);
    let found = check_head(head, &line[number.clone()], &spelled.before)
        .and_then(|()| check_rest(rest, &line[number.clone()], unit, &spelled.behind))
        .and_then(|()| check_duration(head, &line[number.clone()], rest));
    found.map_err(|reason| reason(surroundings(line, number)))
}

type Reason = fn(String) -> NotPlain;

fn check_head(head: &str, number: &str, spelled: &str) -> Result<(), Reason> {
    let Some(last) = head.chars().next_back() else {
        return Ok(());
    };
    if is_damaged(last) {
        return Err(NotPlain::Touched);
    }
    let trimmed = head.trim_end();
    let is_spaced = trimmed.len() < head.len();
    let spelled_mark = spelled.trim_end().chars().next_back();
    if spelled_mark.is_some() && spelled_mark == trimmed.chars().next_back() {
        return Ok(());
    }
    let before = head[..head.len() - last.len_utf8()].chars().next_back();
    let follows_digit = before.is_some_and(is_digit);
    if SEPARATORS.contains(&last) && last != ',' && follows_digit {
        return Err(NotPlain::Grouped);
    }
    if is_spaced {
        if spelled.is_empty() && is_group_before(head, number) {
            return Err(NotPlain::Grouped);
        }
        return check_operator_before(trimmed);
    }
    if number.starts_with(DASHES) && (last.is_alphanumeric() || last == ')') {
        return Err(NotPlain::Range);
    }
    match last {
        '.' if trimmed.ends_with("...") => Ok(()),
        '.' | '+' | '}' | '\\' => Err(NotPlain::Touched),
        ':' if is_clock(trimmed) => Err(NotPlain::Expression),
        _ if last.is_alphanumeric() => Err(NotPlain::Touched),
        _ if DASHES.contains(&last) => Err(NotPlain::Touched),
        ',' if is_fraction(number) && is_fraction(last_element(trimmed)) => Ok(()),
        _ if last == '_' || SEPARATORS.contains(&last) && follows_digit => Err(NotPlain::Grouped),
        _ => check_operator_before(trimmed),
    }
}

/// Checks what stands before a number, perhaps with a space between.
fn check_operator_before(head: &str) -> Result<(), Reason> {
    if SPREADS.iter().any(|sign| head.ends_with(sign)) {
        return Err(NotPlain::Spread);
    }
    let is_bound = head.ends_with(BOUNDS) || head.ends_with(">=") || head.ends_with("<=");
    if is_bound || head.ends_with('>') && !ends_in_arrow_or_tag(head) {
        return Err(NotPlain::Bound);
    }
    let Some(last) = head.chars().next_back() else {
        return Ok(());
    };
    let before = head[..head.len() - last.len_utf8()].trim_end_matches(last);
    if (DASHES.contains(&last) || last == '.' && before.len() + 1 < head.len())
        && ends_in_number(before)
    {
        return Err(NotPlain::Range);
    }
    if let Some(before) = head.strip_suffix("to")
        && before.ends_with(' ')
        && ends_in_number(before)
    {
        return Err(NotPlain::Range);
    }
    let is_word = last == 'x' && before.ends_with(char::is_alphabetic);
    if matches!(last, '/' | '^' | '÷') && !head.ends_with(" /") && !before.is_empty()
        || OPERATORS.contains(&last) && !is_word && ends_in_number(before)
    {
        return Err(NotPlain::Expression);
    }
    Ok(())
}

fn check_rest(rest: &str, number: &str, unit: &str, spelled: &str) -> Result<(), Reason> {
    let Some(first) = rest.chars().next() else {
        return Ok(());
    };
    if is_damaged(first) {
        return Err(NotPlain::Touched);
    }
    let after = &rest[first.len_utf8()..];
    let precedes_digit = after.starts_with(is_digit);
    let is_spelled = |text: &str| {
        let mark = spelled.trim_start().chars().next();
        mark.is_some() && mark == text.chars().next()
    };
    if !is_spelled(rest) && (!first.is_whitespace() || SEPARATORS.contains(&first)) {
        let next = after.chars().next();
        let is_plain = match first {
            '.' => next.is_none_or(|next| next.is_whitespace() || is_closing(next)),
            ',' => {
                !after.starts_with(',')
                    && (!precedes_digit || is_fraction(number) && is_fraction(after))
            }
            '/' if is_count_of_total(number, after, unit) => return Ok(()),
            '\'' | '’' | '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => !precedes_digit,
            ':' if precedes_digit => return Err(NotPlain::Expression),
            ':'
            | '|'
            | ';'
            | '!'
            | '?'
            | '%'
            | '°'
            | '"'
            | '`'
            | '”'
            | '='
            | '/'
            | '*'
            | '('
            | '['
            | '\u{2500}'..='\u{257f}'
            | '±' => true,
            '<' => next.is_some_and(|next| next == '/' || next.is_alphabetic()),
            '~' => return Err(NotPlain::Range),
            '^' | '×' | '·' | '÷' => return Err(NotPlain::Expression),
            '+' if SPREADS.iter().any(|sign| rest.starts_with(sign)) => true,
            _ if DASHES.contains(&first) && precedes_digit => return Err(NotPlain::Range),
            _ if first.is_alphabetic() => is_unit_touching(rest, unit),
            _ => is_closing(first),
        };
        if !is_plain {
            return Err(NotPlain::Touched);
        }
    }
    if first == ' ' && spelled.is_empty() && is_group_behind(number, after) {
        return Err(NotPlain::Grouped);
    }
    let text = rest.trim_start();
    if !is_spelled(text) {
        check_operator_behind(rest)?;
        let end = text.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(text.len());
        let word = &text[..end];
        if MULTIPLES.contains(&word)
            && !units::is_own_suffix(word, unit)
            && !text[end..].starts_with('-')
        {
            return Err(NotPlain::Touched);
        }
    }
    // What multiplies a quantity may stand behind its unit.
    let length = units::unit_behind(rest).map_or(0, |unit| unit.length);
    let behind = &rest[length..];
    // `ms / 127 runs` is a remark on a quantity that is complete.
    let is_remark = behind.trim_start().starts_with('/');
    if length > 0 && !is_remark { check_operator_behind(behind) } else { Ok(()) }
}

/// Checks what stands behind a number or its unit, perhaps with a space between.
fn check_operator_behind(rest: &str) -> Result<(), Reason> {
    let text = rest.trim_start();
    let is_spaced = text.len() < rest.len();
    let Some(first) = text.chars().next() else {
        return Ok(());
    };
    let after = &text[first.len_utf8()..];
    let operand = after.trim_start();
    let has_operand = operand.starts_with(is_digit);
    // `1500 -5` are two columns.
    let is_dash = DASHES.contains(&first) && (!is_spaced || operand.len() < after.len());
    let is_to = text.strip_prefix("to ").is_some_and(|end| end.trim_start().starts_with(is_digit));
    let is_dots = text.starts_with("..") && text.trim_start_matches('.').starts_with(is_digit);
    let arrow = text.strip_prefix("->").or_else(|| text.strip_prefix(['→', ':', '+']));
    let is_arrow = is_spaced && arrow.is_some_and(|end| end.trim_start().starts_with(is_digit));
    if (is_dash || first == '~' && is_spaced) && has_operand
        || is_arrow
        || is_spaced && is_to
        || is_dots
    {
        return Err(NotPlain::Range);
    }
    let has_power = operand.trim_start_matches('*').trim_start().starts_with(is_digit);
    let is_word = first == 'x' && after.starts_with(char::is_alphabetic);
    let is_times = matches!(first, 'x' | '×' | '÷')
        && (operand.len() < after.len() || is_spaced && after.is_empty());
    if is_times
        || OPERATORS.contains(&first) && !is_word && (has_operand || first == '*' && has_power)
    {
        return Err(NotPlain::Expression);
    }
    let exponent = text.strip_prefix(['e', 'E']).map(|power| power.trim_start_matches(['+', '-']));
    if exponent.is_some_and(|power| power.starts_with(is_digit)) {
        return Err(NotPlain::Touched);
    }
    Ok(())
}

/// Checks that the number is no part of a duration: `28 min 59 s`, `2 days, 3:04:05`.
fn check_duration(head: &str, number: &str, rest: &str) -> Result<(), Reason> {
    let seconds = |unit: &str| units::seconds_of(unit);
    let own = units::unit_behind(rest).and_then(|unit| Some((seconds(&unit.text)?, unit.length)));
    let Some((own, length)) = own else {
        return Ok(());
    };
    let is_whole = number.bytes().all(|byte| byte.is_ascii_digit());
    let next = rest[length..].trim_start_matches([' ', ',']);
    let next = next.strip_prefix("and ").unwrap_or(next);
    let digits = leading_digits(next);
    let behind = &next[digits..];
    let is_clock = behind.starts_with(':');
    let has_smaller = units::unit_behind(behind).and_then(|unit| seconds(&unit.text));
    if is_whole && digits > 0 && (is_clock || has_smaller.is_some_and(|part| part < own)) {
        return Err(NotPlain::Duration);
    }
    let before = head.trim_end_matches([' ', ',']);
    let word = before.len() - before.trim_end_matches(char::is_alphabetic).len();
    let (before, unit) = before.split_at(before.len() - word);
    let has_larger = seconds(unit).is_some_and(|part| part > own);
    let count = before.trim_end();
    let is_integer =
        count.ends_with(is_digit) && !count.trim_end_matches(is_digit).ends_with(['.', ',']);
    if has_larger && is_integer { Err(NotPlain::Duration) } else { Ok(()) }
}

fn is_unit_touching(rest: &str, unit: &str) -> bool {
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || "/%µμ_".contains(letter)));
    let word = &rest[..end.unwrap_or(rest.len())];
    if word == "x" && unit.trim().is_empty() {
        return true;
    }
    let is_multiple =
        units::suffix_factor(word, unit).is_some_and(|_| !units::is_own_suffix(word, unit));
    !is_multiple && (units::is_unit(word) || units::conversion_factor(word, unit).is_some())
}

/// Returns whether a group of one to three digits stands before a space and a group of three.
fn is_group_before(head: &str, number: &str) -> bool {
    let Some(before) = head.strip_suffix(' ') else {
        return false;
    };
    let digits = before.len() - before.trim_end_matches(is_digit).len();
    let label = before[..before.len() - digits].chars().next_back();
    let is_group = (1..=3).contains(&digits) && leading_digits(number) == 3;
    is_group && label.is_none_or(|last| !last.is_alphanumeric() && last != '.')
}

/// Returns whether a space and a group of three digits follow a group of one to three.
fn is_group_behind(number: &str, after: &str) -> bool {
    let digits = number.trim_start_matches(['+', '-', '−']);
    (1..=3).contains(&digits.len())
        && digits.chars().all(is_digit)
        && leading_digits(after) == 3
        && !after[3..].starts_with(char::is_alphabetic)
}

/// Returns whether a text ends in digits and a colon, and is no word such as `p99:`.
fn is_clock(head: &str) -> bool {
    let before = head.trim_end_matches(':').trim_end_matches(is_digit);
    before.len() + 1 < head.len() && !before.ends_with(char::is_alphabetic)
}

/// Returns whether a text begins with a number that has a fraction and no groups, so that a comma next to it ends it.
fn is_fraction(text: &str) -> bool {
    let digits = leading_digits(text);
    let decimals = text[digits..].strip_prefix('.').map_or(0, leading_digits);
    digits > 0 && decimals > 0 && (decimals != 3 || text.starts_with('0') || digits > 3)
}

/// Returns the last element of a list that ends with a comma.
fn last_element(list: &str) -> &str {
    let list = list.trim_end_matches(',');
    &list[list
        .rfind(|letter: char| !is_digit(letter) && letter != '.')
        .map_or(0, |at| at + list[at..].chars().next().map_or(1, char::len_utf8))..]
}

/// Returns whether a number counts some of a total, in no unit: `8/16`.
fn is_count_of_total(number: &str, total: &str, unit: &str) -> bool {
    let digits = leading_digits(total);
    let (count, of) = (number.parse::<u64>(), total[..digits].parse::<u64>());
    let is_end = !total[digits..].starts_with(['/', '.', ',', '-', ':', ' ']);
    unit.trim().is_empty() && is_end && count.is_ok_and(|count| of.is_ok_and(|of| count <= of))
}

/// Returns whether a text ends in a number, perhaps with its unit.
fn ends_in_number(text: &str) -> bool {
    let text = text.trim_end();
    let word = text.len() - text.trim_end_matches(|letter: char| !letter.is_whitespace()).len();
    let (before, last) = text.split_at(text.len() - word);
    text.ends_with(is_digit) || units::is_unit(last) && before.trim_end().ends_with(is_digit)
}

/// Returns whether a text ends in `->`, `=>`, or the end of an element's tag.
fn ends_in_arrow_or_tag(text: &str) -> bool {
    let tag = text.rfind('<').and_then(|at| text[at + 1..].chars().next());
    text.ends_with("->") || text.ends_with("=>") || tag.is_some_and(char::is_alphabetic)
}

/// Returns whether a character may stand right behind a number: it closes something.
fn is_closing(letter: char) -> bool {
    matches!(
        letter,
        ')' | ']' | '}' | '>' | '"' | '\'' | '’' | '`' | '”' | ',' | ';' | '|' | '│' | '*'
    )
}

/// Returns whether a character is a control character, or stands for one that could not be decoded.
fn is_damaged(letter: char) -> bool {
    letter == '\u{fffd}' || letter.is_control() && letter != '\t'
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns a number with the text around it, shortened.
fn surroundings(line: &str, number: &Range<usize>) -> String {
    let before = line[..number.start].char_indices().rev().take(MAX_SHOWN_CHARS / 2);
    let mut begin = before.last().map_or(number.start, |(at, _)| at);
    if let Some(space) = line[begin..number.start].trim_end().rfind([' ', ':', '=', '|'])
        && line[begin + space..number.start].trim().chars().count() > 1
    {
        begin += space + 1;
    }
    let behind = line[number.end..].char_indices().nth(MAX_SHOWN_CHARS / 2);
    let end = behind.map_or(line.len(), |(at, _)| number.end + at);
    crate::nearest::truncate_for_message(line[begin..end].trim())
}

#[cfg(test)]
mod tests;
