//! The kinds of units: a time is not a rate, and a count of tokens is not one of samples. Only units in the tables have
//! a kind: any other word may belong to a sentence.

use super::names::{known_counted_name, parse_data_unit, seconds_per_unit};
use super::{Unit, replace_per_with_slash};

/// Units that are as often other words or the label of the next value: `12 min 9 max`, `it was`.
const AMBIGUOUS_WORDS: &[&str] = &[
    "it", "its", "inf", "op", "ops", "m", "d", "h", "t", "q", "b", "w", "j", "min", "day", "days",
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct UnitKind {
    /// The counted thing or the measured quantity: `s`, `byte`, `token`.
    counted: String,
    /// Whether it is a rate per second.
    is_rate: bool,
    /// Whether it may be a rate that is written without its time: `731 items`.
    may_be_rate: bool,
}

impl UnitKind {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if AMBIGUOUS_WORDS.contains(&text) {
            return None;
        }
        let spelled = replace_per_with_slash(text);
        let mut parts = spelled.split('/').map(str::trim);
        let above = parts.next()?;
        let has_time_below = parts.any(|part| seconds_per_unit(part).is_some());
        if seconds_per_unit(above).is_some() {
            return Some(Self { counted: "s".to_owned(), is_rate: false, may_be_rate: false });
        }
        if let Some((_, name)) = parse_data_unit(above) {
            let unit = Unit::new(1.0, name).into_bytes();
            return Some(Self {
                counted: "byte".to_owned(),
                is_rate: has_time_below || unit.base.ends_with("/s"),
                may_be_rate: false,
            });
        }
        let name = known_counted_name(above)?;
        Some(Self {
            counted: name.trim_end_matches("/s").to_owned(),
            is_rate: has_time_below,
            // `TFLOPS` is a number or a rate.
            may_be_rate: !has_time_below,
        })
    }
}

/// Returns whether a printed unit and a figure's unit are both known and of different kinds: `ms` and `items/s`.
pub fn is_other_kind(printed: &str, unit: &str) -> bool {
    let (Some(printed), Some(unit)) = (UnitKind::parse(printed), UnitKind::parse(unit)) else {
        return false;
    };
    let is_other_rate =
        printed.is_rate != unit.is_rate && !printed.may_be_rate && !unit.may_be_rate;
    printed.counted != unit.counted || is_other_rate
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ms", "items/s", true)]
    #[case("s", "tokens/s", true)]
    #[case("images/s", "items/s", true)]
    #[case("tokens per second", "samples/s", true)]
    #[case("items/s", "ms", true)]
    #[case("%", "items/s", true)]
    #[case("GB", "GB/s", true)]
    #[case("GB/s", "GiB", true)]
    #[case("TFLOPS", "GB/s", true)]
    #[case("req/s", "tokens/s", true)]
    #[case("tok/s", "tokens/s", false)]
    #[case("tokens/s/GPU", "tokens/s", false)]
    #[case("ms/token", "ms", false)]
    #[case("items", "items/s", false)]
    #[case("TFLOP/s", "TFLOPS", false)]
    #[case("MB/s", "Gbit/s", false)]
    #[case("widgets", "items/s", false)]
    #[case("in", "items/s", false)]
    #[case("top", "items/s", false)]
    #[case("git", "items/s", false)]
    #[case("min", "items/s", false)]
    #[case("ms", "widgets/s", false)]
    #[case("ms", "", false)]
    fn kinds_of_units(#[case] printed: &str, #[case] unit: &str, #[case] expected: bool) {
        assert_eq!(is_other_kind(printed, unit), expected);
    }
}
