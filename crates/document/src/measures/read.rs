//! Reads durations, sizes and shares as people write them.

use std::time::Duration;

use crate::field_type::ByteUnits;

/// Reads a duration: `12h`, `90m`, `1h30m`, `45s`, `1d`; more than zero.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut seconds = 0_u64;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let count: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].trim_start();
        let letters = unit.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(unit.len());
        let each = match &unit[..letters] {
            "d" => 86_400,
            "h" => 3_600,
            "m" | "min" => 60,
            "s" => 1,
            _ => return None,
        };
        // Larger units come first, each once: `30m1h` and `1h1h` are slips.
        if each >= smallest {
            return None;
        }
        smallest = each;
        seconds = seconds.checked_add(count.checked_mul(each)?)?;
        rest = unit[letters..].trim_start();
    }
    // A century: more is a slip, and sums of deadlines must not overflow.
    (1..=3_155_760_000).contains(&seconds).then(|| Duration::from_secs(seconds))
}

/// Reads a size, bytes: `500 GiB`, `128G`, `1.5TiB`, `1073741824`.
pub fn parse_size(text: &str, units: ByteUnits) -> Option<u64> {
    let trimmed = text.trim();
    let digits = trimmed
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(trimmed.len());
    let unit = trimmed[digits..].trim_start().to_ascii_lowercase();
    let mut letters = unit.chars();
    let letter = letters.next();
    let rest = letters.as_str();
    let power = match letter {
        None => 0,
        Some('b') if rest.is_empty() => 0,
        Some(letter) => 1 + u32::try_from("kmgtp".find(letter)?).ok()?,
    };
    let base: u64 = match rest {
        "" | "ib" => 1024,
        "b" if units == ByteUnits::Docker => 1024,
        "b" => 1000,
        _ => return None,
    };
    let factor = base.checked_pow(power)?;
    let number = &trimmed[..digits];
    match number.split_once('.') {
        None => number.parse::<u64>().ok()?.checked_mul(factor),
        Some((whole, part)) => {
            let whole_number: u64 = whole.parse().ok()?;
            if part.is_empty() || part.len() > 9 {
                return None;
            }
            let scale = 10_u128.pow(u32::try_from(part.len()).ok()?);
            let part_bytes = part.parse::<u128>().ok()? * u128::from(factor) / scale;
            whole_number.checked_mul(factor)?.checked_add(u64::try_from(part_bytes).ok()?)
        }
    }
}

/// Reads a fraction: `5%`, `5 %` or `0.05`, from 0 to 1.
pub fn parse_fraction(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let (number, divisor) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (trimmed, 1.0),
    };
    if !number.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let value = number.parse::<f64>().ok()? / divisor;
    (0.0..=1.0).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_in_descending_order() {
        let seconds = |text| parse_duration(text).map(|duration| duration.as_secs());
        assert_eq!(seconds("12h"), Some(43_200));
        assert_eq!(seconds("1h30m"), Some(5_400));
        assert_eq!(seconds("1d 2h 45s"), Some(93_645));
        for bad in [
            "",
            "12",
            "h",
            "1.5h",
            "-1h",
            "0s",
            "30m1h",
            "1h1h",
            "12 hours",
            "99999999999999999999h",
            "9999999999999h",
        ] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_are_read_in_binary_and_decimal_units() {
        let precise = |text| parse_size(text, ByteUnits::Precise);
        assert_eq!(precise("500 GiB"), Some(500 << 30));
        assert_eq!(precise("128G"), Some(128 << 30));
        assert_eq!(precise("1.5 TiB"), Some(3 << 39));
        assert_eq!(precise("10GB"), Some(10_000_000_000));
        assert_eq!(precise("1073741824"), Some(1 << 30));
        assert_eq!(precise("512b"), Some(512));
        assert_eq!(parse_size("16gb", ByteUnits::Docker), Some(16 << 30));
        for bad in [
            "",
            "GiB",
            "-1G",
            "1.G",
            "5 GiBs",
            "5 XB",
            "1e9",
            "99999999999999P",
            "1.2.3G",
            "五G",
            "5 é",
        ] {
            assert_eq!(precise(bad), None, "{bad}");
        }
    }

    #[test]
    fn fractions_are_percentages_or_shares_of_one() {
        assert_eq!(parse_fraction("5%"), Some(0.05));
        assert_eq!(parse_fraction("0.8 %"), Some(0.008));
        assert_eq!(parse_fraction("0.05"), Some(0.05));
        for bad in ["", "%", "-5%", "101%", "5", "nan", "inf", "5 percent"] {
            assert_eq!(parse_fraction(bad), None, "{bad}");
        }
    }
}
