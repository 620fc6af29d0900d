use proptest::prelude::*;
use rstest::rstest;

use super::*;

const LOG: &[&str] = &[
    "starting",
    "step 1: 14,164 tokens/s",
    "step 2: 1.5e4 tokens/s",
    "step 3: 13000.5 tokens/s",
    "done in 12 s",
];

fn take(pattern: &str, take: MatchSelection, lines: &[&str]) -> Result<Vec<f64>, PatternError> {
    let pattern = Pattern::new(pattern, take, "tokens/s")?;
    let mut reader = pattern.reader();
    for line in lines {
        reader.feed_line(line);
    }
    values(reader)
}

/// Returns the values of a figure that is not a table.
pub(super) fn values(reader: PatternReader<'_>) -> Result<Vec<f64>, PatternError> {
    let figure = reader.into_entries()?.remove("").unwrap();
    if let Some(record) = figure.unreadable_announcement() {
        return Err(record.error.clone());
    }
    let values = figure.into_values();
    Ok(values.into_iter().map(|printed| printed.value).collect())
}

#[rstest]
#[case(MatchSelection::First, &[14164.0])]
#[case(MatchSelection::Last, &[13000.5])]
#[case(MatchSelection::All, &[14164.0, 15000.0, 13000.5])]
#[case(MatchSelection::Min, &[13000.5])]
#[case(MatchSelection::Max, &[15000.0])]
#[case(MatchSelection::Sum, &[42164.5])]
#[case(MatchSelection::Mean, &[42164.5 / 3.0])]
fn each_take_mode(#[case] way: MatchSelection, #[case] expected: &[f64]) {
    assert_eq!(take(r"([\d.,e+]+) tokens/s", way, LOG).unwrap(), expected);
}

#[rstest]
#[case::named_group(r"(step) \d: (?<value>\S+)", 13000.5)]
#[case::first_group(r"step (\d): (\S+)", 3.0)]
#[case::whole_match(r"\d+\.\d+$|\d+\.\d+\b", 13000.5)]
fn the_number_is_read_from_the_right_group(#[case] pattern: &str, #[case] expected: f64) {
    let lines = &["step 3: 13000.5 tokens/s"];
    assert_eq!(take(pattern, MatchSelection::Last, lines).unwrap(), [expected]);
}

#[rstest]
#[case(MatchSelection::First, &["v=1", "v=x"], Some(1.0))]
#[case(MatchSelection::First, &["v=x", "v=1"], None)]
#[case(MatchSelection::Last, &["v=x", "v=1"], Some(1.0))]
#[case(MatchSelection::Last, &["v=1", "v=x"], None)]
#[case(MatchSelection::Max, &["v=1", "v=x"], None)]
fn only_matches_that_are_taken_must_be_numbers(
    #[case] way: MatchSelection,
    #[case] lines: &[&str],
    #[case] expected: Option<f64>,
) {
    let actual = take(r"v=(\S+)", way, lines).ok();
    assert_eq!(actual, expected.map(|value| vec![value]));
}

#[rstest]
#[case::last(MatchSelection::Last, &["speed: 1", "speed: nan"], None)]
#[case::replaced(MatchSelection::Last, &["speed: nan", "speed: 2", "loss: nan"], Some(2.0))]
#[case::first(MatchSelection::First, &["speed:", "speed: 2"], None)]
#[case::mean(MatchSelection::Mean, &["speed: 1", "speed: ERROR", "speed: 3"], None)]
#[case::max(MatchSelection::Max, &["speed: 1", "speed: n/a"], None)]
fn an_announcement_without_a_number_is_never_replaced_by_another_value(
    #[case] way: MatchSelection,
    #[case] lines: &[&str],
    #[case] expected: Option<f64>,
) {
    let actual = take(r"speed: ([0-9.]+)", way, lines);
    match expected {
        Some(value) => assert_eq!(actual, Ok(vec![value])),
        None => assert!(matches!(actual, Err(PatternError::NoNumber { .. })), "{actual:?}"),
    }
}

#[test]
fn half_a_digit_is_recorded() {
    let pattern = Pattern::new(r"(\S+) TFLOPS", MatchSelection::Last, "TFLOPS").unwrap();
    let mut reader = pattern.reader();
    reader.feed_line("2,123.45 TFLOPS");
    let accumulator = reader.into_entries().unwrap().remove("").unwrap();
    assert!((accumulator.into_single_value().unwrap().half_digit - 0.005).abs() < 1e-12);
}

#[test]
fn pattern_errors_are_reported() {
    let syntax = take("(", MatchSelection::Last, LOG).unwrap_err();
    assert!(syntax.to_string().contains("unclosed group"), "{syntax}");
    let none = take("(absent)", MatchSelection::Last, LOG).unwrap_err();
    assert!(matches!(none, PatternError::NoMatch { .. }));
    let text = take(r"(\w+) in 12", MatchSelection::Last, LOG).unwrap_err();
    assert!(text.to_string().contains("captured `done`"), "{text}");
    let huge = Pattern::new(r"(\w{500}){500}", MatchSelection::Last, "").unwrap_err();
    assert!(matches!(huge, PatternError::Expression { .. }));
}

#[test]
fn the_number_of_matches_is_bounded() {
    let pattern = Pattern::new(r"(\d)", MatchSelection::All, "").unwrap();
    let mut reader = pattern.reader();
    for _ in 0..=MAX_STORED_VALUES {
        reader.feed_line("1");
    }
    assert!(matches!(reader.into_entries(), Err(PatternError::TooMany { .. })));
}

#[test]
fn a_sum_that_overflows_is_not_a_figure() {
    let pattern = Pattern::new(r"(\S+)", MatchSelection::Sum, "").unwrap();
    let error = entries(&pattern, &["1e308", "1e308"]).unwrap_err();
    assert!(error.contains("which is not a figure"), "{error}");
}

/// Returns a table's entries, each as one figure.
fn entries(pattern: &Pattern, lines: &[&str]) -> Result<Vec<(String, f64)>, String> {
    let mut reader = pattern.reader();
    for line in lines {
        reader.feed_line(line);
    }
    let entries = reader.into_entries().map_err(|error| error.to_string())?;
    let figures = entries.into_iter();
    figures
        .map(|(name, accumulator)| {
            let single = accumulator.into_single_value();
            single.map(|printed| (name, printed.value)).map_err(|error| error.to_string())
        })
        .collect()
}

#[test]
fn a_table_has_a_figure_for_each_name() {
    let by = ["dtype".to_owned(), "shape".to_owned()];
    let pattern = Pattern::new(
        r"^(?<dtype>\w+) +(?<shape>[\dx ]+): ([\d.,]+) TFLOP/s",
        MatchSelection::Last,
        "TFLOP/s",
    );
    let pattern = pattern.unwrap().with_entry_groups(&by).unwrap();
    let lines = [
        "bf16 8192 x 8192: 1,010.5 TFLOP/s",
        "fp16 8192x8192: 990 TFLOP/s",
        "bf16  8192  x  8192: 1,011.5 TFLOP/s",
        "total: 3 TFLOP/s",
    ];
    let actual = entries(&pattern, &lines).unwrap();
    let expected = [("bf16 8192 x 8192", 1011.5), ("fp16 8192x8192", 990.0)];
    assert_eq!(actual, expected.map(|(name, value)| (name.to_owned(), value)));
    let unknown = Pattern::new("(a)", MatchSelection::Last, "").unwrap().with_entry_groups(&by);
    assert!(matches!(unknown, Err(PatternError::NoGroup { .. })));
}

#[test]
fn table_entries_are_limited() {
    let pattern = Pattern::new(r"(?<n>\d+)=(\d+)", MatchSelection::Last, "").unwrap();
    let pattern = pattern.with_entry_groups(&["n".to_owned()]).unwrap();
    let mut reader = pattern.reader();
    for number in 0..=MAX_TABLE_ENTRIES {
        reader.feed_line(&format!("{number}=1"));
    }
    // That a later line has room changes nothing.
    reader.feed_line("1=2");
    assert!(matches!(reader.into_entries(), Err(PatternError::TooManyEntries { .. })));
}

#[rstest]
#[case("ms", "latency: 2.06 ms", Some(2.06))]
#[case("s", "latency: 2.06 ms", Some(0.002_06))]
#[case("tokens/s", "latency: 12.3 k", Some(12_300.0))]
#[case("GFLOP/s", "latency: 1,053 TFLOPS", Some(1_053_000.0))]
#[case("GB", "latency: 2.06 ms", None)]
fn a_unit_captured_by_the_pattern_is_converted(
    #[case] unit: &'static str,
    #[case] line: &str,
    #[case] expected: Option<f64>,
) {
    let read = r"latency: (?<value>[\d.,]+) ?(?<unit>\w+)";
    let pattern = Pattern::new(read, MatchSelection::Last, unit).unwrap();
    match (entries(&pattern, &[line]), expected) {
        (Ok(actual), Some(expected)) => {
            assert!((actual[0].1 / expected - 1.0).abs() < 1e-12, "{actual:?}");
        }
        (Err(error), None) => assert!(error.contains("`ms` is not in"), "{error}"),
        (actual, _) => panic!("{actual:?}"),
    }
    // Without such a group a number is not converted, but another multiple of the unit belongs to it, and a unit of
    // another kind contradicts it.
    if unit != "ms" {
        let plain = Pattern::new(r"latency: ([\d.,]+)", MatchSelection::Last, unit).unwrap();
        let error = entries(&plain, &[line]).unwrap_err();
        let reason = if expected.is_some() { "${number}" } else { "`ms` is not in" };
        assert!(error.contains(reason), "{error}");
        return;
    }
    let plain = Pattern::new(r"latency: ([\d.,]+)", MatchSelection::Last, unit).unwrap();
    let printed = line["latency: ".len()..].split(' ').next().unwrap();
    let printed: f64 = printed.replace(',', "").parse().unwrap();
    assert_eq!(entries(&plain, &[line]).unwrap(), [(String::new(), printed)]);
}

proptest! {
    #[test]
    fn a_broken_last_announcement_never_gives_an_older_value(
        lines in prop::collection::vec("speed: [0-9]{1,3}|loss: nan|[a-z ]{0,9}", 0..20),
        broken in "speed: (nan|-inf|N/A|ERROR|\\?)?|speed:",
        after in prop::collection::vec("loss: nan|[a-z ]{0,9}|input speed", 0..5),
        pattern in prop::sample::select(vec![r"speed: (\d+)", r"speed: +([\d.]+)", r"(?i)SPEED *[:=]\s*(?<value>\S+)"]),
    ) {
        let lines = lines.iter().chain([&broken]).chain(&after);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        prop_assert!(take(pattern, MatchSelection::Last, &lines).is_err());
    }

    #[test]
    fn a_table_read_in_two_parts_equals_the_whole(
        lines in prop::collection::vec("[a-c]=[1-9][0-9]{0,2}|[a-c]=x|noise", 0..30),
        cut in 0_usize..30,
        take in prop::sample::select(vec![MatchSelection::First, MatchSelection::Last, MatchSelection::Min, MatchSelection::Max, MatchSelection::Sum]),
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.ends_with('x')).collect();
        let pattern = Pattern::new(r"(?<name>[a-c])=(\d+)", take, "").unwrap();
        let pattern = pattern.with_entry_groups(&["name".to_owned()]).unwrap();
        let (before, after) = lines.split_at(cut.min(lines.len()));
        let mut whole = pattern.reader();
        for part in [before, after] {
            let mut reader = pattern.reader();
            for line in part {
                reader.feed_line(line);
            }
            whole.append(reader);
        }
        let joined = whole.into_entries().map(|entries| {
            entries.into_iter().map(|(name, accumulator)| (name, accumulator.into_single_value().unwrap().value)).collect::<Vec<_>>()
        });
        prop_assert_eq!(joined.map_err(|error| error.to_string()), entries(&pattern, &lines));
    }

    #[test]
    fn min_mean_and_max_are_in_order(values in prop::collection::vec(-1e9_f64..1e9, 1..50)) {
        let lines: Vec<String> = values.iter().map(|value| format!("v={value}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let figure = |way| take(r"v=(\S+)", way, &lines).unwrap()[0];
        let slack = 1e-6;
        prop_assert!(figure(MatchSelection::Min) <= figure(MatchSelection::Mean) + slack);
        prop_assert!(figure(MatchSelection::Mean) <= figure(MatchSelection::Max) + slack);
    }
}

/// The search ends by its own count, and says of which pattern and limit.
#[test]
fn a_pattern_that_takes_too_many_steps_is_named_with_its_limit() {
    let pattern =
        Pattern::new(r"(?:a|b)*a(?:a|b){900}c ${number}", MatchSelection::Last, "").unwrap();
    let mut random = 1_u64;
    let mut reader = pattern.reader();
    for _ in 0..400 {
        let line: String = (0..10_000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if random >> 60 & 1 == 0 { 'a' } else { 'b' }
            })
            .collect();
        reader.feed_line(&line);
        if reader.is_exhausted() {
            break;
        }
    }
    let error = reader.into_entries().unwrap_err();
    assert!(matches!(error, PatternError::TooManySteps { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("takes more than 2000000000 steps"), "{text}");
    assert!(text.contains("a(?:a|b){900}"), "{text}");
}
