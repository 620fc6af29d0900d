use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::place::TextPosition;

fn find(path: &str, take: MatchSelection, text: &str) -> Result<f64, String> {
    let mut reader =
        JsonReader::new(path, &[], None, Some(take)).map_err(|error| error.to_string())?;
    reader.read_file(text.as_bytes());
    let mut entries = reader.into_entries().map_err(|error| error.to_string())?;
    let single = entries.remove("").unwrap().into_single_value();
    single.map(|printed| printed.value).map_err(|error| error.to_string())
}

const SCORES: &str = r#"{"metrics": {"rouge1": 44.5, "rouge2": "22.1", "note": "NaN is \" no score",
    "lost": NaN, "all": [1, 2, 3, -Infinity]}, "time to train": "1,053.25"}"#;

#[rstest]
#[case("$.metrics.rouge1", 44.5)]
#[case("$.metrics.rouge2", 22.1)]
#[case("$['time to train']", 1053.25)]
#[case("$.metrics.all[1]", 2.0)]
#[case("$..rouge1", 44.5)]
fn paths(#[case] path: &str, #[case] expected: f64) {
    let figure = find(path, MatchSelection::Last, SCORES).unwrap();
    assert!((figure - expected).abs() < 1e-12);
    let marked = format!("\u{feff}{SCORES}");
    assert_eq!(find(path, MatchSelection::Last, &marked), Ok(figure));
}

#[rstest]
#[case(
    "$.metrics.rougeL",
    "no value at `$.metrics.rougeL`; the nearest is `$.metrics.rouge1`: 44.5"
)]
#[case("$.metrics.lost", "the value at `$.metrics.lost` is `NaN`: it is no number")]
#[case("$.metrics.all[3]", "is `-Infinity`: it is no number")]
#[case("$.metrics", ": it is no number")]
#[case("$.[", "is not a JSONPath")]
fn missing_values_are_reported(#[case] path: &str, #[case] expected: &str) {
    let error = find(path, MatchSelection::Last, SCORES).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[rstest]
#[case(MatchSelection::First, 1.0)]
#[case(MatchSelection::Last, 3.0)]
#[case(MatchSelection::Max, 3.0)]
#[case(MatchSelection::Sum, 6.0)]
#[case(MatchSelection::Mean, 2.0)]
fn json_lines(#[case] take: MatchSelection, #[case] expected: f64) {
    let lines = "{\"v\": 1}\n{\"v\": 2, \"w\": 9}\n{\"v\": 3}\n";
    assert_eq!(find("$.v", take, lines), Ok(expected));
    let mut reader = JsonReader::new("$.v", &[], None, Some(take)).unwrap();
    for line in format!("starting\n{{ no json\n{lines}[cut").lines() {
        reader.feed_line(line);
    }
    let printed = reader.into_entries().unwrap().remove("").unwrap().into_single_value().unwrap();
    assert!((printed.value - expected).abs() < 1e-12);
}

/// Reads a log, line by line.
fn find_in_log(
    path: &str,
    take: MatchSelection,
    log: &str,
) -> Result<(f64, RecordLocation), String> {
    let mut reader = JsonReader::new(path, &[], None, Some(take)).unwrap();
    log.lines().for_each(|line| reader.feed_line(line));
    reader.finish_log();
    let mut entries = reader.into_entries().map_err(|error| error.to_string())?;
    let figure = entries.remove("").unwrap();
    let place = figure.deciding_place();
    let single = figure.into_single_value();
    single.map(|printed| (printed.value, place)).map_err(|error| error.to_string())
}

#[rstest]
#[case::not_a_number("{\"v\": 1}\n{\"v\": -nan}", "the value at `$.v` is `-nan`")]
#[case::null("{\"v\": 1}\n[rank0]: {\"v\": null}", "the value at `$.v` is `null`")]
#[case::cut(
    "{\"n\": 1, \"v\": 1}\n{\"n\": 2, \"v",
    "`{\"n\": 2, \"v` announces `$.v`, but was cut"
)]
#[case::error("{\"n\": 1, \"v\": 1}\n{\"n\": 2, \"error\": \"died\"}", "has no value at `$.v`")]
#[case::lacking("{\"n\": 1, \"v\": 1}\n{\"n\": 2}", "`{\"n\":2}` has no value at `$.v`")]
#[case::only_cut("{\"n\": 2, \"v\": 1, ", "announces `$.v`, but was cut")]
#[case::cut_elsewhere("{\"n\": 2, ", "no readable JSON: `{\"n\": 2,")]
fn a_record_that_announces_the_figure_is_not_replaced_by_another(
    #[case] log: &str,
    #[case] expected: &str,
) {
    let error = find_in_log("$.v", MatchSelection::Last, log).unwrap_err();
    assert!(error.contains(expected), "{error}");
    if log.starts_with("{\"v\": 1}") || log.contains("error") {
        assert!(find("$.v", MatchSelection::Last, log.trim_start_matches("[rank0]: ")).is_err());
    }
}

#[rstest]
#[case::earlier("{\"n\": 1, \"v\": nan}\n{\"n\": 2}\n{\"n\": 3, \"v\": 5}\nbye")]
#[case::other_kinds(
    "{\"config\": 1}\nstart\n{\"n\": 3, \"v\": 5}\n{\"seconds\": 4}\n{\"config\": cut"
)]
#[case::logger("\n\n{\"level\": \"info\", \"v\": 5}\n{\"level\": \"warn\"}")]
#[case::pretty("{}\na\n{\n \"v\":\n 5\n}\n")]
fn other_records_and_earlier_faults_are_passed_over(#[case] log: &str) {
    let (value, place) = find_in_log("$.v", MatchSelection::Last, log).unwrap();
    assert_eq!((value, place.position), (5.0, TextPosition::Line(3)));
}

#[rstest]
#[case(MatchSelection::First)]
#[case(MatchSelection::Mean)]
fn an_announcement_before_the_figure_counts_too(#[case] take: MatchSelection) {
    let log = "{\"n\": 1, \"error\": \"died\"}\n{\"n\": 2, \"v\": 5}\n";
    assert!(find_in_log("$.v", take, log).is_err());
    assert!(find_in_log("$.v", MatchSelection::Last, log).is_ok());
}

#[rstest]
#[case::error("$.m.v", "{\"n\": 1, \"m\": {\"v\": 1}}\n{\"n\": 2, \"error\": \"died\"}")]
#[case::null("$.m.v", "{\"n\": 1, \"m\": {\"v\": 1}}\n{\"n\": 2, \"m\": null}")]
#[case::empty("$.m.v", "{\"n\": 1, \"m\": {\"v\": 1}}\n{\"n\": 2, \"m\": {}}")]
#[case::text("$.m.v", "{\"n\": 1, \"m\": {\"v\": 1}}\n{\"n\": 2, \"m\": \"failed\"}")]
#[case::status("$.v", "{\"n\": 1, \"v\": 1}\n{\"n\": 2, \"status\": \"failed\"}")]
#[case::same_type("$.v", "{\"type\": \"sum\", \"v\": 1}\n{\"type\": \"sum\", \"failed\": 9}")]
#[case::null_in_a_list("$[*].v", "[{\"n\": 1, \"v\": 1}, null]")]
#[case::nested_null(
    "$.r[*].m.v",
    "{\"r\": [{\"n\": 1, \"m\": {\"v\": 1}}, {\"n\": 2, \"m\": null}]}"
)]
#[case::anywhere("$..v", "{\"r\": [{\"n\": 1, \"v\": 1}, {\"n\": 2, \"error\": \"died\"}]}")]
fn a_failed_record_is_not_replaced_by_another(#[case] path: &str, #[case] log: &str) {
    assert!(find_in_log(path, MatchSelection::Last, log).is_err());
    assert!(find(path, MatchSelection::Last, log).is_err());
    assert_eq!(find(path, MatchSelection::First, log), Ok(1.0));
}

#[rstest]
#[case::part("{\"n\": 1, \"loss\": 2, \"v\": 5}\nsaved checkpoint {\"n\": 2}")]
#[case::progress("{\"users\": 1, \"n\": 1, \"v\": 5}\n{\"n\": 2}")]
#[case::behind_other_text("{\"model\": \"x\", \"v\": 5}\nPOST /v1 {\"model\": \"x\"}")]
fn a_record_with_less_than_one_of_the_figure_is_another(#[case] log: &str) {
    assert_eq!(find_in_log("$.v", MatchSelection::Last, log).map(|(value, _)| value), Ok(5.0));
}

#[test]
fn a_cut_record_of_a_table_is_one_of_its_entry() {
    let by = ["dtype".to_owned()];
    let log =
        "{\"dtype\": \"fp8\", \"v\": 7}\n{\"dtype\": \"bf16\", \"v\": 5}\n{\"dtype\": \"bf16\", \"";
    let mut reader = JsonReader::new("$", &by, Some("v"), Some(MatchSelection::Last)).unwrap();
    log.lines().for_each(|line| reader.feed_line(line));
    reader.finish_log();
    let entries = reader.into_entries().unwrap();
    assert!(entries["bf16"].unreadable_announcement().is_some());
    assert!(entries["fp8"].unreadable_announcement().is_none());
}

#[test]
fn the_last_record_of_a_list_counts() {
    let list = r#"{"runs": [{"n": 1, "v": 2}, {"n": 2, "error": "died"}]}"#;
    assert!(find("$.runs[*].v", MatchSelection::Last, list).is_err());
    assert_eq!(find("$.runs[*].v", MatchSelection::First, list), Ok(2.0));
    assert_eq!(find("$.runs[0].v", MatchSelection::Last, list), Ok(2.0));
}

#[test]
fn a_file_that_begins_with_text_is_a_log() {
    assert_eq!(find("$.v", MatchSelection::Last, "start\n0: {\"v\": 5}\nend\n"), Ok(5.0));
}

#[test]
fn color_escapes_are_ignored() {
    let colored = "\x1b[1m{\"v\"\x1b[0m: \"\\u001b[32m2.5\\u001b[0m\"}";
    assert_eq!(find("$.v", MatchSelection::Last, colored), Ok(2.5));
}

#[test]
fn members_name_the_entries_of_a_table() {
    let text = r#"{"results": [{"dtype": "bf16", "n": 8192, "tflops": 1010.5},
        {"dtype": "fp16", "n": 8192, "tflops": 990}]}"#;
    let by = ["dtype".to_owned(), "n".to_owned()];
    let mut reader =
        JsonReader::new("$.results[*]", &by, Some("tflops"), Some(MatchSelection::Last)).unwrap();
    reader.read_file(text.as_bytes());
    let entries = reader.into_entries().unwrap();
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    assert_eq!(names, ["bf16 8192", "fp16 8192"]);
    let mut reader =
        JsonReader::new("$.results[*]", &by, Some("tflop"), Some(MatchSelection::Last)).unwrap();
    reader.read_file(text.as_bytes());
    let mut entries = reader.into_entries().unwrap();
    let error = entries.remove("bf16 8192").unwrap().into_single_value().unwrap_err().to_string();
    assert!(error.contains("has no `tflop`; it has dtype, n, tflops"), "{error}");
}

#[test]
fn hostile_documents_are_refused() {
    let deep = "[".repeat(100_000);
    assert!(find("$..v", MatchSelection::Last, &deep).unwrap_err().contains("not JSON"));
    assert!(find("$.v", MatchSelection::Last, "{\"v\": 1e999}").is_err());
    assert!(find("$.v", MatchSelection::Last, "").unwrap_err().contains("contains no JSON"));
    assert!(find("$.v", MatchSelection::Last, "{\"v\": 1} }").is_err());
}

#[test]
fn a_member_with_two_values_is_not_read() {
    let two = r#"{"v": 1, "a": {}, "v": 2}"#;
    let error = find("$.v", MatchSelection::Last, two).unwrap_err();
    assert!(error.contains("the member `v` has two values"), "{error}");
    assert!(find_in_log("$.v", MatchSelection::Last, &format!("{{\"v\": 1}}\nx {two}")).is_err());
    assert_eq!(find("$.v", MatchSelection::Last, r#"{"v": 1, "v": 1}"#), Ok(1.0));
}

proptest! {
    #[test]
    fn a_cut_last_record_never_gives_an_older_value(
        values in prop::collection::vec(0_u16..999, 2..5),
        cut in 3_usize..40,
        prefix in prop::sample::select(vec!["", "[rank0]: ", "INFO 2026 "]),
        between in prop::sample::select(vec!["", "{loading}\n", "100 %\n"]),
    ) {
        let records = values.iter().map(|value| format!("{prefix}{{\"users\": 8, \"v\": {value}}}\n{between}"));
        let mut log: String = records.collect();
        let last = format!("{{\"users\": 8, \"v\": {}}}", values[0]);
        let cut = cut.min(last.len() - 1);
        log.push_str(prefix);
        log.push_str(&last[..cut]);
        prop_assert!(find_in_log("$.v", MatchSelection::Last, &log).is_err(), "{log}");
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut reader = JsonReader::new("$..v", &[], None, Some(MatchSelection::All)).unwrap();
        reader.read_file(&bytes);
        let _ = reader.into_entries();
    }
}
