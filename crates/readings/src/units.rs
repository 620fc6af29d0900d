//! Units as benchmarks print them, and conversions, which apply only where a recipe requests them.

/// Returns the factor that converts a number in `from` to one in `to`; none where they are not of one
/// kind.
///
/// A prefix alone counts in the target's own base: `12.3 k` with `tokens/s` is 12,300 tokens/s.
pub fn factor(from: &str, to: &str) -> Option<f64> {
    let (from, to) = (from.trim(), to.trim());
    if from.is_empty() || folded(from) == folded(to) {
        return Some(1.0);
    }
    let target = Unit::read(to);
    if let Some(scale) = prefix(from) {
        return Some(scale / target.scale);
    }
    let source = Unit::read(from);
    (source.base == target.base).then(|| source.scale / target.scale)
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

    fn read(text: &str) -> Self {
        // The text after the slash belongs to the base: only `s` is read, so that `min` is no prefix.
        if let Some(seconds) = seconds(text) {
            return Self::new(seconds, "s");
        }
        let unit = folded(text);
        // Longest first: `FLOPS` is `FLOP/s`, and `B` ends both.
        let known = BASES.iter().find_map(|(name, base)| {
            let before = unit.strip_suffix(name)?.len();
            let scale = match text.get(..before)?.trim() {
                "" => 1.0,
                before => prefix(before)?,
            };
            Some(Self::new(scale, *base))
        });
        known.unwrap_or_else(|| {
            // Anything else is its own base, with a prefix as a word before it: `k tokens/s`.
            let split = text.split_once(' ');
            let scaled =
                split.and_then(|(first, rest)| Some(Self::new(prefix(first)?, folded(rest))));
            scaled.unwrap_or_else(|| Self::new(1.0, unit))
        })
    }
}

/// Units that are written with a prefix, and their base.
const BASES: &[(&str, &str)] = &[
    ("flops/s", "flop/s"),
    ("flop/s", "flop/s"),
    ("flops", "flop/s"),
    ("ops/s", "op/s"),
    ("ops", "op/s"),
    ("bytes/s", "byte/s"),
    ("b/s", "byte/s"),
    ("bytes", "byte"),
    ("byte", "byte"),
    ("b", "byte"),
    ("hz", "hz"),
    ("w", "w"),
];

fn seconds(text: &str) -> Option<f64> {
    Some(match text {
        "ns" | "nsec" | "nanoseconds" => 1e-9,
        "us" | "µs" | "μs" | "usec" | "microseconds" => 1e-6,
        "ms" | "msec" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        _ => return None,
    })
}

/// `k` as well as `K`; `m` is a thousandth, `M` a million.
fn prefix(text: &str) -> Option<f64> {
    Some(match text {
        "n" => 1e-9,
        "u" | "µ" | "μ" => 1e-6,
        "m" => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
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
fn folded(text: &str) -> String {
    text.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ms", "s", 1e-3)]
    #[case("ms", "ms", 1.0)]
    #[case("µs", "ms", 1e-3)]
    #[case("min", "s", 60.0)]
    #[case("h", "min", 60.0)]
    #[case("TFLOPS", "TFLOP/s", 1.0)]
    #[case("GFLOPS", "TFLOP/s", 1e-3)]
    #[case("PFLOP/s", "TFLOPS", 1e3)]
    #[case("TFlops/s", "TFLOP/s", 1.0)]
    #[case("k", "tokens/s", 1e3)]
    #[case("M", "tokens/s", 1e6)]
    #[case("", "tokens/s", 1.0)]
    #[case("tokens/s", "tokens/s", 1.0)]
    #[case("k tokens/s", "tokens/s", 1e3)]
    #[case("GiB", "GB", 1.073_741_824)]
    #[case("MB/s", "GB/s", 1e-3)]
    fn conversions(#[case] from: &str, #[case] to: &str, #[case] expected: f64) {
        let actual = factor(from, to).unwrap();
        assert!((actual / expected - 1.0).abs() < 1e-12, "{actual}");
    }

    #[rstest]
    #[case("ms", "TFLOP/s")]
    #[case("tokens/s", "samples/s")]
    #[case("GB", "GB/s")]
    #[case("bogus", "s")]
    fn incompatible_units_have_no_factor(#[case] from: &str, #[case] to: &str) {
        assert_eq!(factor(from, to), None);
    }

    proptest! {
        #[test]
        fn conversions_are_invertible(from in "\\PC{0,8}", to in "\\PC{0,8}") {
            if let (Some(there), Some(back)) = (factor(&from, &to), factor(&to, &from))
                && prefix(from.trim()).is_none() && prefix(to.trim()).is_none()
            {
                prop_assert!((there * back - 1.0).abs() < 1e-9);
            }
        }
    }
}
