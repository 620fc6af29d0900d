//! Units as benchmarks print them, and conversions, which apply only where a recipe requests them.
//!
//! `tok/s`, `tokens/sec` and `tokens per second` are one unit, of which `ktok/s` and `tokens/min` are
//! multiples. What is counted is never converted: samples are no tokens.

mod names;
mod stated;

use names::{counted_name, known_counted_name, parse_data_unit, seconds_per_unit};
pub use stated::{UnitBehind, find_contradiction, find_line_unit, find_sibling, unit_behind};

/// Returns the factor that converts a number in `from` to one in `to`; none where they are not of one
/// kind.
///
/// A prefix alone counts in the target's own base: `12.3 k` with `tokens/s` is 12,300 tokens/s.
pub fn conversion_factor(from: &str, to: &str) -> Option<f64> {
    let (from, to) = (strip_remarks(from), strip_remarks(to));
    // `Mb` is no `MB`.
    let is_same = || fold_case(from) == fold_case(to) && !from.contains('b') && !to.contains('b');
    if from.is_empty() || from == to || is_same() {
        return Some(1.0);
    }
    let target = Unit::parse(to);
    if from.starts_with('/') {
        // What `12.3/min` counts is what the figure counts.
        let (counted, _) = to.split_once('/').filter(|(counted, _)| !counted.is_empty())?;
        return conversion_factor(&format!("{counted}{from}"), to);
    }
    let is_minutes = from == "m" && target.base == "s";
    if let Some(scale) = prefix_factor(from).filter(|_| !is_minutes) {
        return Some(scale / target.scale);
    }
    let source = Unit::parse(from).into_bytes();
    let target_in_bytes = target.into_bytes();
    (source.base == target_in_bytes.base)
        .then(|| source.scale / target_in_bytes.scale)
        .or_else(|| prefix_factor_between(from, to))
        .or_else(|| prefix_factor_between(to, from).map(f64::recip))
}

/// Returns whether a text is a word that multiplies the number before it: `1.2 million`.
fn is_number_word(text: &str) -> bool {
    matches!(
        &fold_case(text)[..],
        "hundred"
            | "thousand"
            | "million"
            | "billion"
            | "trillion"
            | "lakh"
            | "crore"
            | "bn"
            | "mn"
            | "mio"
    )
}

/// Returns whether a suffix is the one of the unit itself, and so no part of the number: `107.9G` with
/// the unit `GiB`.
pub fn is_own_suffix(suffix: &str, unit: &str) -> bool {
    let trimmed_unit = unit.trim();
    let begins = trimmed_unit.get(..suffix.len()).is_some_and(|begin| {
        begin == suffix || suffix == "k" && begin == "K" || suffix == "K" && begin == "k"
    });
    begins
        && (trimmed_unit.len() == suffix.len()
            || (Unit::parse(trimmed_unit).scale - 1.0).abs() > 0.0)
}

/// Returns the factor of a number's suffix where the figure is counted in `unit`; none where the unit
/// is of a kind that takes no suffix, a time or a fraction.
pub fn suffix_factor(suffix: &str, unit: &str) -> Option<f64> {
    if is_own_suffix(suffix, unit) {
        return Some(1.0);
    }
    let base = Unit::parse(unit.trim()).base;
    (base != "s" && base != "%").then(|| conversion_factor(suffix, unit)).flatten()
}

pub fn is_time(unit: &str) -> bool {
    seconds_of(unit).is_some()
}

/// Returns whether less is better of a figure in this unit: it is a time, perhaps for each of something, with a remark
/// before or behind it: `seconds per step`, `time (s)`, `p99 ms`. A time for each time is a rate (`ns/day`).
pub fn is_time_per_something(unit: &str) -> bool {
    let spelled = replace_per_with_slash(strip_remarks(unit));
    if let Some((above, below)) = spelled.split_once('/') {
        return is_time(above) && !below.split('/').any(is_time);
    }
    let is_long = |word: &str| word.len() > 1 && is_time(word);
    let in_brackets = unit
        .split_once(['(', '['])
        .is_some_and(|(_, inner)| is_time(inner.trim_end_matches([')', ']'])));
    is_time(&spelled) || in_brackets || spelled.split_whitespace().any(is_long)
}

/// Returns whether more is better of figures in this unit by the unit alone: a rate, what is got for each of something
/// spent, a count, a share, or a figure without a unit.
pub fn is_higher_better(unit: &str) -> bool {
    let base = Unit::parse(strip_remarks(unit)).base;
    let (above, below) = base.split_once('/').unwrap_or((&base, ""));
    let is_spent = matches!(above, "s" | "j" | "w");
    let is_share = matches!(above, "" | "x") || prefix_factor(unit.trim()).is_some();
    if below.is_empty() {
        is_share || known_counted_name(above).is_some() && !is_spent
    } else {
        !is_spent || below.split('/').any(|part| part == "s")
    }
}

/// Returns how many seconds a unit of time has.
pub fn seconds_of(unit: &str) -> Option<f64> {
    seconds_per_unit(strip_remarks(unit))
}

/// Returns whether a printed unit is the figure's in another spelling.
pub fn is_same(printed: &str, unit: &str) -> bool {
    conversion_factor(printed, unit).is_some_and(|factor| (factor - 1.0).abs() < 1e-9)
}

/// Returns whether a text is a unit by itself: a time, an amount of data, what benchmarks count, or one of these for
/// each of something. A word that is as often none (`min`, `it`) is one only before `/` or `per`.
pub fn is_unit(text: &str) -> bool {
    let spelled = replace_per_with_slash(strip_remarks(text));
    match spelled.split_once('/') {
        Some((above, below)) => {
            let is_known = |part: &str| is_known_unit(part.trim());
            is_known(above) || below.split('/').any(is_known)
        }
        None => !AMBIGUOUS_WORDS.contains(&text.trim()) && is_known_unit(&spelled),
    }
}

/// Units that are as often other words, or the label of the next value: `12 min 9 max`, `it was`.
const AMBIGUOUS_WORDS: &[&str] = &[
    "it", "its", "inf", "op", "ops", "m", "d", "h", "t", "q", "b", "w", "j", "min", "day", "days",
];

fn is_known_unit(text: &str) -> bool {
    seconds_per_unit(text).is_some()
        || parse_data_unit(text).is_some()
        || known_counted_name(text).is_some()
        || is_number_word(text)
}

/// Returns a unit without brackets around it, a remark in brackets behind it, and the punctuation of its sentence: `ms` of
/// `(ms)`, `ms (P99)`, `ms,`.
fn strip_remarks(unit: &str) -> &str {
    let marks = [',', '.', ';', ':', '"', '*', '\'', '`'];
    let is_mark = |letter: char| letter.is_whitespace() || marks.contains(&letter);
    let trimmed = unit.trim_matches(is_mark);
    if let Some(inner) = trimmed.strip_prefix(['(', '[']) {
        return inner.trim_end_matches([')', ']']).trim_matches(is_mark);
    }
    let bare = trimmed.split_once(['(', '[']).map_or(trimmed, |(before, _)| before);
    if bare.trim().is_empty() {
        trimmed
    } else {
        bare.trim_end_matches([')', ']']).trim_end_matches(is_mark)
    }
}

/// Returns whether no figure in a unit is below zero: a time, a rate, an amount of data. A benchmark
/// that prints −1 has not measured it.
pub fn is_never_negative(unit: &str) -> bool {
    let base = Unit::parse(unit.trim()).into_bytes().base;
    base.starts_with("byte") || base.split('/').any(|part| part == "s")
}

/// Returns whether one unit is the inverse of the other: `s/it` and `it/s`.
pub fn is_inverse(one: &str, other: &str) -> bool {
    let inverse = |text: &str| {
        let (above, below) = text.trim().split_once('/')?;
        Some(Unit::parse(&format!("{below}/{above}")).base)
    };
    inverse(one).is_some_and(|base| {
        let other = Unit::parse(other.trim()).base;
        base == other && Unit::parse(one.trim()).base != other
    })
}

/// A unit as a multiple of its base.
struct Unit {
    scale: f64,
    base: String,
}

impl Unit {
    fn new(scale: f64, base: impl Into<String>) -> Self {
        let base = base.into();
        Self { scale, base }
    }

    fn parse(text: &str) -> Self {
        let spelled = replace_per_with_slash(text);
        let mut parts = spelled.split('/').map(str::trim);
        let above = parts.next().unwrap_or_default();
        let mut unit = Self::parse_counted(above);
        let mut below = Vec::new();
        for part in parts {
            match seconds_per_unit(part) {
                Some(time) => {
                    unit.scale /= time;
                    // `FLOPS/s` is `FLOPS`.
                    if !unit.base.ends_with("/s") {
                        unit.base.push_str("/s");
                    }
                }
                None => below.push(singular_name(part)),
            }
        }
        below.sort();
        for part in below {
            unit.base.push('/');
            unit.base.push_str(&part);
        }
        unit
    }

    /// Converts a unit of bits to bytes, an eighth of it; other units stay.
    fn into_bytes(self) -> Self {
        match self.base.strip_prefix("bit") {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Self::new(self.scale / 8.0, format!("byte{rest}"))
            }
            _ => self,
        }
    }

    /// Reads what is above the line.
    fn parse_counted(text: &str) -> Self {
        // Only `s` is read as a time of its own, so that `min` is no prefix.
        if let Some(time) = seconds_per_unit(text) {
            return Self::new(time, "s");
        }
        if let Some((scale, base)) = parse_data_unit(text) {
            return Self::new(scale, base);
        }
        let small = fold_case(text);
        let (base, before) = counted_name(&small);
        match text.get(..before).map(str::trim) {
            Some("") => Self::new(1.0, base),
            Some(before) => match prefix_factor(before) {
                Some(scale) => Self::new(scale, base),
                None => Self::parse_unknown(text),
            },
            None => Self::parse_unknown(text),
        }
    }

    /// Anything else is its own base, with a prefix as a word before it: `k widgets`.
    fn parse_unknown(text: &str) -> Self {
        let split = text.split_once(' ');
        let scaled = split.and_then(|(first, rest)| {
            let rest = fold_case(rest.trim());
            Some(Self::new(prefix_factor(first)?, counted_name(&rest).0))
        });
        scaled.unwrap_or_else(|| Self::new(1.0, fold_case(text)))
    }
}

/// Returns the name of what a unit is divided by: `GPUs` as `gpu`, with its prefix, as in `kJ`.
fn singular_name(text: &str) -> String {
    let small = fold_case(text);
    match counted_name(&small) {
        (name, 0) => name.to_owned(),
        _ => text.to_owned(),
    }
}

/// Returns the unit with `/` for `per`: `tokens per second`, `tokens_per_second`.
fn replace_per_with_slash(text: &str) -> String {
    let spaced_text = text.replace(['_', '-'], " ");
    let words: Vec<&str> = spaced_text.split_whitespace().collect();
    let has_per = words.iter().any(|word| word.eq_ignore_ascii_case("per"));
    if !has_per {
        return text.to_owned();
    }
    let part_words = words.split(|word| word.eq_ignore_ascii_case("per"));
    let parts: Vec<String> = part_words.map(|words| words.join(" ")).collect();
    parts.join("/")
}

/// Returns the factor of a unit that is the other one with a prefix: `kwidgets/s`.
fn prefix_factor_between(from: &str, to: &str) -> Option<f64> {
    let scale =
        prefix_factor(from.get(..1)?).filter(|_| from.starts_with(['k', 'K', 'M', 'G', 'T']))?;
    (to.len() > 2 && from.get(1..)?.trim() == to).then_some(scale)
}

/// `k` as well as `K`; `m` is a thousandth, `M` a million.
pub(crate) fn prefix_factor(text: &str) -> Option<f64> {
    Some(match text {
        "n" => 1e-9,
        "u" | "µ" | "μ" => 1e-6,
        "m" => 1e-3,
        "k" | "K" | "thousand" => 1e3,
        "M" | "million" => 1e6,
        "G" | "billion" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    })
}

/// ASCII letters small, so that the length stays.
fn fold_case(text: &str) -> String {
    text.to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
