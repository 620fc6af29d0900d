//! The names of units: every spelling, and the one that stands for it.

use super::prefix_factor;

/// Returns how many seconds a unit of time has.
pub(super) fn seconds_per_unit(text: &str) -> Option<f64> {
    Some(match text {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1e-9,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" | "Sec" | "Second" | "Seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" | "Minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "Hours" => 3600.0,
        "d" | "day" | "days" | "Days" => 86_400.0,
        _ => return None,
    })
}

/// Spellings that may have a prefix, and the name that stands for them. Of two that end alike the
/// longer comes first: `flops` is `flop/s`.
const SPELLINGS: &[(&str, &str)] = &[
    ("flops", "flop/s"),
    ("iops", "io/s"),
    ("flop", "flop"),
    ("operations", "op"),
    ("operation", "op"),
    ("ops", "op/s"),
    ("op", "op"),
    ("hertz", "hz"),
    ("hz", "hz"),
    ("watts", "w"),
    ("watt", "w"),
    ("w", "w"),
    ("joules", "j"),
    ("joule", "j"),
    ("j", "j"),
    ("°c", "°c"),
    ("°f", "°f"),
    ("tokens", "token"),
    ("token", "token"),
    ("toks", "token"),
    ("tok", "token"),
    ("tps", "token/s"),
    ("samples", "sample"),
    ("sample", "sample"),
    ("images", "image"),
    ("image", "image"),
    ("imgs", "image"),
    ("img", "image"),
    ("iterations", "iteration"),
    ("iteration", "iteration"),
    ("iters", "iteration"),
    ("iter", "iteration"),
    ("its", "iteration"),
    ("it", "iteration"),
    ("steps", "step"),
    ("step", "step"),
    ("items", "item"),
    ("item", "item"),
    ("requests", "request"),
    ("request", "request"),
    ("reqs", "request"),
    ("req", "request"),
    ("rps", "request/s"),
    ("queries", "query"),
    ("query", "query"),
    ("qps", "query/s"),
    ("frames", "frame"),
    ("frame", "frame"),
    ("fps", "frame/s"),
    ("sequences", "sequence"),
    ("sequence", "sequence"),
    ("seqs", "sequence"),
    ("seq", "sequence"),
    ("batches", "batch"),
    ("batch", "batch"),
    ("inferences", "inference"),
    ("infers", "inference"),
    ("infer", "inference"),
    ("inference", "inference"),
    ("infs", "inference"),
    ("inf", "inference"),
    ("messages", "message"),
    ("message", "message"),
    ("msgs", "message"),
    ("msg", "message"),
    ("percent", "%"),
    ("pct", "%"),
    ("%", "%"),
];

/// Letters that stand for what they count only if they are the whole word: `t/s`, `q/s`.
const LETTERS: &[(&str, &str)] = &[("t", "token"), ("q", "query")];

/// Bytes and bits: the factor of the prefix, and the name. A capital `B` is a byte, a small one behind
/// a prefix a bit (`Gb/s`, `Gbps`). `gb` may be either, and is neither.
pub(super) fn parse_data_unit(text: &str) -> Option<(f64, &'static str)> {
    const WORDS: [(&str, &str); 4] =
        [("bytes", "byte"), ("byte", "byte"), ("bits", "bit"), ("bit", "bit")];
    let per_second = text.strip_suffix("ps");
    let counted = per_second.unwrap_or(text);
    let small = counted.to_ascii_lowercase();
    let word = WORDS.iter().find(|(word, _)| small.ends_with(word));
    let (before, name) = match word {
        Some((word, name)) => (&counted[..counted.len() - word.len()], *name),
        None => match counted.strip_suffix('B') {
            Some(before) => (before, "byte"),
            None => (counted.strip_suffix('b')?, "bit"),
        },
    };
    let prefix_text = before.trim();
    let is_small = prefix_text.chars().all(char::is_lowercase);
    if word.is_none() && name == "bit" && per_second.is_none() && is_small {
        return None;
    }
    let scale = if prefix_text.is_empty() { 1.0 } else { data_prefix_factor(prefix_text)? };
    let name = match (name, per_second) {
        (name, None) => name,
        ("byte", _) => "byte/s",
        _ => "bit/s",
    };
    Some((scale, name))
}

/// Returns the factor of a prefix of bytes or bits, which is never below one: `mbps` as `Mbps`.
fn data_prefix_factor(text: &str) -> Option<f64> {
    let mut letters = text.chars();
    let first = letters.next()?.to_ascii_uppercase();
    prefix_factor(&format!("{first}{}", letters.as_str().to_ascii_lowercase()))
}

/// Returns the name that stands for what a text in small letters counts, and the length of what is
/// before it: a prefix, or nothing. What is in no table stands for itself, in the singular.
pub(super) fn counted_name(small: &str) -> (&str, usize) {
    if let Some((_, name)) = LETTERS.iter().find(|(letter, _)| *letter == small) {
        return (name, 0);
    }
    let known = SPELLINGS.iter().find_map(|(spelling, name)| {
        let before = small.strip_suffix(spelling)?.len();
        // `unit` is no `it`.
        is_prefix(small[..before].trim()).then_some((*name, before))
    });
    known.unwrap_or_else(|| {
        let singular = small.strip_suffix('s').filter(|name| name.len() > 3);
        (singular.unwrap_or(small), 0)
    })
}

/// Returns the name of the unit in the table that a text is, with or without a metric prefix: `ktok`, `TFLOPS`, but
/// not `top`.
pub(super) fn known_counted_name(text: &str) -> Option<&'static str> {
    let small = text.to_ascii_lowercase();
    SPELLINGS.iter().find_map(|(spelling, name)| {
        let before = small.strip_suffix(spelling)?.len();
        let prefix = text.get(..before)?.trim();
        matches!(prefix, "" | "k" | "K" | "M" | "G" | "T" | "P").then_some(*name)
    })
}

/// Returns whether a text in small letters is a prefix.
fn is_prefix(text: &str) -> bool {
    matches!(
        text,
        "" | "n"
            | "u"
            | "µ"
            | "μ"
            | "m"
            | "k"
            | "g"
            | "t"
            | "p"
            | "ki"
            | "mi"
            | "gi"
            | "ti"
            | "thousand"
            | "million"
            | "billion"
    )
}
