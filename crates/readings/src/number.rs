//! Numbers as people read them: grouped, with their unit, never in scientific notation.

/// A count, a size or a time as a number to calculate with: exact up to 2^53, which is 9 PB or 104 days of ns.
#[expect(clippy::cast_precision_loss, reason = "of more, only the first digits matter")]
pub fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Significant digits that are shown: as many as `LoadGen` prints.
const SIGNIFICANT_DIGITS: i32 = 6;

/// `103,480 tokens/s`, `27.3845 s`, `450 ms`: times are shown in the unit that fits them.
pub fn format_figure(value: f64, unit: &str) -> String {
    format_figure_like(value, unit, value)
}

/// Returns a figure in the unit that fits `like`, so that two figures side by side have the same one.
pub fn format_figure_like(value: f64, unit: &str, like: f64) -> String {
    let (factor, unit) = display_scale(unit, like);
    let number = format_grouped(value * factor);
    match unit {
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

/// Returns the factor and the unit in which a figure is shown.
pub fn display_scale(unit: &str, like: f64) -> (f64, &str) {
    let Some(nanoseconds) = nanoseconds_of(unit).filter(|_| unit != "s") else {
        return (1.0, unit);
    };
    let size = like.abs() * nanoseconds;
    if !size.is_finite() || size <= 0.0 {
        return (1.0, unit);
    }
    let (shown, unit) = match size {
        1e9.. => (1e9, "s"),
        1e6.. => (1e6, "ms"),
        1e3.. => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    (nanoseconds / shown, unit)
}

/// The unit of the times in one column: that of the longest.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnUnit {
    longest_ns: f64,
}

impl ColumnUnit {
    /// The unit of these figures, each with its own unit. Figures other than times keep theirs.
    pub fn of<'a>(figures: impl IntoIterator<Item = (f64, &'a str)>) -> Self {
        let times = figures.into_iter().filter_map(|(value, unit)| {
            // A time in seconds is never shown in another unit.
            let least = if unit == "s" { 1e9 } else { 0.0 };
            Some((value.abs() * nanoseconds_of(unit)?).max(least))
        });
        Self { longest_ns: times.filter(|time| time.is_finite()).fold(0.0, f64::max) }
    }

    /// Returns a figure of the column with its unit.
    pub fn format(self, value: f64, unit: &str) -> String {
        match nanoseconds_of(unit) {
            Some(factor) if self.longest_ns > 0.0 => {
                format_figure_like(value * factor, "ns", self.longest_ns)
            }
            _ => format_figure(value, unit),
        }
    }
}

fn nanoseconds_of(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

/// Formats a number with grouped digits, and decimals up to six digits in all: `1,042,110`, `23,514.8`, `0.332412`.
pub fn format_grouped(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "NaN" } else { "infinite" }.to_owned();
    }
    let size = value.abs();
    if size > 0.0 && !(1e-9..1e18).contains(&size) {
        // Thirty digits are harder to read than an exponent.
        return format!("{value:.5e}");
    }
    let decimals = if size > 0.0 {
        // The digits before the point; LoadGen's largest figures have more than six of them.
        #[expect(clippy::cast_possible_truncation, reason = "between -9 and 18")]
        let before = size.log10().floor() as i32 + 1;
        (SIGNIFICANT_DIGITS - before).max(0)
    } else {
        0
    };
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    format!("{sign}{}{rest}", group_digits(digits))
}

/// Separates a number's digits into groups of three: `1,042,110`.
pub fn group_digits(digits: &str) -> String {
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a ratio with three decimals, from 1,000 on with none: `0.950`, `1,042`.
pub fn format_ratio(value: f64) -> String {
    if value < 1000.0 { format!("{value:.3}") } else { format_grouped(value.round()) }
}

/// Returns a fraction as `5 %` or `3.1 %`.
pub fn format_percent(fraction: f64) -> String {
    format!("{} %", format_percent_number(fraction))
}

/// Returns a fraction that may be far under a tenth of a percent: `0.012 %`.
pub fn format_fine_percent(fraction: f64) -> String {
    if fraction < 0.000_5 {
        format!("{} %", format_grouped((fraction * 1e6).round() / 1e4))
    } else {
        format_percent(fraction)
    }
}

/// Returns a fraction in percent, without the sign: `5` or `3.1`.
pub fn format_percent_number(fraction: f64) -> String {
    let one_decimal = format!("{:.1}", fraction * 100.0);
    let text = one_decimal.strip_suffix(".0").unwrap_or(&one_decimal);
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Reads `5%` or `5 %`, from 0 to under 100 %, as a fraction.
pub fn parse_percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
    (0.0..100.0).contains(&number).then_some(number / 100.0)
}

/// Returns a fraction as a percentage with enough digits to distinguish it from another one.
pub fn format_distinct_percent(fraction: f64, other: f64) -> String {
    let other_percent = other * 100.0;
    (1..=6)
        .map(|digits| {
            (format!("{:.digits$}", fraction * 100.0), format!("{other_percent:.digits$}"))
        })
        .find(|(shown, other)| shown != other)
        .map_or_else(|| format_percent(fraction), |(shown, _)| format!("{shown} %"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(103_480.0, "tokens/s", "103,480 tokens/s")]
    #[case(1_042_110.0, "tokens/s", "1,042,110 tokens/s")]
    #[case(1.046_15e6, "tokens/s", "1,046,150 tokens/s")]
    #[case(23_514.8, "tokens/s", "23,514.8 tokens/s")]
    #[case(80.2353, "samples/s", "80.2353 samples/s")]
    #[case(0.332_412, "ms", "332.412 µs")]
    #[case(27_384_519_297.0, "ns", "27.3845 s")]
    #[case(450_000_000.0, "ns", "450 ms")]
    #[case(12_345.0, "ns", "12.345 µs")]
    #[case(999.0, "ns", "999 ns")]
    #[case(27.384_519_297, "s", "27.3845 s")]
    #[case(76.034, "%", "76.034 %")]
    #[case(0.0, "ns", "0 ns")]
    #[case(-1234.5, "", "-1,234.5")]
    #[case(0.000_012_5, "", "0.0000125")]
    #[case(999_999.7, "", "1,000,000")]
    #[case(f64::NAN, "ns", "NaN ns")]
    #[case(f64::INFINITY, "", "infinite")]
    fn figures_are_formatted_for_people(
        #[case] value: f64,
        #[case] unit: &str,
        #[case] shown: &str,
    ) {
        assert_eq!(format_figure(value, unit), shown);
    }

    #[test]
    fn compared_figures_share_a_unit() {
        assert_eq!(format_figure_like(998e6, "ns", 1.002e9), "0.998 s");
    }

    #[rstest]
    #[case(&[(1.666e9, "ns"), (833e6, "ns"), (100.0, "tokens/s")], &["1.666 s", "0.833 s", "100 tokens/s"])]
    #[case(&[(833.0, "ms"), (1.5, "us")], &["833 ms", "0.0015 ms"])]
    #[case(&[(0.25, "s"), (833.0, "ms")], &["0.25 s", "0.833 s"])]
    #[case(&[(0.0, "ns")], &["0 ns"])]
    #[case(&[(f64::NAN, "ns"), (1e6, "ns")], &["NaN ms", "1 ms"])]
    fn times_of_a_column_share_a_unit(#[case] figures: &[(f64, &str)], #[case] shown: &[&str]) {
        let column = ColumnUnit::of(figures.iter().copied());
        let texts: Vec<String> =
            figures.iter().map(|(value, unit)| column.format(*value, unit)).collect();
        assert_eq!(texts, shown);
    }

    #[rstest]
    #[case(0.05, "5 %")]
    #[case(0.031, "3.1 %")]
    #[case(-0.0001, "0 %")]
    fn percentages_have_at_most_one_decimal(#[case] fraction: f64, #[case] shown: &str) {
        assert_eq!(format_percent(fraction), shown);
    }

    #[rstest]
    #[case(0.0503, 0.05, "5.03 %")]
    #[case(0.0312, 0.05, "3.1 %")]
    #[case(0.05, 0.05, "5 %")]
    fn close_percentages_are_printed_distinctly(
        #[case] one: f64,
        #[case] other: f64,
        #[case] shown: &str,
    ) {
        assert_eq!(format_distinct_percent(one, other), shown);
    }

    proptest! {
        #[test]
        fn six_digits_are_preserved(value in 1e-3_f64..1e12) {
            let shown: f64 = format_grouped(value).replace(',', "").parse().unwrap();
            prop_assert!((shown - value).abs() <= value * 5.1e-6, "{value} is shown as {shown}");
        }

        #[test]
        fn any_number_is_shown(value in proptest::num::f64::ANY) {
            prop_assert!(!format_figure(value, "ns").is_empty());
        }
    }
}
