//! A figure as it was printed: its value, its unit, and how finely it was printed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::units;

/// Figures by name; a name is a snake-case term of the field that ends in its unit where that is a
/// time (`latency_p99_ns`).
pub type Figures = BTreeMap<Cow<'static, str>, Figure>;

/// The unit of a throughput in samples.
pub const SAMPLES_PER_SECOND: &str = "samples/s";
/// The unit of a throughput in tokens.
pub const TOKENS_PER_SECOND: &str = "tokens/s";
/// The unit of a throughput in queries.
pub const QUERIES_PER_SECOND: &str = "queries/s";
/// Nanoseconds, LoadGen's unit of time.
pub const NANOSECONDS: &str = "ns";

/// A measured value with its unit, and how finely it was printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The value in `unit`; always finite.
    pub value: f64,
    /// The unit as text, `tokens/s` or `ns`.
    pub unit: Cow<'static, str>,
    /// Half of the last printed digit: the true value lies within `value` ± this.
    pub half_digit: f64,
}

impl Figure {
    /// Returns the same figure in another unit, `factor` of the old ones to one of the new.
    #[must_use]
    pub fn scale_to_unit(&self, factor: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self {
            value: self.value * factor,
            unit: unit.into(),
            half_digit: self.half_digit * factor.abs(),
        }
    }
}

/// A printed number and how finely it was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedNumber {
    /// The value; always finite.
    pub value: f64,
    /// Half of the last printed digit.
    pub half_digit: f64,
}

impl PrintedNumber {
    /// Returns the same in another unit, `factor` of the new to one of the old.
    #[must_use]
    pub fn scale_by(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_digit: self.half_digit * factor.abs() }
    }
}

/// Separators of groups of three digits: commas, underscores, apostrophes, and spaces that do not
/// end a word (no-break, figure, thin, narrow no-break).
pub const SEPARATORS: [char; 8] =
    [',', '_', '\'', '’', '\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// Reads a printed number: `103480`, `-0.5`, `1.04615e+06`, `14,164.25`, `1_000`, `1'234.5`, `1.2×10^6`.
///
/// Separators must be of one kind and part groups of exactly three digits: `1,5` is not a number here,
/// since it is fifteen tenths to one reader and a list to another. `nan` and `inf` are none either.
pub fn parse_number(text: &str) -> Option<PrintedNumber> {
    let plain = normalize_notation(text.trim());
    let plain = strip_separators(&plain)?;
    let digits = plain.trim_start_matches(['+', '-']);
    // `f64` also reads `nan`, `inf` and `infinity`, which LoadGen prints for a test of no length.
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then(|| PrintedNumber { value, half_digit: half_digit(&plain) })
}

/// Reads a printed number that may have a suffix, of a figure in `unit`: `12.3k` with `tokens/s` is
/// 12,300. The suffix that is the unit's own is no factor: `107.9G` with `GiB`.
pub fn parse_with_suffix(text: &str, unit: &str) -> Option<PrintedNumber> {
    let trimmed = text.trim();
    let number = trimmed.trim_end_matches(['k', 'K', 'M', 'G', 'T', 'P']);
    let suffix = &trimmed[number.len()..];
    if suffix.is_empty() {
        return parse_number(trimmed);
    }
    let printed = parse_number(number)?;
    Some(printed.scale_by(units::suffix_factor(suffix, unit)?))
}

/// Returns the number with ASCII's minus, and with `e` for a power of ten.
fn normalize_notation(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('^') {
        return Cow::Borrowed(text);
    }
    let ascii_minus = text.replace('−', "-");
    let Some((before, power)) = ascii_minus.split_once("10^") else {
        return Cow::Owned(ascii_minus);
    };
    match before.trim_end().strip_suffix(['×', 'x', '*', '·']) {
        Some(mantissa) => Cow::Owned(format!("{}e{power}", mantissa.trim_end())),
        None => Cow::Owned(ascii_minus),
    }
}

fn strip_separators(text: &str) -> Option<Cow<'_, str>> {
    let Some(separator) = text.chars().find(|letter| SEPARATORS.contains(letter)) else {
        return Some(Cow::Borrowed(text));
    };
    let unsigned = text.trim_start_matches(['+', '-']);
    let whole_length = unsigned
        .find(|letter: char| !(letter.is_ascii_digit() || letter == separator))
        .unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(whole_length);
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let well_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    (well_grouped && !rest.contains(SEPARATORS)).then(|| {
        let digits: String = text.chars().filter(|letter| *letter != separator).collect();
        Cow::Owned(digits)
    })
}

/// Returns half of the last digit of a plain decimal or scientific number.
fn half_digit(plain: &str) -> f64 {
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let exponent_value: i32 = exponent.parse().unwrap_or(0);
    let decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    0.5 * 10_f64.powi(exponent_value.saturating_sub(decimals))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("103480", 103_480.0, 0.5)]
    #[case(" 365.738 ", 365.738, 0.0005)]
    #[case("1.04615e+06", 1_046_150.0, 5.0)]
    #[case("14,164", 14_164.0, 0.5)]
    #[case("1,042,110.50", 1_042_110.5, 0.005)]
    #[case("1_000", 1000.0, 0.5)]
    #[case("1'234.5", 1234.5, 0.05)]
    #[case("1’234", 1234.0, 0.5)]
    #[case("12\u{202f}345", 12_345.0, 0.5)]
    #[case("1\u{a0}234.25", 1234.25, 0.005)]
    #[case("−2.5", -2.5, 0.05)]
    #[case("1.25×10^6", 1_250_000.0, 5_000.0)]
    #[case("1.25 x 10^-2", 0.0125, 0.000_05)]
    #[case("-2.5E-3", -0.0025, 0.000_05)]
    #[case("+7", 7.0, 0.5)]
    #[case(".5", 0.5, 0.05)]
    fn numbers_keep_their_printed_precision(
        #[case] text: &str,
        #[case] value: f64,
        #[case] half: f64,
    ) {
        let printed = parse_number(text).unwrap();
        assert!((printed.value - value).abs() < 1e-9, "{printed:?}");
        assert!((printed.half_digit - half).abs() < half * 1e-9, "{printed:?}");
    }

    #[rstest]
    fn text_that_is_not_a_number_is_none(
        #[values(
            "",
            "nan",
            "-nan",
            "inf",
            "-inf",
            "1,5",
            "1,2345",
            ",100",
            "1234,567",
            "1.5,000",
            "12a",
            "0x10",
            "1 000",
            "--1",
            "1e999",
            "infinity",
            "1__000",
            "1,234_567",
            "1.234,5",
            "12,34,567",
            "10^6",
            "1'23",
            "12.3k",
            "1.2.3"
        )]
        text: &str,
    ) {
        assert_eq!(parse_number(text), None);
    }

    #[rstest]
    #[case("12.3k", "tokens/s", Some(12_300.0))]
    #[case("12.3 K", "", Some(12_300.0))]
    #[case("1.2M", "samples", Some(1_200_000.0))]
    #[case("107.9G", "GiB", Some(107.9))]
    #[case("512M", "GB", Some(0.512))]
    #[case("300 K", "K", Some(300.0))]
    #[case("12.3", "tokens/s", Some(12.3))]
    #[case("12.3k", "ms", None)]
    #[case("12.3k", "%", None)]
    #[case("12.3kM", "tokens/s", None)]
    #[case("k", "tokens/s", None)]
    fn a_suffix_counts_where_the_unit_has_one(
        #[case] text: &str,
        #[case] unit: &str,
        #[case] expected: Option<f64>,
    ) {
        let actual = parse_with_suffix(text, unit).map(|printed| printed.value);
        assert_eq!(actual, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            if let Some(printed) = parse_number(&text) {
                prop_assert!(printed.value.is_finite());
            }
        }

        #[test]
        fn a_printed_value_is_parsed_within_half_a_digit(value in -1e12_f64..1e12, decimals in 0_usize..6) {
            let printed = parse_number(&format!("{value:.decimals$}")).unwrap();
            prop_assert!((printed.value - value).abs() <= printed.half_digit * (1.0 + 1e-6) + 4.0 * f64::EPSILON * value.abs());
        }
    }
}
