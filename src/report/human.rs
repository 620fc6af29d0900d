//! Durations, bytes and rates as people read them.
//!
//! Bytes are decimal (kB, MB, GB), as Docker and registries count them.

use crate::plan::text;

/// `0.4 s`, `42.0 s`, `3m 12s`, `2h 05m`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let seconds = if seconds.is_finite() {
        seconds.max(0.0)
    } else {
        0.0
    };
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = whole(seconds.round());
    if whole < 3600 {
        format!("{}m {:02}s", whole / 60, whole % 60)
    } else {
        format!("{}h {:02}m", whole / 3600, whole % 3600 / 60)
    }
}

/// Elapsed time that is looked at while it grows: whole seconds, so that it does not flicker.
#[must_use]
pub fn elapsed(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{} s", whole(seconds))
    } else {
        duration(seconds.floor())
    }
}

/// A limit as a recipe states it: `1h`, `1h 30m`.
#[must_use]
pub fn limit(seconds: u64) -> String {
    text::duration(seconds)
}

/// `512 B`, `3.4 MB`, `10.39 GB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str, usize); 4] = [
        (1_000_000_000_000, "TB", 2),
        (1_000_000_000, "GB", 2),
        (1_000_000, "MB", 1),
        (1_000, "kB", 0),
    ];
    UNITS.iter().find(|(size, ..)| count >= *size).map_or_else(
        || format!("{count} B"),
        |(size, unit, decimals)| format!("{:.decimals$} {unit}", real(count) / real(*size)),
    )
}

/// Space as a recipe asks for it: `300 GiB`, or `2.00 GB`.
#[must_use]
pub fn space(count: u64) -> String {
    if count > 0 && count.is_multiple_of(1 << 30) {
        format!("{} GiB", count >> 30)
    } else {
        bytes(count)
    }
}

/// `118 MB/s`, from bytes per second.
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
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

/// One of something, or many: `1 file`, `12 files`.
#[must_use]
pub fn count(number: usize, one: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {one}s")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole seconds of a duration, never negative"
)]
fn whole(seconds: f64) -> u64 {
    seconds.max(0.0) as u64
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn real(count: u64) -> f64 {
    count as f64
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
    fn durations(#[case] seconds: f64, #[case] text: &str) {
        assert_eq!(duration(seconds), text);
    }

    #[rstest]
    #[case(0, "0 B")]
    #[case(999, "999 B")]
    #[case(1_499, "1 kB")]
    #[case(3_440_000, "3.4 MB")]
    #[case(10_390_000_000, "10.39 GB")]
    #[case(u64::MAX, "18446744.07 TB")]
    fn byte_counts(#[case] number: u64, #[case] text: &str) {
        assert_eq!(bytes(number), text);
    }

    #[rstest]
    #[case(0.0, "0 kB/s")]
    #[case(2_340_000.0, "2.3 MB/s")]
    #[case(117_600_000.0, "118 MB/s")]
    #[case(1_230_000_000.0, "1.23 GB/s")]
    fn rates(#[case] per_second: f64, #[case] text: &str) {
        assert_eq!(rate(per_second), text);
    }
}
