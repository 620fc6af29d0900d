//! Formats durations, sizes, rates and counts for people; figures are formatted by `retrial-readings`.
//!
//! Sizes of memory, disks and files are binary (KiB, MiB, GiB), rates are decimal (kB/s, MB/s).

use jiff::SignedDuration;

/// Formats a duration in seconds: `0.4 s`, `42.0 s`, `3m 12s`, `2h 05m`.
pub fn format_duration(seconds: f64) -> String {
    let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = to_whole_seconds(seconds.round());
    if whole < 3600 {
        format!("{}m {:02}s", whole / 60, whole % 60)
    } else {
        format!("{}h {:02}m", whole / 3600, whole % 3600 / 60)
    }
}

/// Formats the elapsed time of something under way in whole seconds, so that it does not flicker.
pub fn format_elapsed(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{} s", to_whole_seconds(seconds))
    } else {
        format_duration(seconds.floor())
    }
}

/// Formats a time limit in seconds as a recipe states it: `1h`, `1h 30m`, `45s`.
pub fn format_time_limit(seconds: u64) -> String {
    let duration = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    format!("{duration:#}")
}

/// Formats a size in bytes: `512 B`, `3.28 MiB`, `300 GiB`.
pub fn format_bytes(bytes: u64) -> String {
    humansize::format_size(bytes, humansize::BINARY)
}

/// Formats a rate in bytes per second: `118 MB/s`.
pub fn format_byte_rate(bytes_per_second: f64) -> String {
    let per_second = bytes_per_second.max(0.0);
    if per_second >= 1e9 {
        format!("{:.2} GB/s", per_second / 1e9)
    } else if per_second >= 1e7 {
        format!("{:.0} MB/s", per_second / 1e6)
    } else if per_second >= 1e6 {
        format!("{:.1} MB/s", per_second / 1e6)
    } else {
        format!("{:.0} kB/s", per_second / 1e3)
    }
}

/// Formats a number of things: `1 file`, `12 files`, `2 properties`.
pub fn format_count(number: usize, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if number == 1 => format!("1 {one}"),
        Some(stem) if one.ends_with("ty") => format!("{number} {stem}ies"),
        _ => format!("{number} {one}s"),
    }
}

/// Formats a count in a sentence: up to ten as a word, `two`, else in digits, `12`.
pub fn format_small_count(number: u32) -> String {
    const WORDS: [&str; 11] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = usize::try_from(number).ok().and_then(|at| WORDS.get(at));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Formats all of several things: `Both files`, `All 12 files`.
pub fn format_both_or_all(number: usize, one: &str) -> String {
    match number {
        2 => format!("Both {one}s"),
        _ => format!("All {number} {one}s"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole seconds of a duration, never negative"
)]
fn to_whole_seconds(seconds: f64) -> u64 {
    seconds.max(0.0) as u64
}

/// Joins the first of several names, and counts the others: `a, b and 3 more`.
pub fn join_first<Name: std::borrow::Borrow<str>>(names: &[Name], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0.04, "0.0 s")]
    #[case(12.34, "12.3 s")]
    #[case(59.94, "59.9 s")]
    #[case(59.96, "1m 00s")]
    #[case(61.9, "1m 02s")]
    #[case(3599.99, "1h 00m")]
    #[case(7530.0, "2h 05m")]
    #[case(f64::NAN, "0.0 s")]
    #[case(-3.0, "0.0 s")]
    fn durations_are_formatted_by_their_magnitude(#[case] seconds: f64, #[case] text: &str) {
        assert_eq!(format_duration(seconds), text);
    }

    #[rstest]
    #[case(0, "0 B")]
    #[case(999, "999 B")]
    #[case(1_499, "1.46 KiB")]
    #[case(3_440_000, "3.28 MiB")]
    #[case(300 << 30, "300 GiB")]
    #[case(u64::MAX, "16 EiB")]
    fn sizes_are_formatted_in_binary_units(#[case] bytes: u64, #[case] text: &str) {
        assert_eq!(format_bytes(bytes), text);
    }

    #[rstest]
    #[case(0, "0s")]
    #[case(90, "1m 30s")]
    #[case(5400, "1h 30m")]
    fn limits_are_formatted_as_recipes_state_them(#[case] seconds: u64, #[case] text: &str) {
        assert_eq!(format_time_limit(seconds), text);
    }

    #[rstest]
    #[case(0.0, "0 kB/s")]
    #[case(2_340_000.0, "2.3 MB/s")]
    #[case(117_600_000.0, "118 MB/s")]
    #[case(1_230_000_000.0, "1.23 GB/s")]
    fn rates_are_formatted_in_decimal_units(#[case] per_second: f64, #[case] text: &str) {
        assert_eq!(format_byte_rate(per_second), text);
    }
}
