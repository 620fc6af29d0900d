//! The names of units: every spelling, and the one that stands for it.

/// A time in seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    Some(match text {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1e-9,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" | "Sec" | "Second" | "Seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" | "Minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "Hours" => 3600.0,
        _ => return None,
    })
}

/// Spellings that may have a prefix, and the name that stands for them. Of two that end alike the
/// longer comes first: `flops` is `flop/s`, and `b` ends many.
const SPELLINGS: &[(&str, &str)] = &[
    ("flops", "flop/s"),
    ("flop", "flop"),
    ("operations", "op"),
    ("operation", "op"),
    ("ops", "op/s"),
    ("op", "op"),
    ("bytes", "byte"),
    ("byte", "byte"),
    ("bits", "bit"),
    ("bit", "bit"),
    ("b", "byte"),
    ("hertz", "hz"),
    ("hz", "hz"),
    ("watts", "w"),
    ("watt", "w"),
    ("w", "w"),
    ("joules", "j"),
    ("joule", "j"),
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

/// Returns the name that stands for what a text in small letters counts, and the length of what is
/// before it: a prefix, or nothing. What is in no table stands for itself, in the singular.
pub(super) fn thing(small: &str) -> (&str, usize) {
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

/// Whether a text in small letters is a prefix.
fn is_prefix(text: &str) -> bool {
    matches!(
        text,
        "" | "n" | "u" | "µ" | "μ" | "m" | "k" | "g" | "t" | "p" | "ki" | "mi" | "gi" | "ti"
    )
}
