//! Where a unit is stated: behind a number, or in the name of what is measured.

use super::names::known_counted_name;
use super::{
    AMBIGUOUS_WORDS, Unit, conversion_factor, is_known_unit, is_same, is_unit, prefix_factor,
    replace_per_with_slash, seconds_of,
};

/// The most words of a name whose end is its unit: `tok_per_s_per_gpu`.
const MAX_UNIT_WORDS: usize = 5;

/// The unit behind a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitBehind {
    /// What is divided, and by what: `tokens/s/GPU` of ` tokens/s (per GPU)`.
    pub text: String,
    /// The bytes from the number to its end.
    pub length: usize,
}

/// Returns the unit that follows a number, as far as it goes: ` ms`, ` (ms)`, ` tokens per second`, `tok/s-GPU`.
pub fn unit_behind(rest: &str) -> Option<UnitBehind> {
    let inner = rest.trim_start_matches([' ', '\u{a0}', '\t']);
    let inner = inner.strip_prefix("in ").unwrap_or(inner);
    let body = inner.strip_prefix(['(', '[']).unwrap_or(inner);
    let is_bracketed = body.len() < inner.len();
    let (word, mut behind) = split_word(body);
    if word.is_empty() {
        return None;
    }
    let mut text = word.to_owned();
    while let Some((divisor, after)) = split_divisor(behind) {
        text = format!("{text}/{divisor}");
        behind = after;
    }
    if is_bracketed {
        behind = behind.strip_prefix([')', ']'])?;
    }
    // What `1500/GPU` counts is what the figure counts.
    let is_divisor =
        text.strip_prefix('/').is_some_and(|below| below.starts_with(char::is_alphabetic));
    let is_stated = is_unit(&text) || seconds_of(&text).is_some() || is_divisor;
    is_stated.then(|| UnitBehind { text, length: rest.len() - behind.len() })
}

/// Splits what a unit is divided by from a text: `/GPU`, ` per GPU`, ` (per GPU)`, `-GPU`.
fn split_divisor(text: &str) -> Option<(&str, &str)> {
    let trimmed = text.trim_start_matches(' ');
    if let Some(inner) = trimmed.strip_prefix("(per ") {
        let (word, after) = split_word(inner);
        return Some((word, after.strip_prefix(')')?));
    }
    let below = ["per ", "Per ", "/"].iter().find_map(|word| trimmed.strip_prefix(word));
    let below = below.or_else(|| text.strip_prefix("-per-"));
    let below = below.or_else(|| text.strip_prefix(['-', '·']))?;
    let (word, after) = split_word(below.trim_start_matches(' '));
    word.starts_with(char::is_alphabetic).then_some((word, after))
}

/// Splits the word of a unit from a text: letters, digits behind them, and the marks within a unit.
fn split_word(text: &str) -> (&str, &str) {
    let is_part =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '%' | '°' | '^' | '_');
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches('/');
    text.split_at(word.len())
}

/// Returns the unit that a name states, if it is another than the figure's: `ms` of `Mean TTFT (ms):`, `ttft_ms=`,
/// `time in ms:`; a name that has the figure's own unit anywhere states that one.
pub fn find_contradiction(name: &str, unit: &str) -> Option<String> {
    if unit.trim().is_empty() {
        return None;
    }
    let stated = stated_units(name, unit);
    let is_own = |text: &String| is_same(text, unit) || is_same_in_small_letters(text, unit);
    let words = name.split(|letter: char| letter.is_whitespace() || "()[]:=|,".contains(letter));
    if let Some(divided) = find_divisor(name, unit) {
        return Some(divided);
    }
    if stated.iter().any(is_own)
        || words.filter(|word| !word.is_empty()).any(|word| is_same(word, unit))
    {
        return None;
    }
    stated.into_iter().next()
}

/// Returns the units that a name states, the nearest to its end first.
fn stated_units(name: &str, unit: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = trim_name(name);
    while let Some(inner) = rest.strip_suffix([')', ']', '}']) {
        let Some((before, remark)) = inner.rsplit_once(['(', '[', '{']) else {
            break;
        };
        // `GPU(s)` is a plural.
        let is_plural = remark == "s" && before.ends_with(char::is_alphabetic);
        let parts = remark.split(',').map(str::trim).filter(|_| !is_plural);
        found.extend(parts.filter(|part| is_stated_unit(part)).map(str::to_owned));
        rest = trim_name(before);
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    if let [.., "in", last] = words[..]
        && is_stated_unit(last)
    {
        found.push(last.to_owned());
    }
    let last = words.last().copied().unwrap_or_default();
    let last = last.rsplit(['(', '[', '"', '\'', ',', '{', '<', '>']).next().unwrap_or_default();
    if words.iter().any(|word| word.eq_ignore_ascii_case("per")) {
        found.extend(unit_with_per(&words));
    } else {
        let pieces = name_pieces(last);
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let tail = &pieces[pieces.len().saturating_sub(MAX_UNIT_WORDS)..];
        found.extend(longest_unit(tail, unit));
    }
    found
}

/// Returns the unit of the last words, of which one is `per`: `events per second`, `tokens per second per GPU`.
fn unit_with_per(words: &[&str]) -> Option<String> {
    let first = words.iter().position(|word| word.eq_ignore_ascii_case("per"))?;
    let above = words.get(first.checked_sub(1)?)?;
    let text = replace_per_with_slash(&words[first - 1..].join(" "));
    let is_rate = text.split('/').skip(1).any(|part| seconds_of(part).is_some());
    (is_rate || is_known_unit(above)).then_some(text)
}

/// Returns the pieces of a word of a name: `ttft`, `ms` of `ttft_ms`, `ttftMs`, `TTFT_MS`.
fn name_pieces(word: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut follows_small = false;
    for letter in word.chars() {
        if follows_small && letter.is_uppercase() {
            spaced.push('_');
        }
        follows_small = letter.is_lowercase();
        spaced.push(letter);
    }
    let pieces = spaced.split(['_', '-', '.']).filter(|piece| !piece.is_empty());
    let with_units = pieces.map(|piece| {
        let small = piece.to_ascii_lowercase();
        let is_time = seconds_of(&small)
            .is_some_and(|_| small.len() > 1 && !AMBIGUOUS_WORDS.contains(&small.as_str()));
        match small.as_str() {
            "mflops" | "gflops" | "tflops" | "pflops" => small.to_ascii_uppercase(),
            _ if is_time => small,
            _ => piece.to_owned(),
        }
    });
    with_units.collect()
}

/// Returns the unit that a line states for all its members, if it is another multiple of the figure's and the member's
/// own name states none: `usec` of `clat (usec): min=3, avg=`. `head` is what precedes the number, and ends with the name.
pub fn find_line_unit(head: &str, name: &str, unit: &str) -> Option<String> {
    let stated = unit_of_line(head).filter(|_| stated_units(name, unit).is_empty())?;
    let factor = conversion_factor(&stated, unit)?;
    ((factor - 1.0).abs() > 1e-9).then_some(stated)
}

/// Returns the unit in brackets that stands before other members of a line, and not before a number of its own.
fn unit_of_line(name: &str) -> Option<String> {
    let (before, inner) = name.rsplit_once(['(', '['])?;
    let (remark, behind) = inner.split_once([')', ']'])?;
    let value =
        behind.trim_start_matches(|letter: char| letter.is_whitespace() || ":=|".contains(letter));
    let has_own = value.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let is_plural = remark == "s" && before.ends_with(char::is_alphabetic);
    (!has_own && !is_plural && value.contains(['=', ':']) && is_stated_unit(remark))
        .then(|| remark.to_owned())
}

/// Returns what a rate of a name is for each of, if the figure is not: `GPU` of `throughput per GPU`.
fn find_divisor(name: &str, unit: &str) -> Option<String> {
    let base = Unit::parse(unit).base;
    if !base.contains("/s") {
        return None;
    }
    // `w/ ctx` divides nothing.
    let name = name.replace("/ ", " ").replace('/', " per ");
    let part = name.rsplit([',', ';', '|']).find(|part| part.contains(char::is_alphabetic))?;
    let words: Vec<&str> = part
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.windows(2).filter(|pair| pair[0].eq_ignore_ascii_case("per"));
    // `B/W` is a bandwidth.
    let divisors = pairs
        .map(|pair| pair[1])
        .filter(|word| word.len() > 1 && seconds_of(&word.to_ascii_lowercase()).is_none());
    let has = |word: &str| {
        base.split('/').skip(1).any(|own| own.eq_ignore_ascii_case(word.trim_end_matches('s')))
    };
    divisors.rev().find(|word| !has(word)).map(|word| format!("{unit}/{word}"))
}

/// Returns the most of the last words that are one unit, joined by `per`, or each the divisor of the one before.
fn longest_unit(words: &[&str], unit: &str) -> Option<String> {
    (0..words.len()).find_map(|from| {
        let is_suffix = from > 0;
        let words = &words[from..];
        let has_per = words.iter().any(|word| word.eq_ignore_ascii_case("per"));
        let text = if has_per { replace_per_with_slash(&words.join("_")) } else { words.join("/") };
        let (above, below) = text.split_once('/').unwrap_or((&text, ""));
        let is_written = words.len() == 1 || below.split('/').all(is_known_unit);
        // `tokens_s` and `tok_s` are rates; in `first_token_ms` one token is what the time is of.
        let is_one_counted =
            above.len() > 3 && !above.ends_with('s') && known_counted_name(above).is_some();
        let is_rate = !below.is_empty() && (has_per || is_written && !is_one_counted);
        let is_multiple =
            is_suffix && prefix_factor(&text).is_none() && conversion_factor(&text, unit).is_some();
        let is_known = |text: &str| is_known_unit(text) || is_small_data_unit(text) || is_multiple;
        // A single word is a unit if it can be nothing else: a time, data, or the total of what is asked by time.
        let is_one = below.is_empty()
            && !above.contains('/')
            && !AMBIGUOUS_WORDS.contains(&above)
            && (above.len() > 1 || is_suffix && above == "s")
            && (seconds_of(above).is_some() || is_measured(above, unit));
        (is_rate && is_known(above) || is_one && is_known(above)).then(|| text.clone())
    })
}

/// Returns whether a word is a unit that is no name of what is counted, or counts what the figure counts by time.
fn is_measured(word: &str, unit: &str) -> bool {
    let base = Unit::parse(word).into_bytes().base;
    let own = Unit::parse(unit).into_bytes().base;
    base.contains('/')
        || base.starts_with("byte")
        || matches!(base.as_str(), "%" | "w" | "j" | "hz")
        || own == format!("{base}/s")
        || is_small_data_unit(word)
}

/// Returns whether a text in brackets, or behind `in`, is a unit.
fn is_stated_unit(text: &str) -> bool {
    is_unit(text) && has_known_numerator(text) || seconds_of(text).is_some()
}

fn has_known_numerator(text: &str) -> bool {
    let spelled = replace_per_with_slash(text);
    let above = spelled.split('/').next().unwrap_or_default();
    is_known_unit(above.trim()) || above.contains('°')
}

/// Returns whether a text is an amount of data in small letters, as names have it: `mb` of `bw_mb_s`.
fn is_small_data_unit(text: &str) -> bool {
    matches!(text, "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" | "tib")
}

/// Returns whether a unit of a name is the figure's, if names have no capital letters: `gb_s` of `bw_gb_s`.
fn is_same_in_small_letters(text: &str, unit: &str) -> bool {
    let capital = text.split('/').map(|part| {
        if is_small_data_unit(part) {
            part.to_ascii_uppercase().replace('I', "i")
        } else {
            part.to_owned()
        }
    });
    is_same(&capital.collect::<Vec<_>>().join("/"), unit)
}

/// Returns the unit that a line states next to its value, `unit=ms`, if it is another than the figure's.
pub fn find_sibling(line: &str, unit: &str) -> Option<String> {
    let mut places = line.match_indices("unit");
    places.find_map(|(at, word)| {
        let begins = line[..at]
            .chars()
            .next_back()
            .is_none_or(|last| !last.is_alphanumeric() && last != '_');
        let behind = line[at + word.len()..].trim_start_matches(['s', '"', '\'']).trim_start();
        let value = behind.strip_prefix(['=', ':'])?.trim_start().trim_start_matches(['"', '\'']);
        let (text, _) = split_word(value);
        (begins && is_stated_unit(text) && !is_same(text, unit)).then(|| text.to_owned())
    })
}

/// Returns a name without what parts it from its value.
fn trim_name(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_whitespace() || ":=|│\"'`.,>→".contains(letter))
}
