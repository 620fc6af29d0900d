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
fn numbers_keep_their_printed_precision(#[case] text: &str, #[case] value: f64, #[case] half: f64) {
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
