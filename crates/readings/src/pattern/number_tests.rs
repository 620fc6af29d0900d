//! Numbers in lines: each is read as itself or refused, never as another value.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::lexer::NotPlain;

fn read(written: &str, unit: &'static str, line: &str) -> Result<f64, PatternError> {
    let pattern = Pattern::new(written, MatchSelection::First, unit)?;
    let mut reader = pattern.reader();
    reader.feed_line(line);
    Ok(tests::values(reader)?[0])
}

#[rstest]
#[case::group("rate: ([0-9.]+)", "rate: 9,871.25 it/s", "9,871.25", 9871.25)]
#[case::before(r"(\d+) items", "all 31,450 items", "31,450", 31_450.0)]
#[case::greedy(r"rate.*([0-9.]+) items", "rate 731 items", "731", 731.0)]
#[case::rest(r"rate: ([0-9.]+).*", "rate: 8.5e+03 it/s", "8.5e+03", 8500.0)]
#[case::optional_comma(r"rate: (\d+),?", "rate: 6,400", "6,400", 6400.0)]
#[case::suffix("rate: ([0-9.]+)", "rate: 7.5K items/s", "7.5K", 7500.0)]
#[case::sign(r"gain:\s*\D*([0-9.]+)", "gain: -2.5 points", "-2.5", -2.5)]
#[case::swiss("rate: ([0-9.]+)", "rate: 9'871.25", "9'871.25", 9871.25)]
fn a_part_of_a_number_is_refused_with_a_pattern_that_works(
    #[case] written: &str,
    #[case] line: &str,
    #[case] number: &str,
    #[case] value: f64,
) {
    let error = read(written, "items/s", line).unwrap_err();
    let PatternError::NotPlain { reason, remedy, .. } = &error else {
        panic!("{error}");
    };
    assert!(reason.text().is_some_and(|text| text.contains(number)), "{error}");
    if let Some(remedy) = remedy {
        assert!(error.to_string().contains(remedy), "{error}");
        assert_eq!(read(remedy, "items/s", line), Ok(value));
    }
}

#[test]
fn a_number_that_was_cut_off_has_no_remedy() {
    let error = read("rate │ ([0-9.]+)", "items/s", "│ rate │ 87… │").unwrap_err();
    assert!(matches!(&error, PatternError::NotPlain { remedy: None, .. }), "{error}");
    assert!(error.to_string().contains("print the number alone"));
}

#[rstest]
#[case::cell(r"^row,(\d+),\d+,", "row,640,128,7", 640.0)]
#[case::last_cell(r",(\d+)$", "row,640,128", 128.0)]
#[case::suffix(r"rate ([0-9.]+)M items", "rate 1.5M items", 1.5)]
#[case::sign(r"loss -([0-9.]+)", "loss -2.5", 2.5)]
#[case::exponent(r"rate ([0-9.]+)e3", "rate 1.5e3", 1.5)]
#[case::spaced(r"rate ([0-9.]+) k items", "rate 1.5 k items", 1.5)]
#[case::clock(r"took (\d+):\d+", "took 12:30", 12.0)]
fn a_pattern_may_spell_out_what_is_next_to_its_number(
    #[case] written: &str,
    #[case] line: &str,
    #[case] expected: f64,
) {
    assert_eq!(read(written, "items/s", line), Ok(expected));
}

#[rstest]
#[case("rate: ${number}", "rate: 1.5k items/s", "items/s", 1500.0)]
#[case("rate: ${number} items", "rate: 1.5 M items/s", "items/s", 1_500_000.0)]
#[case("rate: ${number}", "rate: -1\u{202f}234,", "items/s", -1234.0)]
#[case("peak: ${number}", "peak: 17.5G", "GiB", 17.5)]
#[case("rate: ${number}k items", "rate: 1.5k items", "items/s", 1.5)]
#[case("(?i)rate: ${number}", "Rate: 1.5ms", "ms", 1.5)]
#[case("(?x) rate: \\s ${number}", "rate: 1.5×10^3", "", 1500.0)]
#[case("rate: ${number} ?(?<unit>\\S+)", "rate: 1.5 ktok/s", "tokens/s", 1500.0)]
#[case("rate: ${number} ?(?<unit>\\S+)", "rate: 1.5k tok/s", "tokens/s", 1500.0)]
#[case("^${number} GPUs: (?<value>${number})", "8 GPUs: 1,500 items", "items", 1500.0)]
#[case("rate: ${number}", "rate: 12.5, 13", "items/s", 12.5)]
#[case("rate: ${number}", "It had rate: 12.5.", "items/s", 12.5)]
#[case("rate: ${number}", "rate: .5", "items/s", 0.5)]
#[case("rate: ([0-9.,]+)", "rate: 7,412.6, loss: 2.5", "items/s", 7412.6)]
#[case("rate: ([0-9.]+)", "rate: 741.2.", "items/s", 741.2)]
#[case("rate: ([0-9.]+) +[0-9.]+ ms", "rate: 12 345.6 ms", "items/s", 12.0)]
fn the_number_reader_reads_numbers_however_they_are_printed(
    #[case] written: &str,
    #[case] line: &str,
    #[case] unit: &'static str,
    #[case] expected: f64,
) {
    assert_eq!(read(written, unit, line), Ok(expected));
}

#[rstest]
#[case("rate: ${number}", "rate: 1,5 it/s")]
#[case("${number} ms", "10-20 ms")]
#[case("rate: ${number}", "rate: 1.2.3")]
#[case("rate: ${number}", "rate: 12… it/s")]
#[case("rate: ${number}", "rate: 1.2B tokens")]
#[case("rate: ${number}", "rate: 0x1f")]
fn the_number_reader_refuses_what_is_no_number(#[case] written: &str, #[case] line: &str) {
    assert!(read(written, "tokens/s", line).is_err());
}

#[rstest]
#[case("speed: ${number}", "speed: 100 ms", "ms")]
#[case("speed: ${number}", "speed: 100ms", "ms")]
#[case("speed: ${number}", "speed: 100 (ms)", "ms")]
#[case("speed: ${number}", "speed: 100 images per second", "images/second")]
#[case("speed: ${number}", "speed: 100 images / s", "images/s")]
#[case("speed: ${number}", "speed: 100 items/s (per GPU)", "items/s/GPU")]
#[case("speed: ${number}", "speed: 100 items/s-GPU", "items/s/GPU")]
#[case("speed: ${number}", "speed: 100 items", "items")]
#[case("speed: ${number}", "speed: 100 kitems/s", "kitems/s")]
#[case("speed.*: ${number}", "speed (images/s): 100", "images/s")]
#[case("speed_ms=${number}", "speed_ms=100", "ms")]
#[case("speed: ${number} ms", "speed: 100 ms", "ms")]
#[case("speed: ([0-9.]+)", "speed: 100 %", "%")]
#[case("speed: ${number}", "speed: 100 ms 5 times", "ms")]
fn a_unit_of_another_kind_is_refused(
    #[case] written: &str,
    #[case] line: &str,
    #[case] expected: &str,
) {
    let error = read(written, "items/s", line).unwrap_err();
    let PatternError::NotPlain { reason, .. } = &error else {
        panic!("{error}");
    };
    let NotPlain::Unit { printed, .. } = &**reason else {
        panic!("{error}");
    };
    assert_eq!(printed, expected);
}

#[rstest]
#[case("speed: ${number}", "speed: 100 tokens: 500")]
#[case("speed ${number}", "speed 100 ms 12")]
#[case("speed: ${number}", "speed: 100 in 3 s")]
#[case("speed: ${number}", "speed: 100 items per second")]
#[case("speed: ${number}", "speed: 100, 12 ms")]
fn other_words_behind_a_number_are_no_units(#[case] written: &str, #[case] line: &str) {
    assert_eq!(read(written, "items/s", line), Ok(100.0));
}

#[rstest]
#[case("speed: ${number} items/s", "images/s", Some("items/s"))]
#[case(r"speed: ${number}\s+ms", "s", Some("ms"))]
#[case("speed: ${number} images?", "items/s", None)]
#[case("speed: ${number} items", "items/s", None)]
#[case("speed: ${number} items in all", "tokens/s", Some("items"))]
#[case("speed in ms: ${number}", "s", Some("ms"))]
#[case("speed: ${number} (?<unit>ms)", "s", None)]
fn a_pattern_may_contradict_its_unit(
    #[case] written: &str,
    #[case] unit: &'static str,
    #[case] expected: Option<&str>,
) {
    let pattern = Pattern::new(written, MatchSelection::Last, unit).unwrap();
    assert_eq!(pattern.find_contradicting_unit().as_deref(), expected);
}

#[test]
fn a_unit_is_read_whole_too() {
    assert_eq!(read("took ([0-9.]+)(?<unit>s|m|h)", "s", "took 45ms"), Ok(0.045));
    assert!(read("took ([0-9]+)(?<unit>[hms])", "s", "took 1m30s").is_err());
}

/// Returns a value and one way to print it.
fn printed() -> impl Strategy<Value = (f64, String)> {
    let separator = prop::sample::select(vec![",", "_", "'", "’", "\u{a0}", "\u{202f}"]);
    let forms = (any::<bool>(), 0_u64..10_000_000, 0_usize..4, 0_u8..6, separator);
    forms.prop_map(|(is_negative, count, decimals, form, separator)| {
        let scale = [1.0, 10.0, 100.0, 1000.0][decimals];
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        let size = count as f64 / scale;
        let sign = if is_negative { "-" } else { "" };
        let plain = format!("{size:.decimals$}");
        let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
        let (factor, text) = match form {
            0 | 1 => (1.0, plain.clone()),
            2 | 3 => {
                let grouped = crate::number::group_digits(whole).replace(',', separator);
                (1.0, format!("{grouped}{fraction}"))
            }
            4 => (1.0, format!("{size:e}").replace('e', "e+")),
            _ => (1000.0, format!("{plain}k")),
        };
        let text = text.replace("e+-", "e-");
        let value = if is_negative { -size } else { size };
        (value * factor, format!("{sign}{text}"))
    })
}

fn is_same(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_number_in_any_text_is_read_as_itself_or_refused(
        (value, number) in printed(),
        before in "(\\PC{0,8}[ :=(\\[|│\t])?",
        behind in "([ \\])|│;%]\\PC{0,8}|, \\PC{0,6}|[a-z/…]{1,3}.{0,3})?",
        written in prop::sample::select(vec![
            r"([0-9.]+)", r"([0-9.,]+)", r"(\d+)", r"(\d+\.\d+)", r".*([0-9.]+)", r".*?([\d.,]+)",
            r"([0-9.]+)\D*$", r"(\d+).*", r"\D*(\d+)", r"([0-9.]{1,4})", r"(\d+),?", r"(\d+)[kM]?",
        ]),
    ) {
        prop_assume!(!before.contains(char::is_numeric) && !behind.contains(char::is_numeric));
        // `1ka` may as well be one of the unit `ka`.
        prop_assume!(!(number.ends_with('k') && behind.starts_with(char::is_alphanumeric)));
        let line = format!("{before}{number}{behind}");
        if let Ok(actual) = read(written, "items/s", &line) {
            prop_assert!(is_same(actual, value), "{line:?}: {actual}, not {value}");
        }
    }

    #[test]
    fn the_number_reader_reads_every_form(
        (value, number) in printed(),
        before in prop::sample::select(vec!["", "rate: ", "rate=", "│ ", "(", "[", "x:\t", "rate:"]),
        behind in prop::sample::select(vec![
            "", " items/s", ", next", ".", " │", ")", "]", ";", " runs", " of 9", "|",
        ]),
    ) {
        let line = format!("{before}{number}{behind}");
        let actual = read("${number}", "items/s", &line);
        prop_assert!(actual.as_ref().is_ok_and(|actual| is_same(*actual, value)), "{line:?}: {actual:?}");
    }

    #[test]
    fn any_line_is_read_or_refused(
        line in "[-+0-9.,'_eExkM%:/×^… \u{a0}]{0,16}",
        written in prop::sample::select(vec!["${number}", r"([0-9.]+)", r"([-0-9.,e]+)", r".*(\d)", r"(\S+)"]),
    ) {
        if let Ok(actual) = read(written, "items/s", &line) {
            prop_assert!(actual.is_finite());
        }
    }

    /// Lines of the grammar: a name, what parts it from its number, the number, its unit, and what surrounds both. What
    /// is read is the number that was written in its place, or nothing.
    #[test]
    fn what_is_read_of_a_line_is_its_number_or_nothing(
        (value, number) in printed(),
        (name, other) in prop::sample::select(vec![
            ("rate", "limit"), ("Mean rate (items/s)", "P99"), ("rate [ms]", "total"), ("peak rate_ms", "ttft"),
        ]),
        separator in prop::sample::select(vec![": ", "=", " = ", " | ", " ", ": n/a ", ": —, ", " nan ", ": <", " ± ", ": 8 x "]),
        decoy in prop::sample::select(vec!["", " (limit 77)", ", target: 77", " - 77", " / 77", " to 77", "x77", "/77", "-77", " ± 77", "%", "e", "rank 77", "\0", " 077", ".#INF", " min 59 s"]),
        unit in prop::sample::select(vec!["", " items/s", " ms", " items/s (per GPU)", "k items/s", " items", " s/item", " items/s × 8"]),
        place in 0_u8..3,
        written in prop::sample::select(vec![
            "rate.*?${number}", r"rate\D*${number}", "rate[^:=]*[:=] *${number}", r"rate.*?(\d[\d.,]*)",
            "rate: ${number}", "rate=${number}", "rate ${number}", "${number} items/s", r"(\S+) items/s",
            r"rate.*?${number} ?(?<unit>\S+)",
        ]),
    ) {
        let line = match place {
            0 => format!("{name}{separator}{number}{unit}{decoy}"),
            1 => format!("{name}{separator}{number}{decoy}{unit}"),
            _ => format!("{name}{separator}n/a, {other}: {number}{unit}{decoy}"),
        };
        let Ok(actual) = read(written, "items/s", &line) else {
            return Ok(());
        };
        let is_suffix = unit.starts_with('k') && (place != 1 || decoy.is_empty());
        let allowed = if is_suffix { vec![value * 1000.0] } else { vec![value] };
        // Behind another name it is another figure, unless only the unit names it.
        let is_named_by_unit = written.ends_with(" items/s");
        prop_assume!(!(is_named_by_unit && place == 1 && decoy.contains("77")));
        prop_assert!(place < 2 || is_named_by_unit, "{line:?} with {written}: {actual}");
        prop_assert!(allowed.iter().any(|value| is_same(actual, *value)), "{line:?} with {written}: {actual}");
        prop_assert!(place > 1 || !separator.contains(['<', '±', 'x']), "{line:?} with {written}: {actual}");
        let has_none = separator.contains(['—', 'n']);
        prop_assert!(is_named_by_unit || !has_none, "{line:?} with {written}: {actual}");
    }
}
