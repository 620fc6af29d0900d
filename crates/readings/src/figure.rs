//! A figure as it was printed: its value, its unit, and how finely it was printed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Figures by name; a name is a snake-case term of the field that ends in its unit where that is a
/// time (`latency_p99_ns`).
pub type Figures = BTreeMap<Cow<'static, str>, Figure>;

/// Samples per second.
pub const SAMPLES_PER_SECOND: &str = "samples/s";
/// Tokens per second.
pub const TOKENS_PER_SECOND: &str = "tokens/s";
/// Queries per second.
pub const QUERIES_PER_SECOND: &str = "queries/s";
/// Nanoseconds, LoadGen's unit of time.
pub const NANOSECONDS: &str = "ns";

/// One measured figure.
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
    /// The same figure in another unit, `factor` of the old ones to one of the new.
    #[must_use]
    pub fn scaled(&self, factor: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self {
            value: self.value * factor,
            unit: unit.into(),
            half_digit: self.half_digit * factor.abs(),
        }
    }
}

/// A printed number and how finely it was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The value; always finite.
    pub value: f64,
    /// Half of the last printed digit.
    pub half_digit: f64,
}

impl Printed {
    /// The same in another unit, `factor` of the new to one of the old.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half_digit: self.half_digit * factor.abs(),
        }
    }
}

/// Reads a printed number: `103480`, `-0.5`, `1.04615e+06`, `14,164.25`, `1_000`.
///
/// Commas and underscores must separate groups of exactly three digits: `1,5` is not a number here,
/// since it is fifteen tenths to one reader and a list to another. `nan` and `inf` are none either.
pub fn parse_number(text: &str) -> Option<Printed> {
    let text = text.trim();
    let plain = without_separators(text)?;
    let digits = plain.trim_start_matches(['+', '-']);
    // `f64` also reads `nan`, `inf` and `infinity`, which LoadGen prints for a test of no length.
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then(|| Printed {
        value,
        half_digit: half_digit(&plain),
    })
}

fn without_separators(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains([',', '_']) {
        return Some(Cow::Borrowed(text));
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let whole_length = unsigned
        .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '_'))
        .unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(whole_length);
    let mut groups = whole.split([',', '_']);
    let first = groups.next()?;
    let well_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    (well_grouped && !rest.contains([',', '_'])).then(|| {
        let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
        Cow::Owned(digits)
    })
}

/// Half of the last digit of a plain decimal or scientific number.
fn half_digit(plain: &str) -> f64 {
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    0.5 * 10_f64.powi(exponent.saturating_sub(decimals))
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
        assert!(
            (printed.half_digit - half).abs() < half * 1e-9,
            "{printed:?}"
        );
    }

    #[rstest]
    fn text_that_is_not_a_number_is_none(
        #[values(
            "", "nan", "-nan", "inf", "-inf", "1,5", "1,2345", ",100", "1234,567", "1.5,000",
            "12a", "0x10", "1 000", "--1", "1e999", "infinity", "1__000"
        )]
        text: &str,
    ) {
        assert_eq!(parse_number(text), None);
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
